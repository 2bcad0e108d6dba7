"""A table in a Markdown page, in place of what stands between its two marks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from warpsift.errors import WarpsiftError


def as_list(sentences: Sequence[str]) -> str:
    """Sentences as a list, one below the other."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


class PageError(WarpsiftError):
    """A page without the marks."""


def put_between_marks(path: Path, mark: str, text: str) -> None:
    """Write `text` between <!-- mark --> and <!-- /mark -->; the page is whole at any time."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    page = path.read_text(encoding="utf-8") if path.is_file() else ""
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise PageError(f"--page {path}: write the lines {begin} and {end} where the table is to go")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    aside = path.with_name(f".{path.name}.part")
    aside.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
    os.replace(aside, path)
