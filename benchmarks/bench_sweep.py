"""A sweep with two workers against one: the same points, timed on a modelled GPU, from an empty store each time.

The goal is 1.8 times on two free cores. Other work on the computer lowers it, so the load is printed too.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

POINTS = 12
ROUNDS = 2


def _seconds(workers: int, store: Path) -> float:
    from warpsift.request import make_request
    from warpsift.sweep import SweepOptions, run_sweep

    machine = {"gpu": "gtx480-gpgpusim4"}
    wanted = [make_request("bfs", "delaunay-13", machine | {"seed": seed}) for seed in range(1, POINTS + 1)]
    start = time.perf_counter()
    results = run_sweep(wanted, store, SweepOptions(workers=workers, quiet=True))
    seconds = time.perf_counter() - start
    assert len(results) == POINTS and not results.failed
    return seconds


def main() -> None:
    from warpsift.engine import Engine  # noqa: F401  (compiled before anything is measured)

    print(f"sweep of {POINTS} points (bfs on delaunay-13, gtx480-gpgpusim4), best of {ROUNDS}")
    best = {1: float("inf"), 2: float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(ROUNDS):
            for workers in best:
                best[workers] = min(best[workers], _seconds(workers, Path(folder) / f"{round_}-{workers}.db"))
    for workers, seconds in best.items():
        print(f"  {workers} worker{'s' if workers > 1 else ' '}  {seconds:6.1f} s   {best[1] / seconds:.2f} x")
    print(f"  cores {os.cpu_count()}, load average {os.getloadavg()[0]:.1f} (goal: 1.8 x on two free cores)")


if __name__ == "__main__":
    main()
