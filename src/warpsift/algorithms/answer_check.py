"""What the independent checks of the algorithms share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpsift.algorithms.algorithm import Verdict
from warpsift.graph import CsrGraph

if TYPE_CHECKING:
    import scipy.sparse


def cheapest_arcs(graph: CsrGraph) -> scipy.sparse.csr_array:
    """The weights as a SciPy matrix with the cheapest of parallel arcs.

    SciPy's Dijkstra gives wrong distances when a row lists a column twice (seen with 1.17.1, on uniform random arcs).
    """
    import scipy.sparse

    assert graph.weights is not None
    shape = (graph.nodes, graph.nodes)
    if _are_sorted_and_single(graph):
        return scipy.sparse.csr_array((graph.weights, graph.targets, graph.offsets), shape=shape)
    order = np.lexsort((graph.weights, graph.targets, graph.sources))
    source, target = graph.sources[order], graph.targets[order]
    first = np.ones(order.size, bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    entries = (graph.weights[order][first], (source[first], target[first]))
    return scipy.sparse.coo_array(entries, shape=shape).tocsr()


def _are_sorted_and_single(graph: CsrGraph) -> bool:
    """Whether every row lists its targets in order and none twice."""
    rises = np.ones(graph.edges + 1, bool)
    np.greater(graph.targets[1:], graph.targets[:-1], out=rises[1:-1])
    rises[graph.offsets] = True  # the first of a row
    return bool(rises.all())


def compare(ours: np.ndarray, theirs: np.ndarray, oracle: str) -> Verdict:
    """Equal, or the first node at which they differ."""
    wrong = np.flatnonzero(ours != theirs)
    if wrong.size == 0:
        return Verdict(True, f"equal to {oracle}")
    node = int(wrong[0])
    return Verdict(False, f"node {node}: {ours[node]}, {oracle} says {theirs[node]} ({wrong.size} nodes differ)")
