"""Pages are short and their sentences too: a reader who was not there understands each at the first reading."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support.pages import PAGES

MOST_WORDS = 45
MOST_LINES = 210


def paragraphs(text: str) -> Iterator[str]:
    """Prose and points of lists, each in one line; without code, tables and headings."""
    text = re.sub(r"<!--.*?-->|^```.*?^```", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        lines = [line.strip() for line in part.splitlines() if not re.match(r"\s*[|#]", line)]
        yield re.sub(r"^(?:[-*]|\d+\.)\s+", "", " ".join(lines).strip())


def sentences(text: str) -> Iterator[str]:
    """Parts between full stops; colons and semicolons end a thought too."""
    for paragraph in paragraphs(text):
        yield from re.split(r"(?<=[.!?:;])[*\"]*\s+(?=[^a-z\d])|(?<=[:;])\s+", paragraph)


def test_sentences_are_found():
    text = (
        "# Title\nOne two. Three `four.py` five: six\nseven; eight\n\n- nine\n- ten\n\n| a | b |\n```\ncode\n```\nend"
    )
    assert [s for s in sentences(text) if s] == [
        "One two.", "Three `four.py` five:", "six seven;", "eight", "nine", "ten", "end",
    ]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_are_short(page):
    text = page.read_text(encoding="utf-8")
    assert [s for s in sentences(text) if len(s.split()) > MOST_WORDS] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
