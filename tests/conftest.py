"""Shared by all tests: where the real graphs and the reference results lie, if they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
REFERENCE = ROOT.parent / "shared" / "reference"


@pytest.fixture(scope="session")
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("real graphs are not here: no folder ../shared/data")
    return DATA


@pytest.fixture(scope="session")
def reference() -> Path:
    if not REFERENCE.is_dir():
        pytest.skip("reference results are not here: no folder ../shared/reference")
    return REFERENCE


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither read nor fill the user's cache of parsed graphs."""
    import os

    os.environ["WARPSIFT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
