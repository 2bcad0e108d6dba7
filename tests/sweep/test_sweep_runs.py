"""Running sweeps: nothing twice, failures kept, stores shared, full disks."""

from __future__ import annotations

import threading

import pytest

from support.sweeping import WatchedPool, points, requests
from warpsift.errors import WarpsiftError
from warpsift.run.request import make_request
from warpsift.store.store import Store, StoreError
from warpsift.sweep import SweepOptions, run_sweep
from warpsift.sweep.sweep_progress import SweepProgress
from warpsift.sweep.sweep_run import run_points

QUIET = SweepOptions(workers=1, quiet=True)


def test_what_is_stored_is_not_run_again(tmp_path):
    store = tmp_path / "runs.db"
    first = run_sweep(requests(3), store, QUIET)
    assert [record.status for record in first] == ["done"] * 3
    before = {record.key: record.finished_at for record in first}
    second = run_sweep(requests(4), store, QUIET)
    assert len(second) == 4
    assert {record.key: record.finished_at for record in second if record.key in before} == before
    record = second[requests(1)[0]]
    assert record.result["check"] == "pass" and record.result["options"]["seed"] == 1
    assert len(record.result["answer_hash"]) == 32 and "host_seconds" not in record.result


def test_a_failing_point_is_recorded_and_the_rest_goes_on(tmp_path):
    impossible = make_request("bfs", "grid-5x5", {"gpu": "titanx", "overrides": {"l2.ways": 7}})
    outside = make_request("bfs", "grid-5x5", {"source": 99})
    results = run_sweep([impossible, outside, *requests(2)], tmp_path / "runs.db", QUIET)
    assert sorted(record.status for record in results) == ["done", "done", "failed", "failed"]
    errors = {record.error_kind: record.error for record in results.failed}
    assert errors["OptionError"] == "source 99 is not a node: the graph has nodes 0 to 24"
    assert "l2.size_bytes" in errors["MachineError"] and "l2.ways" in errors["MachineError"]
    with pytest.raises(WarpsiftError, match="bfs on grid-5x5 failed: source 99 is not a node"):
        results[outside]
    with pytest.raises(KeyError, match="was not part of this sweep"):
        results[make_request("wcc", "grid-5x5", {})]


def test_failures_are_retried_on_demand(tmp_path):
    (point,) = points(1)
    with Store(tmp_path / "runs.db") as ledger:
        ledger.fail(point, "WorkerDied", "out of memory")
    assert [r.status for r in run_sweep(requests(1), tmp_path / "runs.db", QUIET)] == ["failed"]
    again = SweepOptions(workers=1, quiet=True, retry_failed=True)
    assert [r.status for r in run_sweep(requests(1), tmp_path / "runs.db", again)] == ["done"]


def test_two_sweeps_share_a_store_and_run_each_point_once(tmp_path):
    """Both see all points; what one runs the other waits for."""
    store = tmp_path / "runs.db"
    Store(store).close()
    pools = [WatchedPool(), WatchedPool()]
    problems = []

    def sweep(pool: WatchedPool) -> None:
        try:
            with Store(store) as ledger:
                run_points(points(12), ledger, pool, SweepProgress(enabled=False))
        except BaseException as error:
            problems.append(error)

    points(1)  # what is imported lazily is imported before the threads start
    threads = [threading.Thread(target=sweep, args=(pool,)) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
    assert not problems
    seeds = [task.request.options.seed for pool in pools for task in pool.tasks]
    assert sorted(seeds) == list(range(1, 13))
    assert all(pool.tasks for pool in pools)
    with Store(store) as ledger:
        assert set(ledger.statuses().values()) == {"done"}


def test_a_full_disk_stops_the_sweep_with_a_word(tmp_path):
    with Store(tmp_path / "runs.db") as ledger:
        pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
        ledger._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="is full: finished runs are kept"):
            run_points(points(40), ledger, WatchedPool(), SweepProgress(enabled=False))
        ledger._db.execute("PRAGMA max_page_count = 100000")
        assert "claimed" not in ledger.statuses().values()
