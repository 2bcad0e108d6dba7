"""Every block of code of the documentation runs as it is written, in the order of its page.

A block of TOML that begins with `# NAME.toml` is a file for the blocks after it. A block that cannot be run here has
the line `<!-- not run: why -->` before it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from support.places import ROOT

BLOCK = re.compile(r"^(<!-- not run: .+ -->\n)?```(python|console|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("git clone", "make ", "pip install", "pipx install", "uv tool install")  # done once; CI does it too
MADE = "<!-- made by docs/generate.py -->"  # copies of pages that are tested where they come from, and lists


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Kind and text of the blocks of a page that are run."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [] if text.startswith(MADE) else [(kind, block) for skip, kind, block in BLOCK.findall(text) if not skip]


FIRST_PAGES = [
    "README.md",
    "docs/index.md",
    *(f"docs/tutorials/{p.name}" for p in (ROOT / "docs/tutorials").glob("*.md")),
]
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]


def commands(block: str) -> list[list[str]]:
    """Lines behind `$ ` that call warpsift, without their comments."""
    found = []
    for line in block.splitlines():
        if not line.startswith("$ ") or line[2:].startswith(ELSEWHERE):
            continue
        words = shlex.split(line[2:], comments=True)
        assert words[0].removeprefix(".venv/bin/") == "warpsift", f"a command that nobody runs: {line}"
        found.append([sys.executable, "-m", "warpsift", *words[1:]])
    return found


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_first_pages_have_something_to_try(page):
    assert blocks_of(page)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)])
def test_blocks_run_as_written(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for kind, block in blocks_of(page):
        if kind == "console":
            for command in commands(block):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"
        elif kind == "toml":
            named = re.match(r"# ([\w-]+\.toml)\b", block)
            (tmp_path / (named[1] if named else "part.toml")).write_text(block, encoding="utf-8")
            tomllib.loads(block)
        else:
            file = tmp_path / "block.py"  # a kernel's text is looked at, so it must lie in a file
            file.write_text(block, encoding="utf-8")
            exec(compile(block, str(file), "exec"), names)
