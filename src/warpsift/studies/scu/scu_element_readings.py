"""What share of SSSP's elements filtering leaves (SCU paper, section 4.5: 22 %), under readings and assumptions.

    python -m warpsift.studies.scu.scu_element_readings --graphs cond,delaunay --variants "as modelled;weights 1 to 10"

The paper says neither which elements it counts, nor its weights, nor its delta, nor how long a filter remembers. Each
variant changes one of them for plain GPU and unit alike; each column counts in another way. Functional layer only, so
the paper's full sizes take minutes. docs/scu.md discusses the results.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from warpsift.algorithms.sssp.frontier import delta_of
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph, load_graph
from warpsift.run.execute import run_request
from warpsift.run.request import make_request
from warpsift.studies.markdown_rows import head, line, means, shares

Weights = Callable[[np.ndarray], np.ndarray]  # of the default weights, 1 to 64, so that both directions stay equal


@dataclass(frozen=True)
class Variant:
    """One assumption that differs from the default."""

    overrides: dict[str, str] = field(default_factory=dict)  # of the machine, for the unit
    weights: Weights | None = None
    delta_factor: float = 1.0


LIVING = {"scu.other_life": "persistent"}
LARGE = {"scu.sssp_filter_bytes": str(64 << 20)}  # an entry for every node of every graph of the paper
VARIANTS = {
    "as modelled": Variant(),
    "filters live": Variant(LIVING),
    "table holds all nodes": Variant(LARGE),
    "table holds all nodes, filters live": Variant(LARGE | LIVING),
    "weights 1 to 10": Variant(weights=lambda w: 1 + (w - 1) % 10),
    "weights 1 to 10, filters live": Variant(LIVING, lambda w: 1 + (w - 1) % 10),
    "weights all 1": Variant(weights=np.ones_like),
    "weights all 1, filters live": Variant(LIVING, np.ones_like),
    "weights floats in (0, 1]": Variant(weights=lambda w: (w / 64).astype(np.float32)),
    "delta 8 times": Variant(delta_factor=8),
    "delta 8 times, filters live": Variant(LIVING, delta_factor=8),
    "no far pile": Variant(delta_factor=1e6),
    "no far pile, filters live": Variant(LIVING, delta_factor=1e6),
    "delta an eighth, filters live": Variant(LIVING, delta_factor=1 / 8),
}


@dataclass(frozen=True)
class Read:
    """Elements that the GPU reads in a run."""

    nodes: int  # of node frontiers
    edges: int  # of edge frontiers that an expansion filled
    pile: int  # of far piles
    pile_kept: int  # of those, what a filtering unit gives back to be contracted (none elsewhere: all is contracted)

    def counted(self) -> dict[str, int]:
        return {
            "nodes, edges and kept far elements": self.nodes + self.edges + self.pile_kept,
            "nodes and edges": self.nodes + self.edges,
            "edges": self.edges,
            "nodes, edges and far piles": self.nodes + self.edges + self.pile + self.pile_kept,
        }


def read_in(graph: CsrGraph, gpu_name: str, unit: str, variant: Variant, seed: int) -> Read:
    weighted = graph if graph.weights is not None else graph.with_random_weights(seed)
    if variant.weights is not None:
        assert weighted.weights is not None
        weighted = replace(weighted, weights=variant.weights(weighted.weights))
    delta = delta_of(weighted, SsspOptions()) * variant.delta_factor
    asked = {"gpu": gpu_name, "unit": unit, "overrides": variant.overrides, "seed": seed, "delta": delta}
    request = make_request("sssp", graph.name, {**asked, "timed": False, "check": False})
    result = run_request(request, weighted)
    kept = int(result.notes.get("far_kept_elements", 0))
    edges = int(result.work["edges_touched"]) - kept
    return Read(int(result.work["nodes_processed"]), edges, int(result.notes["far_pile_elements"]), kept)


def table(gpu_name: str, graphs: list[str], names: list[str], seed: int) -> None:
    print(f"\nsssp, {gpu_name}: share of the plain GPU's elements that the enhanced unit leaves\n")
    heads = list(Read(0, 0, 0, 0).counted())
    print(head(["graph", "variant", *heads]), flush=True)
    sums: dict[str, list[list[float]]] = {}
    for name in graphs:
        graph = load_graph(name)
        plain: dict[tuple[Weights | None, float], Read] = {}
        for variant_name in names:
            variant = VARIANTS[variant_name]
            same = (variant.weights, variant.delta_factor)
            if same not in plain:
                plain[same] = read_in(graph, gpu_name, "none", variant, seed)
            before = plain[same].counted()
            after = read_in(graph, gpu_name, "scu", variant, seed).counted()
            left = [after[counted] / before[counted] for counted in heads]
            sums.setdefault(variant_name, []).append(left)
            print(line([name, variant_name, *shares(left)]), flush=True)
    for variant_name, rows in sums.items():
        print(line(["mean", variant_name, *shares(means(rows))]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", default="tx1")
    parser.add_argument("--graphs", default="cond,delaunay,ca,kron,human,msdoor")
    parser.add_argument("--variants", default=";".join(VARIANTS), help="names separated by ';' (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for gpu_name in chosen.gpus.split(","):
        table(gpu_name, chosen.graphs.split(","), chosen.variants.split(";"), chosen.seed)


if __name__ == "__main__":
    main()
