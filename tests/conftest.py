"""Shared by all tests: where the real graphs and the reference results lie, if they are there."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
import uuid
from pathlib import Path

import pytest

from support.places import DATA, REFERENCE, ROOT, TESTS
from support.slow_tests import LONG, SLOW


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        for marker, places in ((pytest.mark.slow, (*SLOW, *LONG)), (pytest.mark.long, LONG)):
            if any(place == one or place.startswith(f"{one}/") for one in places):
                item.add_marker(marker)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands under test inherit what is ignored


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


# Tests neither read nor fill the user's cache: a run has a cache folder of its own, set before anything is imported and
# shared by its workers. Only compiled code is kept from run to run, in the clone: it is filed by a hash of its sources,
# so that an edit is never ignored and an unchanged engine is compiled once.
_STARTED_HERE = "WARPSIFT_TEST_RUN" not in os.environ  # workers inherit it, and pytest that a test starts
_RUN = os.environ.setdefault("WARPSIFT_TEST_RUN", uuid.uuid4().hex)
_CACHE = Path(tempfile.gettempdir()) / f"warpsift-tests-{_RUN}"
_COMPILED = Path(os.environ.get("WARPSIFT_TEST_COMPILED") or ROOT / ".compiled")
os.environ["WARPSIFT_CACHE_DIR"] = str(_CACHE)
_CACHE.mkdir(exist_ok=True)
for _part in ("engine", "traces"):
    (_COMPILED / _part).mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (_CACHE / _part).symlink_to(_COMPILED / _part)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The process that started the run clears up."""
    if _STARTED_HERE:
        shutil.rmtree(_CACHE, ignore_errors=True)  # links are removed, not what they lead to
        for left in Path(tempfile.gettempdir()).glob("warpsift-tests-*"):
            if left.stat().st_mtime < time.time() - 24 * 3600:
                shutil.rmtree(left, ignore_errors=True)
