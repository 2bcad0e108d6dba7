"""The pages that people wrote; those that docs/generate.py makes are tested where they come from."""

from __future__ import annotations

from support.places import ROOT

MADE = "<!-- made by docs/generate.py -->"
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    if not page.read_text(encoding="utf-8").startswith(MADE)
]
