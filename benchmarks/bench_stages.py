"""The two stages of a run: recording (the kernels' function and their stream) and timing (the engine).

Processor seconds of each stage on one core, what it passes in a second (warp instructions, the transactions that they
coalesce into, DRAM requests), the share of the front end, and wall seconds with one core and with two. The goal for
two: within 10 % of the longer stage, where two cores are free. Medians of three.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from benchmarks.history import note
from warpsift.graph import CsrGraph, load_graph
from warpsift.run.execute import simulate
from warpsift.run.record import RunResult

GRAPH, GPU, ROUNDS = "kron-14", "gtx980", 3
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "bfs, frontier": ("bfs", {"style": "frontier"}),
    "sssp, frontier": ("sssp", {"style": "frontier"}),
    "pagerank, frontier": ("pagerank", {"style": "frontier", "max_iterations": 2}),
    "pagerank, vertex": ("pagerank", {"style": "vertex", "max_iterations": 2}),
}
WAYS: dict[str, dict[str, Any]] = {"recording": {"timed": False}, "one": {"threads": 1}, "two": {"threads": 2}}


def measure(algorithm: str, graph: CsrGraph, choices: dict[str, Any]) -> tuple[dict[str, list[float]], RunResult]:
    """Median processor and wall seconds of each way, taken in turn, and a timed run."""
    seconds: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way, how in WAYS.items():
            wall, clock = time.perf_counter(), time.process_time()
            result = simulate(algorithm, graph, gpu=GPU, check=False, **choices, **how)
            seconds[way].append((time.process_time() - clock, time.perf_counter() - wall))
    medians = {way: [statistics.median(column) for column in zip(*rows, strict=True)] for way, rows in seconds.items()}
    return medians, result


def main() -> None:
    graph = load_graph(GRAPH)
    print(f"{GRAPH} on {GPU}; per processor second of the stage: M warp instructions, M transactions, M DRAM requests")
    rates = ("inst", "trans.")
    columns = ("recording s", *rates, "timing s", *rates, "DRAM", "front end", "wall, 1", "wall, 2", "of longer")
    print(f"{'':20}" + "".join(f"{name:>12}" if name[-2:] == " s" else f"{name:>10}" for name in columns))
    for name, (algorithm, choices) in CASES.items():
        simulate(algorithm, "kron-8", gpu=GPU, **choices)  # compile
        found, run = measure(algorithm, graph, choices)
        recording, whole = found["recording"][0], found["one"][0]
        timing, wall_one, wall_two = whole - recording, found["one"][1], found["two"][1]
        work = (run.warp_instructions / 1e6, run.transactions / 1e6, (run.dram_reads + run.dram_writes) / 1e6)
        first = f"{recording:12.2f}" + "".join(f"{count / recording:10.2f}" for count in work[:2])
        second = f"{timing:12.2f}" + "".join(f"{count / timing:10.2f}" for count in work)
        walls = f"{wall_one:10.2f}{wall_two:10.2f}{wall_two / max(recording, timing):10.2f}"
        stands = note(f"{name}, {GRAPH}, {GPU}: two cores", work[0] / wall_two, "M inst/s")
        note(f"{name}, {GRAPH}, {GPU}: recording", work[0] / recording, "M inst/s")
        note(f"{name}, {GRAPH}, {GPU}: timing", work[0] / timing, "M inst/s")
        print(f"{name:20}{first}{second}{recording / whole:10.0%}{walls}  {stands}", flush=True)


if __name__ == "__main__":
    main()
