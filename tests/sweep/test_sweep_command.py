"""`warpsift sweep`, interrupted and killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from support.command_line import call, start
from warpsift.store.store import Store, StoreError
from warpsift.sweep import SweepOptions

QUIET = SweepOptions(workers=1, quiet=True)


def sweep_file(folder: Path, seeds: int, algorithm: str = "sssp", graph: str = "kron-11") -> Path:
    file = folder / "s.toml"
    text = f'[[grid]]\nalgorithm = "{algorithm}"\ngraph = "{graph}"\nseed = {list(range(1, seeds + 1))}\n'
    file.write_text(text)
    return file


def wait_for(store: Path, status: str, count: int, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists():
            try:
                with Store(store, readonly=True) as ledger:
                    if list(ledger.statuses().values()).count(status) >= count:
                        return
            except StoreError:
                pass
        time.sleep(0.02)
    out, err = process.communicate() if process.poll() is not None else ("", "")
    raise AssertionError(f"the sweep never had {count} points {status}: {out} {err}")


def workers_of(session: int) -> list[int]:
    """Processes of a session that still live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def all_gone(session: int) -> bool:
    deadline = time.monotonic() + 30
    while workers_of(session) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not workers_of(session)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_killed_at_any_point_it_goes_on_where_it_stopped(tmp_path):
    store, file = tmp_path / "runs.db", sweep_file(tmp_path, 10)
    process = start("sweep", file, "--store", store, "--workers", 2)
    wait_for(store, "done", 2, process)
    process.kill()
    process.communicate()
    assert all_gone(process.pid), "the workers of a killed sweep end by themselves"
    with Store(store) as ledger:
        finished = {record.key: record.finished_at for record in ledger.records()}
        assert "claimed" in ledger.statuses().values()  # it was in the middle
    assert 2 <= len(finished) < 10
    done = call("sweep", file, "--store", store, "--workers", 1)
    assert done.returncode == 0 and f"10 of 10 points are in {store}" in done.stdout.replace("\n", " ")
    with Store(store) as ledger:
        records = ledger.records()
    assert {r.key: r.finished_at for r in records if r.key in finished} == finished
    assert len(records) == 10 and all(record.result["check"] == "pass" for record in records)
    assert sqlite3.connect(store).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_keeps_what_is_finished(tmp_path, number):
    store = tmp_path / "runs.db"
    process = start("sweep", sweep_file(tmp_path, 40), "--store", store, "--workers", 1)
    wait_for(store, "done", 1, process)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: to the workers too
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130 and out == ""
    assert err.splitlines()[-1] == f"interrupted; finished runs are in {store}; the same command goes on from there"
    assert "Traceback" not in err
    assert all_gone(process.pid)
    with Store(store) as ledger:
        statuses = list(ledger.statuses().values())
    assert set(statuses) == {"done"} and 1 <= len(statuses) < 40


def test_dry_run_shows_the_points_and_runs_nothing(tmp_path):
    file = sweep_file(tmp_path, 3, "bfs", "grid-5x5")
    store = tmp_path / "runs.db"
    done = call("sweep", file, "--store", store, "--dry-run")
    assert done.returncode == 0 and "3 points, 3 of them to run" in done.stdout
    assert not store.exists()
    assert call("sweep", file, "--store", store, "--workers", 1).returncode == 0
    rows = json.loads(call("sweep", file, "--store", store, "--dry-run", "--json").stdout)
    assert [row["state"] for row in rows] == ["done"] * 3


def test_a_failed_point_is_exit_code_1(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[[grid]]\nalgorithm = "bfs"\ngraph = "grid-5x5"\nsource = [0, 99]\n')
    done = call("sweep", file, "--store", tmp_path / "runs.db", "--workers", 1)
    assert done.returncode == 1
    assert "failed: bfs on grid-5x5: source 99 is not a node: the graph has nodes 0 to 24" in done.stdout
    assert "1 of 2 points" in done.stdout
