"""A large store read back: what `warpsift results` does before it prints, in processor seconds for 100,000 points.

Every reading has a process of its own, as the command has.
"""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from warpsift.run.request import make_request
from warpsift.store.asking import stored_rows
from warpsift.store.canonical_json import to_json
from warpsift.store.rows import COUNTED_METRICS, TIMED_METRICS, default_columns
from warpsift.store.stored_json import numbers_of
from warpsift.sweep import SweepOptions, run_sweep

POINTS, ROUNDS = 100_000, 3


def store_of(path: Path, points: int, **choices: str) -> int:
    """One run, kept many times under other seeds; gives the size of the file."""
    run_sweep([make_request("bfs", "kron-6", choices)], path, SweepOptions(workers=1, quiet=True))
    with sqlite3.connect(path) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(runs)")]
        run = dict(zip(names, db.execute("SELECT * FROM runs").fetchone(), strict=True))
        request, result = json.loads(run["request"]), json.loads(run["result"])
        marks = ", ".join("?" * len(names))

        def another(number: int) -> tuple[object, ...]:
            request["options"]["seed"] = result["options"]["seed"] = number
            text = to_json(result)
            other = {"key": f"{number:064x}", "request": to_json(request), "result": text, "numbers": numbers_of(text)}
            return tuple((run | other).values())

        db.executemany(f"INSERT INTO runs VALUES ({marks})", (another(number) for number in range(1, points)))
    return path.stat().st_size


def read(path: Path) -> float:
    clock = time.process_time()
    _, rows, _ = stored_rows(path, [], False, {*TIMED_METRICS, *COUNTED_METRICS})
    default_columns(rows)
    return time.process_time() - clock


def main() -> None:
    for name, choices in (("counted", {}), ("timed", {"gpu": "gtx980"})):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "many.db"
            size = store_of(path, POINTS, **choices)
            with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as fresh:
                seconds = statistics.median(fresh.apply(read, (path,)) for _ in range(ROUNDS))
            print(f"{name:8s} {POINTS} points, {size / 1e6:6.0f} MB: {seconds:5.1f} s")


if __name__ == "__main__":
    main()
