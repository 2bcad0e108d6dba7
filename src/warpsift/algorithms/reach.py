"""How much of a graph can be reached from a node, and a seeded node from which that is a large part.

A node picked anywhere in a directed graph often reaches almost nothing: web pages without links back, papers that
cite nobody. A traversal from there measures an empty loop. In an undirected graph every node of a component reaches
all of it, so there the first pick stays.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from warpsift.graph import CsrGraph

LARGE_SHARE = 0.5  # of the component: a first pick that reaches so much is kept
TRIES = 16  # further picks, for graphs without a large strongly connected component


@njit(cache=True, error_model="numpy")
def weak_components(offsets, targets):
    """Of every node the least node of its weakly connected component.

    Union-find, with paths halved on the way. SciPy's `connected_components` copies the arcs: with kron-21,
    a graph of 0.75 GB, the process grew to 6.9 GB.
    """
    root = np.arange(offsets.size - 1)
    for node in range(root.size):
        mine = root[node]
        while root[mine] != mine:
            root[mine] = root[root[mine]]
            mine = root[mine]
        for arc in range(offsets[node], offsets[node + 1]):
            other = np.int64(targets[arc])
            while root[other] != other:
                root[other] = root[root[other]]
                other = root[other]
            if other < mine:
                root[mine] = other
                mine = other
            elif mine < other:
                root[other] = mine
    for node in range(root.size):
        root[node] = root[root[node]]  # a root is less than its nodes, so that it is settled before them
    return root


@njit(cache=True, error_model="numpy")
def _reached(offsets, targets, source):
    """The nodes that can be reached, in order of discovery."""
    seen = np.zeros(offsets.size - 1, np.bool_)
    queue = np.empty(offsets.size - 1, np.int64)
    queue[0] = source
    seen[source] = True
    known = 1
    at = 0
    while at < known:
        node = queue[at]
        at += 1
        for arc in range(offsets[node], offsets[node + 1]):
            target = targets[arc]
            if not seen[target]:
                seen[target] = True
                queue[known] = target
                known += 1
    return queue[:known]


def reach(graph: CsrGraph, source: int) -> tuple[int, int]:
    """Nodes that can be reached from `source`, itself included, and the arcs that leave them."""
    nodes = _reached(graph.offsets, graph.targets, source)
    return int(nodes.size), int(graph.out_degrees[nodes].sum())


def _strong_components(graph: CsrGraph) -> np.ndarray:
    """Labels of the strongly connected components.

    Parallel arcs are merged: on some graphs with such, SciPy 1.17's search for strong components never ends.
    """
    pattern = csr_array((np.ones(graph.edges), graph.targets, graph.offsets), shape=(graph.nodes, graph.nodes))
    if not pattern.has_canonical_format:
        pattern = pattern.copy()  # the graph's own arrays stay as they are
        pattern.sum_duplicates()
    return connected_components(pattern, directed=True, connection="strong")[1]


def reaching_source(graph: CsrGraph, seed: int) -> int:
    """A node chosen by seed that reaches a large part of the graph, as far as there is one.

    The first pick is any node of the largest weakly connected component that has an out-edge. If it reaches less than
    half of the component, a node of the largest strongly connected component (all of whose nodes reach the same) and
    `TRIES` other picks are compared with it, and the one that reaches most is taken.
    """
    label = weak_components(graph.offsets, graph.targets)
    component = label == np.bincount(label).argmax()
    candidates = np.flatnonzero(component & (graph.out_degrees > 0))
    if candidates.size == 0:
        return 0
    rng = np.random.default_rng(seed)
    first = int(rng.choice(candidates))
    if reach(graph, first)[0] >= LARGE_SHARE * np.count_nonzero(component):
        return first
    strong = _strong_components(graph)
    core = np.flatnonzero(strong == np.bincount(strong).argmax())
    others = rng.choice(candidates, min(TRIES, candidates.size), replace=False)
    picks = [first, int(rng.choice(core)), *map(int, others)]
    return max(picks, key=lambda node: reach(graph, node)[0])  # of equals the first
