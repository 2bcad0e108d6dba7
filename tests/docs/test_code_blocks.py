"""Every block of code on the first pages of the documentation runs as it is written, in the order of the page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from support.places import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = ["README.md", "docs/index.md", *(f"docs/tutorials/{page.name}" for page in TUTORIALS)]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("git clone", "make ")  # what a new user does once; CI does it too


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


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_as_written(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks, "a page without code says nothing to try"
    names: dict[str, object] = {"__name__": "page"}
    for kind, block in blocks:
        if kind == "console":
            for command in commands(block):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"
            continue
        file = tmp_path / "block.py"  # a kernel's text is looked at, so it must lie in a file
        file.write_text(block, encoding="utf-8")
        exec(compile(block, str(file), "exec"), names)
