"""The two stages of a run: recording (the kernels' function and their stream) and timing (the engine).

Processor seconds of recording alone and of a whole run on one core, the share of the front end, and wall seconds with
one core and with two. The goal for two: within 10 % of the longer stage, where two cores are free. Medians of three.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from warpsift.graph import CsrGraph, load_graph
from warpsift.run.execute import simulate

GRAPH, GPU, ROUNDS = "kron-14", "gtx980", 3
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "bfs, frontier": ("bfs", {"style": "frontier"}),
    "sssp, frontier": ("sssp", {"style": "frontier"}),
    "pagerank, frontier": ("pagerank", {"style": "frontier", "max_iterations": 2}),
    "pagerank, vertex": ("pagerank", {"style": "vertex", "max_iterations": 2}),
}
WAYS: dict[str, dict[str, Any]] = {"recording": {"timed": False}, "one": {"threads": 1}, "two": {"threads": 2}}


def measure(algorithm: str, graph: CsrGraph, choices: dict[str, Any]) -> tuple[dict[str, list[float]], int]:
    """Median processor and wall seconds of each way, taken in turn, and the warp instructions of a run."""
    seconds: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way, how in WAYS.items():
            wall, clock = time.perf_counter(), time.process_time()
            result = simulate(algorithm, graph, gpu=GPU, check=False, **choices, **how)
            seconds[way].append((time.process_time() - clock, time.perf_counter() - wall))
    medians = {way: [statistics.median(column) for column in zip(*rows, strict=True)] for way, rows in seconds.items()}
    return medians, result.warp_instructions


def main() -> None:
    graph = load_graph(GRAPH)
    print(f"{GRAPH} on {GPU}; M inst/s are warp instructions per processor second")
    columns = ("recording", "M inst/s", "whole run", "M inst/s", "front end", "wall, 1", "wall, 2", "of longer")
    print(f"{'':20}" + "".join(f"{name:>11}" for name in columns))
    for name, (algorithm, choices) in CASES.items():
        simulate(algorithm, "kron-8", gpu=GPU, **choices)  # compile
        found, instructions = measure(algorithm, graph, choices)
        recording, whole = found["recording"][0], found["one"][0]
        longer = max(recording, whole - recording)
        rate, whole_rate = instructions / recording / 1e6, instructions / whole / 1e6
        wall_one, wall_two = found["one"][1], found["two"][1]
        print(
            f"{name:20}{recording:11.2f}{rate:11.2f}{whole:11.2f}{whole_rate:11.2f}{recording / whole:11.0%}"
            f"{wall_one:11.2f}{wall_two:11.2f}{wall_two / longer:11.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
