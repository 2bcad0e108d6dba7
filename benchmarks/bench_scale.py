"""What a sampled run takes as graphs grow: BFS on the modelled GTX 980, one part in twenty timed.

Processor seconds of building the graph, of recording (the kernels' function and their stream) and of the engine,
nanoseconds per arc, and the largest memory of the process so far. One core; graphs in ascending order.
WARPSIFT_BENCH_GRAPH names others than kron-14, kron-15 and kron-16, separated by commas.
"""

from __future__ import annotations

import os
import resource
import time

from benchmarks.bench_sampling import GPU, SAMPLE, run
from benchmarks.history import note
from warpsift.graph import load_graph


def main() -> None:
    names = os.environ.get("WARPSIFT_BENCH_GRAPH", "kron-14,kron-15,kron-16").split(",")
    run("bfs", "kron-8", SAMPLE, {})  # compile
    print(f"bfs on {GPU}, --sample {SAMPLE}, one core, processor seconds")
    columns = ("M arcs", "graph", "recording", "engine", "ns per arc", "wall", "GB", "± 95 %", "timed")
    print(f"{'':12}" + "".join(f"{column:>11}" for column in columns))
    for name in names:
        begun = time.process_time()
        graph = load_graph(name)
        built = time.process_time() - begun
        begun, wall = time.process_time(), time.perf_counter()
        result, engine = run("bfs", graph, SAMPLE, {})
        whole, wall = time.process_time() - begun, time.perf_counter() - wall
        low, high = result.intervals["cycles"]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        seconds = f"{built:11.2f}{whole - engine:11.2f}{engine:11.2f}{1e9 * whole / graph.edges:11.0f}{wall:11.1f}"
        sampled = f"{(high - low) / (high + low):11.1%}{result.sampling['timed_share']:11.1%}"
        print(f"{name:12}{graph.edges / 1e6:11.2f}{seconds}{peak:11.2f}{sampled}", flush=True)
        note(f"scale, bfs on {name}", graph.edges / whole / 1e6, "M arcs per processor second")


if __name__ == "__main__":
    main()
