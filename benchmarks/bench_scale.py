"""What a sampled run takes as graphs grow: BFS on the modelled GTX 980, one part in twenty timed.

Processor seconds of building the graph, of recording (the kernels' function and their stream) and of the engine,
nanoseconds per arc, and the largest memory of the process so far. One core; graphs in ascending order.
WARPSIFT_BENCH_GRAPH names others than kron-14, kron-15 and kron-16, separated by commas. With WARPSIFT_BENCH_FULL=1
each graph is timed in full as well, in the row below.
"""

from __future__ import annotations

import os
import resource
import time

from benchmarks.bench_sampling import GPU, SAMPLE, run
from benchmarks.history import note
from warpsift.graph import CsrGraph, load_graph


def row(name: str, graph: CsrGraph, built: float, sample: int) -> str:
    """Processor seconds of one run and what follows from them; `built`: of making the graph."""
    begun, wall = time.process_time(), time.perf_counter()
    result, engine = run("bfs", graph, sample, {})
    whole, wall = time.process_time() - begun, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    per_arc = whole / graph.edges
    seconds = f"{built:11.2f}{whole - engine:11.2f}{engine:11.2f}{1e9 * per_arc:11.0f}{wall:11.1f}{peak:11.2f}"
    what = name if sample else f"{name}, in full"
    note(f"scale, bfs on {what}", 1e-6 / per_arc, "M arcs per processor second")
    if not sample:
        return f"{what:18}{graph.edges / 1e6:11.2f}{seconds}"
    low, high = result.intervals["cycles"]
    return (
        f"{what:18}{graph.edges / 1e6:11.2f}{seconds}"
        f"{(high - low) / (high + low):11.1%}{result.sampling['timed_share']:11.1%}"
    )


def main() -> None:
    names = os.environ.get("WARPSIFT_BENCH_GRAPH", "kron-14,kron-15,kron-16").split(",")
    samples = (SAMPLE, 0) if os.environ.get("WARPSIFT_BENCH_FULL") == "1" else (SAMPLE,)
    for sample in samples:
        run("bfs", "kron-8", sample, {})  # compile
    print(f"bfs on {GPU}, --sample {SAMPLE}, one core, processor seconds")
    columns = ("M arcs", "graph", "recording", "engine", "ns per arc", "wall", "GB", "± 95 %", "timed")
    print(f"{'':18}" + "".join(f"{column:>11}" for column in columns))
    for name in names:
        begun = time.process_time()
        graph = load_graph(name)
        built = time.process_time() - begun
        for sample in samples:
            print(row(name, graph, built, sample), flush=True)


if __name__ == "__main__":
    main()
