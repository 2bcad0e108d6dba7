"""A machine whose SMs are too small for a CTA of the run is refused before anything is timed."""

from __future__ import annotations

import pytest

from warpsift.engine.engine_error import EngineError
from warpsift.run import execute
from warpsift.run.execute import simulate

SMALL = {"sm.warps": 4, "sm.threads": 128, "sm.schedulers": 1}


@pytest.fixture
def no_engine(monkeypatch):
    def never(*_):
        raise AssertionError("an engine was built")

    monkeypatch.setattr(execute, "engine_of", never)


@pytest.mark.parametrize(
    ("algorithm", "choices", "overrides", "message"),
    [
        ("bfs", {}, SMALL, "'expand' needs 256 threads per CTA, but sm.threads of 'gtx980' is 128"),
        ("bfs", {"source": 900}, SMALL, "'expand' needs 256 threads per CTA"),
        ("tc", {}, SMALL, "needs 256 threads per CTA"),
        ("pagerank", {"unit": "mff"}, {"sm.shared_bytes": 8192}, "'pull' needs 16384 bytes of shared memory per CTA"),
        ("bfs", {"unit": "scu"}, SMALL, "needs 256 threads per CTA"),
    ],
)
def test_refused_before_the_run(no_engine, algorithm, choices, overrides, message):
    with pytest.raises(EngineError) as caught:
        simulate(algorithm, "kron-10", gpu="gtx980", overrides=overrides, **choices)
    assert message in str(caught.value)


def test_one_that_fits_is_run_as_before():
    small = simulate("bfs", "kron-7", gpu="tx1-gpgpusim3-256")
    assert small.check == "pass"
    assert small.launches == simulate("bfs", "kron-7", gpu="tx1-gpgpusim3-256").launches
