"""The memory fast-forward unit in the engine: words chased per second of host time, against the plain GPU's loop."""

from __future__ import annotations

import time

from warpsift.graph import load_graph
from warpsift.studies.mff.mff_measurements import measure

GRAPH = "rmat-15"


def main() -> None:
    graph, gpu = load_graph(GRAPH), {"gpu": "gtx480"}
    for algorithm in ("pagerank", "bfs"):
        for variant in ("mff", "plain"):  # compile
            measure(load_graph("rmat-8"), algorithm, variant, gpu, all_phases=False)
    print(f"{'algorithm':<10} {'variant':<8} {'edges':>12} {'seconds':>8} {'ns/edge':>8} {'cycles':>12}")
    for algorithm, iterations in (("pagerank", 2), ("bfs", None)):
        edges = 0
        for variant in ("mff", "plain"):
            start = time.perf_counter()
            row = measure(graph, algorithm, variant, gpu | {"max_iterations": iterations}, all_phases=False)
            seconds = time.perf_counter() - start
            edges = edges or row["counters"]["mff_words"]  # the plain GPU follows as many
            rate = 1e9 * seconds / edges
            print(f"{algorithm:<10} {variant:<8} {edges:>12,} {seconds:>8.2f} {rate:>8.0f} {row['cycles']:>12,}")


if __name__ == "__main__":
    main()
