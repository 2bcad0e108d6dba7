"""CITATION.cff names this version and says what a citation needs."""

from __future__ import annotations

import re

import warpsift
from support.places import ROOT

CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_citation_names_this_version():
    assert re.search(r"^version: (.+)$", CITATION, re.MULTILINE)[1] == warpsift.__version__


def test_the_citation_has_what_the_format_requires():
    for key in ("cff-version: 1.2.0", "message:", "title:", "authors:"):
        assert re.search(rf"^{re.escape(key)}", CITATION, re.MULTILINE), key
