"""What the pages name is there: files, modules, commands and their options, machines' keys."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator

import pytest
import typer

from support.pages import PAGES
from support.places import ROOT
from warpsift.algorithms import ALGORITHMS
from warpsift.cli import application

SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")  # also over two lines
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
ANYTHING = re.compile(r"[A-Z]{2,}|\.\.\.")  # a place for something: GRAPH, FILE, NAME, ...


def code(page) -> Iterator[str]:
    """Spans of code, and the lines of blocks."""
    text = page.read_text(encoding="utf-8")
    for span in SPAN.findall(BLOCK.sub("", text)):
        yield " ".join(span.split())
    for block in BLOCK.findall(text):
        yield from (line.removeprefix("$ ") for line in block.splitlines())


def everywhere() -> set[str]:
    folders = [ROOT / name for name in ("src/warpsift", "tests", "examples", "benchmarks", "docs")]
    return {str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files(page):
    files = everywhere()
    named = {text for text in code(page) if re.fullmatch(r"[\w/-]+\.py", text) and not ANYTHING.search(text)}
    assert [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules(page):
    named = {m for text in code(page) for m in re.findall(r"python -m ((?:warpsift|benchmarks)[\w.]*(?: \w+)?)", text)}
    for name in named:
        module, _, word = name.partition(" ")
        wanted = f"benchmarks.bench_{word}" if module == "benchmarks" and word else module
        assert importlib.util.find_spec(wanted), f"python -m {name}"


def commands(page) -> Iterator[list[str]]:
    for text in code(page):
        for part in re.split(r" && |; ", text):
            part = part.removeprefix("WARPSIFT_DATA_DIR=~/graphs ").removeprefix(".venv/bin/")
            if part.startswith("warpsift "):
                yield shlex.split(part.split(" # ")[0].replace("'", ""), comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options(page):
    root = typer.main.get_command(application())
    for words in commands(page):
        flags = {word.split("=")[0] for word in words if re.match(r"--[a-z]|-[a-z]$", word)}
        plain = [word for word in words if not word.startswith("-")]
        for algorithm in algorithms_of(plain):
            command = root
            for word in [*plain[:1], *algorithm] if algorithm else plain:
                inner = getattr(command, "commands", {})
                if word in inner:
                    command = inner[word]
                elif command is root and not ANYTHING.search(word):
                    pytest.fail(f"no command: warpsift {shlex.join(words)}")
            known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
            known |= {"--help", "-h", "--version", "--install-completion", "--show-completion"}
            assert flags <= known, f"warpsift {shlex.join(words)}: {sorted(flags - known)}"


def algorithms_of(plain: list[str]) -> list[list[str]]:
    """The algorithm that `run` and `compare` name among their words; none for other commands."""
    if plain[:1] not in (["run"], ["compare"]):
        return [[]]
    return [[word] for word in plain[1:2] if word in ALGORITHMS] or [[]]
