"""A sweep with two workers against one: the same points, timed on a modelled GPU, from an empty store each time.

The goal is 1.8 times on two free cores. Where other work shares the cores the measured ratio says little; so the CPU
time of the workers is printed too, and what it would allow: a worker's start S and the runs' work W follow from
one worker's S + W and two workers' 2 S + W.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path

POINTS = 12


def _measure(workers: int, store: Path) -> tuple[float, float]:
    """Seconds of the clock, and of the workers' CPUs."""
    from warpsift.run.request import make_request
    from warpsift.sweep import SweepOptions, run_sweep

    machine = {"gpu": "gtx480-gpgpusim4"}
    wanted = [make_request("bfs", "delaunay-15", machine | {"seed": seed}) for seed in range(1, POINTS + 1)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    results = run_sweep(wanted, store, SweepOptions(workers=workers, quiet=True))
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(results) == POINTS and not results.failed
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    from warpsift.engine import Engine  # noqa: F401  (compiled before anything is measured)

    print(f"sweep of {POINTS} points (bfs on delaunay-15, gtx480-gpgpusim4)")
    with tempfile.TemporaryDirectory() as folder:
        found = {workers: _measure(workers, Path(folder) / f"{workers}.db") for workers in (1, 2)}
    for workers, (seconds, cpu) in found.items():
        print(f"  {workers} worker{'s' if workers > 1 else ' '}  {seconds:6.1f} s  {cpu:6.1f} s of CPU", end="")
        print(f"   {found[1][0] / seconds:.2f} x")
    start = max(0.0, found[2][1] - found[1][1])
    work = found[1][1] - start
    print(f"  by CPU time alone: {(start + work) / (start + work / 2):.2f} x (start {start:.1f} s, work {work:.1f} s)")
    print(f"  cores {os.cpu_count()}, load average {os.getloadavg()[0]:.1f} (goal: 1.8 x on two free cores)")


if __name__ == "__main__":
    main()
