"""What the torture tests share: a sweep of many short points, commands that can be killed, and a log of every claim.

The log is kept by triggers inside the store, in the same transactions as what it tells of: no kill can part the two.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from support.command_line import WARPSIFT
from support.sweeping import outcome
from warpsift.store.store import Store

TRIES = int(os.environ.get("WARPSIFT_TORTURE_TRIES", "100"))
SEED = int(os.environ.get("WARPSIFT_TORTURE_SEED", "1"))
POINTS = 120

_SWEEP = f"""
[[grid]]
algorithm = ["bfs", "sssp"]
graph = ["kron-10", "delaunay-10"]
seed = {list(range(1, POINTS // 4 + 1))}
"""
_LOG = """
CREATE TABLE torture (number INTEGER PRIMARY KEY, key TEXT, status TEXT);
CREATE TRIGGER torture_new AFTER INSERT ON runs BEGIN
    INSERT INTO torture (key, status) VALUES (NEW.key, NEW.status); END;
CREATE TRIGGER torture_change AFTER UPDATE OF status ON runs BEGIN
    INSERT INTO torture (key, status) VALUES (NEW.key, NEW.status); END;
"""


class Lab:
    """A folder with a sweep file; stores are made in it, or where a test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dice = random.Random(SEED)
        self.file = folder / "sweep.toml"
        self.file.write_text(_SWEEP)
        self.running: list[subprocess.Popen] = []

    def store(self, path: Path) -> Path:
        """A new store that keeps the log."""
        Store(path).close()
        with sqlite3.connect(path) as db:
            db.executescript(_LOG)
        db.close()
        return path

    def start(self, store: Path, *options: object, **how: object) -> subprocess.Popen:
        """The command, in a session of its own."""
        command = [*WARPSIFT, "sweep", str(self.file), "--store", str(store), *map(str, options)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True, **how
        )
        self.running.append(process)
        return process

    def finish(self, store: Path, *options: object) -> None:
        """Run the command to its end, undisturbed."""
        process = self.start(store, *options)
        _, said = process.communicate(timeout=1800)
        assert process.returncode == 0, said

    def kill_one(self, process: subprocess.Popen, what: str, after: float) -> None:
        """Kill the command or one of its workers after some seconds, if it has not ended by then."""
        deadline = time.monotonic() + after
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is not None:
            return
        workers = children(process.pid)
        victim = self.dice.choice(workers) if what == "worker" and workers else process.pid
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return

    def stop(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def session_is_empty(process: subprocess.Popen) -> bool:
    """Whether everything that a command had started is gone."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    return all(_state(pid) == "Z" for pid in _members(process.pid))


def _members(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == group:
                    found.append(int(entry.name))
            except ProcessLookupError:
                continue
    return found


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def in_flight(store: Path) -> int:
    """Points that somebody has claimed and not finished."""
    with Store(store, readonly=True) as ledger:
        return list(ledger.statuses().values()).count("claimed")


def table(store: Path) -> list[tuple]:
    """Everything that must not depend on what happened on the way."""
    with Store(store, readonly=True) as ledger:
        return sorted((outcome(record) for record in ledger.records()), key=lambda row: row[0])


def assert_nothing_lost_or_repeated(store: Path, were_in_flight: int) -> str:
    """Every point was finished once; claimed again was at most what a kill found under way."""
    db = sqlite3.connect(store)
    log = db.execute("SELECT key, status FROM torture").fetchall()
    db.close()
    ends, claims = Counter(), Counter()
    for key, status in log:
        (claims if status == "claimed" else ends)[key, status] += 1
    assert len(ends) == POINTS and set(ends.values()) == {1}, "a point was finished twice, or never"
    assert {status for _, status in ends} == {"done"}, "a point was marked as failed"
    again = sum(claims.values()) - POINTS
    assert 0 <= again <= were_in_flight, f"{again} points were claimed again, {were_in_flight} were in flight"
    return f"{POINTS} points, {were_in_flight} in flight when something died, {again} claimed again"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
