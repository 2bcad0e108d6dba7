"""Vertex orders: the same graph under other node numbers, to tell locality from structure.

`GRAPH~degree` numbers nodes by falling out-degree, so that hubs share cache lines; `GRAPH~random` by a seeded shuffle,
which destroys whatever locality the numbering had.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from warpsift.graph.csr import CsrGraph

SEPARATOR = "~"


def _by_degree(graph: CsrGraph, seed: int) -> np.ndarray:
    return np.argsort(-graph.out_degrees, kind="stable")


def _random(graph: CsrGraph, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(graph.nodes)


ORDERS: dict[str, Callable[[CsrGraph, int], np.ndarray]] = {"degree": _by_degree, "random": _random}


def reorder(graph: CsrGraph, order: str, seed: int = 1) -> CsrGraph:
    """The graph with nodes renumbered; `original_ids` says which node was which."""
    old_of_new = ORDERS[order](graph, seed)
    new_of_old = np.empty(graph.nodes, np.int64)
    new_of_old[old_of_new] = np.arange(graph.nodes)
    other = CsrGraph.from_edges(new_of_old[graph.sources], new_of_old[graph.targets], graph.weights, nodes=graph.nodes)
    ids = old_of_new if graph.original_ids is None else graph.original_ids[old_of_new]
    about = {**graph.provenance, "order": order}
    name = f"{graph.name}{SEPARATOR}{order}"
    return replace(other, name=name, original_ids=ids, stand_in_for=graph.stand_in_for, provenance=about)
