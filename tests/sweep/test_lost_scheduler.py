"""A Dask scheduler that dies in the middle of a sweep: nothing is marked as failed, and the same command finishes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError, Future

import pytest

from support.dask_cluster import Cluster, wait_until
from support.sweeping import WatchedPool, outcome, points
from warpsift.run.request import make_request
from warpsift.store.store import Store
from warpsift.sweep import SweepOptions, run_sweep
from warpsift.sweep.sweep_progress import SweepProgress
from warpsift.sweep.sweep_run import TRIES_AFTER_CANCEL, run_points
from warpsift.sweep.workers import ClusterError


class CancellingPool(WatchedPool):
    """Cancels the first so many tasks, as a scheduler does that is restarted."""

    def __init__(self, cancels: int, lost: bool = False) -> None:
        super().__init__(slots=1)
        self.cancels, self.lost = cancels, lost

    def submit(self, fn, /, *args, **kwargs):
        if self.cancels > 0:
            self.cancels -= 1
            future: Future = Future()
            future.set_exception(CancelledError())
            return future
        return super().submit(fn, *args, **kwargs)

    def check(self) -> None:
        if self.lost:
            raise ClusterError("the scheduler was lost")


def statuses(path) -> list[str]:
    with Store(path, readonly=True) as ledger:
        return sorted(ledger.statuses().values())


def test_cancelled_points_are_run_again(tmp_path):
    with Store(tmp_path / "s.db") as ledger:
        run_points(points(3), ledger, CancellingPool(TRIES_AFTER_CANCEL - 1), SweepProgress(enabled=False))
    assert statuses(tmp_path / "s.db") == ["done"] * 3


def test_a_cluster_that_cancels_for_ever_ends_the_sweep_but_fails_nothing(tmp_path):
    with Store(tmp_path / "s.db") as ledger, pytest.raises(ClusterError, match="was cancelled 5 times by the cluster"):
        run_points(points(3), ledger, CancellingPool(1000), SweepProgress(enabled=False))
    assert statuses(tmp_path / "s.db") == []


def test_what_a_lost_cluster_cancels_is_free_for_the_next_sweep(tmp_path):
    with Store(tmp_path / "s.db") as ledger, pytest.raises(ClusterError, match="the scheduler was lost"):
        run_points(points(3), ledger, CancellingPool(1, lost=True), SweepProgress(enabled=False))
    assert statuses(tmp_path / "s.db") == []


def test_a_real_scheduler_is_killed_and_comes_back(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="no Dask here: pip install 'warpsift[dask]'")
    monkeypatch.setattr("warpsift.sweep.workers.RECONNECT_SECONDS", 2.0)
    wanted = [make_request("pagerank", "kron-7", {"seed": s, "epsilon": 1e-6}) for s in range(1, 9)]
    store = tmp_path / "dask.db"
    Store(store).close()
    cluster = Cluster(tmp_path)
    cluster.start()

    def kill_in_the_middle() -> None:
        wait_until(lambda: statuses(store).count("done") >= 2 and "claimed" in statuses(store))
        cluster.kill_scheduler()

    try:
        killer = threading.Thread(target=kill_in_the_middle, daemon=True)
        killer.start()
        begun = time.monotonic()
        with pytest.raises(ClusterError) as problem:
            run_sweep(wanted, store, SweepOptions(dask=cluster.address, quiet=True))
        killer.join(timeout=600)
        assert str(problem.value) == (
            f"the Dask scheduler at {cluster.address} was lost; what had come back is kept: start it again and repeat "
            "the command"
        )
        assert time.monotonic() - begun < 120
        kept = statuses(store)
        assert 2 <= len(kept) < len(wanted) and set(kept) == {"done"}
        cluster.start()
        far = run_sweep(wanted, store, SweepOptions(dask=cluster.address, quiet=True))
    finally:
        cluster.stop()
    near = run_sweep(wanted, tmp_path / "local.db", SweepOptions(workers=1, quiet=True))
    assert not far.failed
    assert [outcome(record) for record in far] == [outcome(record) for record in near]
