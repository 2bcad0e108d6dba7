"""Where things lie: the clone, and beside it real graphs and reference results, if they are there."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
DOCS = ROOT / "docs"
DATA = ROOT.parent / "shared" / "data"
REFERENCE = ROOT.parent / "shared" / "reference"
