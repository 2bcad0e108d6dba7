"""How much work filtering takes from the GPU (SCU paper, sections 4.4, 4.5, 6.3), under several readings.

    python -m warpsift.studies.scu.scu_work_left --graphs cond,delaunay@1/8 --algorithms bfs,sssp

Functional layer only: counts need no timing, so the papers' full sizes take minutes. Elements are those of the node
and edge frontiers that the GPU reads. The paper says "of the original workload"; that may be the plain GPU's or the
basic unit's, so both are printed, and the tables may be cleared per operation or live as long as the run.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from warpsift.graph import CsrGraph, load_graph
from warpsift.run.comparison import frontier_elements
from warpsift.run.execute import run_request
from warpsift.run.request import make_request
from warpsift.studies.markdown_rows import head, line, means, shares

LIVES = {
    "as modelled": {},
    "every filter cleared": {"scu.expansion_life": "clear"},
    "every filter lives as long as the run": {"scu.other_life": "persistent"},
}


@dataclass(frozen=True)
class Done:
    """What the GPU did in a run."""

    elements: int
    instructions: int


def work_of(graph: CsrGraph, algorithm: str, gpu_name: str, unit: str, overrides: dict[str, str], seed: int) -> Done:
    asked = {"gpu": gpu_name, "unit": unit, "overrides": overrides, "seed": seed, "timed": False, "check": False}
    result = run_request(make_request(algorithm, graph.name, asked), graph)
    return Done(frontier_elements(result), result.warp_instructions)


def table(algorithm: str, gpu_name: str, graphs: list[str], seed: int) -> None:
    print(f"\n{algorithm}, {gpu_name}\n")
    heads = ["graph", "tables", "elements left of plain", "of basic", "instructions left of plain", "of basic"]
    print(head(heads), flush=True)
    sums: dict[str, list[tuple[float, ...]]] = {life: [] for life in LIVES}
    for name in graphs:
        graph = load_graph(name)
        plain = work_of(graph, algorithm, gpu_name, "none", {}, seed)
        basic = work_of(graph, algorithm, gpu_name, "scu-basic", {}, seed)
        for life, overrides in LIVES.items():
            if life != "as modelled" and (life == "every filter cleared") != (algorithm == "bfs"):
                continue  # SSSP's filters are cleared as modelled, BFS's expansion filter is not
            mine = work_of(graph, algorithm, gpu_name, "scu", overrides, seed)
            left = (
                mine.elements / plain.elements,
                mine.elements / basic.elements,
                mine.instructions / plain.instructions,
                mine.instructions / basic.instructions,
            )
            sums[life].append(left)
            print(line([name, life, *shares(left)]), flush=True)
    for life, rows in sums.items():
        if rows:
            print(line(["mean", life, *shares(means(rows))]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", default="tx1,gtx980")
    parser.add_argument("--graphs", default="cond,delaunay@1/8,ca@1/8,kron@1/8,human@1/8,msdoor@1/8")
    parser.add_argument("--algorithms", default="bfs,sssp")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for algorithm in chosen.algorithms.split(","):
        for gpu_name in chosen.gpus.split(","):
            table(algorithm, gpu_name, chosen.graphs.split(","), chosen.seed)


if __name__ == "__main__":
    main()
