"""A browser for the tests of pages."""

from __future__ import annotations

import pytest

from support import browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    program = browser.find()
    if program is None:
        pytest.skip("no Chromium here: install the package chromium to test the page in a browser")
    running = browser.Browser(program, tmp_path_factory.mktemp("profile"))
    yield running
    running.close()
