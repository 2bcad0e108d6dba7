"""How much of a graph can be reached from a node, and a seeded node from which that is a large part.

A node picked anywhere in a directed graph often reaches almost nothing: web pages without links back, papers that
cite nobody. A traversal from there measures an empty loop. In an undirected graph every node of a component reaches
all of it, so there the first pick stays.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from warpsift.graph import CsrGraph

LARGE_SHARE = 0.5  # of the component: a first pick that reaches so much is kept
TRIES = 16  # further picks, for graphs without a large strongly connected component


def _pattern(graph: CsrGraph) -> csr_array:
    """The arcs without weights: SciPy's traversals look at entries, and a weight of 0 is still an arc.

    Parallel arcs are merged: on some graphs with such, SciPy 1.17's search for strong components never ends.
    """
    ones = np.ones(graph.edges)
    pattern = csr_array((ones, graph.targets, graph.offsets), shape=(graph.nodes, graph.nodes))
    if not pattern.has_canonical_format:
        pattern = pattern.copy()  # the graph's own arrays stay as they are
        pattern.sum_duplicates()
    return pattern


def _reached(pattern: csr_array, source: int) -> np.ndarray:
    return breadth_first_order(pattern, source, directed=True, return_predecessors=False)


def reach(graph: CsrGraph, source: int) -> tuple[int, int]:
    """Nodes that can be reached from `source`, itself included, and the arcs that leave them."""
    nodes = _reached(_pattern(graph), source)
    return int(nodes.size), int(graph.out_degrees[nodes].sum())


def reaching_source(graph: CsrGraph, seed: int) -> int:
    """A node chosen by seed that reaches a large part of the graph, as far as there is one.

    The first pick is any node of the largest weakly connected component that has an out-edge. If it reaches less than
    half of the component, a node of the largest strongly connected component (all of whose nodes reach the same) and
    `TRIES` other picks are compared with it, and the one that reaches most is taken.
    """
    pattern = _pattern(graph)
    _, label = connected_components(pattern, directed=True, connection="weak")
    component = label == np.bincount(label).argmax()
    candidates = np.flatnonzero(component & (graph.out_degrees > 0))
    if candidates.size == 0:
        return 0
    rng = np.random.default_rng(seed)
    first = int(rng.choice(candidates))
    if _reached(pattern, first).size >= LARGE_SHARE * np.count_nonzero(component):
        return first
    _, strong = connected_components(pattern, directed=True, connection="strong")
    core = np.flatnonzero(strong == np.bincount(strong).argmax())
    others = rng.choice(candidates, min(TRIES, candidates.size), replace=False)
    picks = [first, int(rng.choice(core)), *map(int, others)]
    return max(picks, key=lambda node: _reached(pattern, node).size)  # of equals the first
