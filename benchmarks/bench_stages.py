"""The two stages of a run: recording (the kernels' function and their stream) and timing (the engine).

Processor seconds of each stage alone, on one core; what it passes in a second (warp instructions, the transactions that
they coalesce into, DRAM requests); then both at once, each in a thread of its own: processor seconds of either thread,
and wall seconds. The goal for two cores: within 10 % of the longer stage alone. `of longer` is that ratio in wall time
and needs two idle cores; `busier` is the busier thread's processor time over the longer stage's, which shows what the
stages cost each other also where other work takes the cores. Medians of three. WARPSIFT_BENCH_GRAPH: another graph.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Any, NamedTuple

from benchmarks.history import note
from warpsift.graph import CsrGraph, load_graph
from warpsift.run.execute import simulate
from warpsift.run.record import RunResult

GRAPH, GPU, ROUNDS = os.environ.get("WARPSIFT_BENCH_GRAPH", "kron-16"), "gtx980", 3
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "bfs, frontier": ("bfs", {"style": "frontier"}),
    "sssp, frontier": ("sssp", {"style": "frontier"}),
    "pagerank, frontier": ("pagerank", {"style": "frontier", "max_iterations": 2}),
    "pagerank, vertex": ("pagerank", {"style": "vertex", "max_iterations": 2}),
}
WAYS: dict[str, dict[str, Any]] = {"recording": {"timed": False}, "one": {"threads": 1}, "two": {"threads": 2}}


class Spent(NamedTuple):
    """Seconds of one run: processor time of this thread, of all others, and wall time."""

    here: float
    others: float
    wall: float

    @classmethod
    def now(cls) -> Spent:
        here = time.thread_time()
        return cls(here, time.process_time() - here, time.perf_counter())

    def since(self, before: Spent) -> Spent:
        return Spent(*(after - begun for after, begun in zip(self, before, strict=True)))


def measure(algorithm: str, graph: CsrGraph, choices: dict[str, Any]) -> tuple[dict[str, Spent], RunResult]:
    """Medians of each way, taken in turn, and a timed run."""
    spent: dict[str, list[Spent]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way, how in WAYS.items():
            before = Spent.now()
            result = simulate(algorithm, graph, gpu=GPU, check=False, **choices, **how)
            spent[way].append(Spent.now().since(before))
    return {way: Spent(*map(statistics.median, zip(*rows, strict=True))) for way, rows in spent.items()}, result


def main() -> None:
    graph = load_graph(GRAPH)
    print(f"{GRAPH} on {GPU}; per processor second of the stage: M warp instructions, M transactions, M DRAM requests")
    columns = ("recording", "inst/s", "trans/s", "timing", "inst/s", "trans/s", "DRAM/s", "front end")
    columns += ("both: rec.", "timing", "busier", "wall", "of longer")
    print(f"{'':19}" + "".join(f"{name:>11}" for name in columns))
    for name, (algorithm, choices) in CASES.items():
        simulate(algorithm, "kron-8", gpu=GPU, **choices)  # compile
        found, run = measure(algorithm, graph, choices)
        recording, both = found["recording"].here, found["two"]
        timing = found["one"].here - recording
        longer = max(recording, timing)
        work = (run.warp_instructions / 1e6, run.transactions / 1e6, (run.dram_reads + run.dram_writes) / 1e6)
        first = f"{recording:11.2f}" + "".join(f"{count / recording:11.2f}" for count in work[:2])
        second = f"{timing:11.2f}" + "".join(f"{count / timing:11.2f}" for count in work)
        share = f"{recording / (recording + timing):11.0%}"
        busier = max(both.here, both.others) / longer
        third = f"{both.here:11.2f}{both.others:11.2f}{busier:11.2f}{both.wall:11.2f}{both.wall / longer:11.2f}"
        stands = note(f"{name}, {GRAPH}, {GPU}: two cores", work[0] / both.wall, "M inst/s")
        note(f"{name}, {GRAPH}, {GPU}: recording", work[0] / recording, "M inst/s")
        note(f"{name}, {GRAPH}, {GPU}: timing", work[0] / timing, "M inst/s")
        note(f"{name}, {GRAPH}, {GPU}: busier thread over the longer stage", busier, "of 1")
        print(f"{name:19}{first}{second}{share}{third}  {stands}", flush=True)


if __name__ == "__main__":
    main()
