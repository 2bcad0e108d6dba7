"""Running and recording kernels: BFS on kron-18 (21 million arcs) and how the cost grows with the graph.

Goals: kron-18 in under 60 s and 6 GB; time per edge at 16 times the edges within 1.3 times.
"""

from __future__ import annotations

import resource
import statistics
import time

from warpsift.graph import load_graph
from warpsift.run.execute import simulate

RUNS = 3


def seconds_per_edge(name: str, runs: int) -> tuple[float, float, int, float]:
    """Median seconds, seconds per edge touched, arcs, edges touched / E."""
    graph = load_graph(name)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = simulate("bfs", graph, check=False)
        times.append(time.perf_counter() - start)
    touched = result.work["edges_touched"]
    return statistics.median(times), statistics.median(times) / touched, graph.edges, touched / graph.edges


def main() -> None:
    simulate("bfs", "kron-8")  # compile
    print(f"{'graph':<10} {'arcs':>12} {'touched/E':>10} {'seconds':>8} {'ns/edge touched':>16}")
    rates = {}
    for name, runs in (("kron-14", RUNS), ("kron-18", 1)):
        seconds, rate, arcs, touched = seconds_per_edge(name, runs)
        rates[name] = rate
        print(f"{name:<10} {arcs:>12,} {touched:>10.2f} {seconds:>8.2f} {1e9 * rate:>16.1f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB; time per edge kron-18 / kron-14: {rates['kron-18'] / rates['kron-14']:.2f}")


if __name__ == "__main__":
    main()
