"""Every test of graphs has a cache of its own, empty at first."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "cache"))
