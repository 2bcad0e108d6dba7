"""Betweenness centrality: how many shortest paths, as a share of those between two nodes, lead through a node.

    score(v) = sum over sources s and targets t of paths(s, t through v) / paths(s, t),   v not s, not t

Brandes, "A Faster Algorithm for Betweenness Centrality", 2001: for each source, BFS that counts shortest paths, then
dependencies from the deepest level back. As in the GAP Benchmark Suite (Beamer, Asanović and Patterson, 2015) a few
seeded sources give an estimate; all nodes as sources give the exact value. Arcs have a direction; an undirected graph
holds each edge as two, so its scores are twice those of a count by unordered pairs. Scores are not normalised (GAP
divides them by the largest). Parallel arcs are different paths; self-loops are on no shortest path.

Checked against Brandes in float64 with SciPy's sparse products, one product a level (`brandes_in_float64`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict
from warpsift.algorithms.bc import frontier, vertex
from warpsift.algorithms.bc.bc_options import BcOptions, sources_of
from warpsift.graph import CsrGraph

RELATIVE_TOLERANCE = 1e-3  # float32 sums of up to 10^5 terms against float64


def prepare(graph: CsrGraph, options: BcOptions) -> tuple[CsrGraph, BcOptions]:
    sources_of(graph, options)  # rejects a source that is no node
    return graph, options


def brandes_in_float64(graph: CsrGraph, sources: Sequence[int]) -> np.ndarray:
    """The scores from these sources. A level's rows of the matrix are cut out, so all levels together read it once."""
    import scipy.sparse

    shape = (graph.nodes, graph.nodes)
    matrix = scipy.sparse.csr_array((np.ones(graph.edges), graph.targets.copy(), graph.offsets.copy()), shape=shape)
    scores = np.zeros(graph.nodes)
    for source in sources:
        paths = np.zeros(graph.nodes)
        paths[source] = 1
        levels = [np.array([source])]
        while levels[-1].size:
            reached = matrix[levels[-1]].T @ paths[levels[-1]]
            reached[paths > 0] = 0
            levels.append(np.flatnonzero(reached))
            paths += reached
        dependency = np.zeros(graph.nodes)
        per_path = np.zeros(graph.nodes)  # (1 + dependency) / paths, of one level only
        for parents, children in zip(levels[-3:0:-1], levels[-2:1:-1], strict=True):
            per_path[children] = (1 + dependency[children]) / paths[children]
            dependency[parents] = paths[parents] * (matrix[parents] @ per_path)
            per_path[children] = 0
        scores += dependency
    return scores


def check(graph: CsrGraph, outcome: Outcome, options: BcOptions) -> Verdict:
    scores = brandes_in_float64(graph, sources_of(graph, options))
    oracle = "Brandes with SciPy's sparse products in float64"
    wrong = np.flatnonzero(~np.isclose(outcome.values, scores, rtol=RELATIVE_TOLERANCE, atol=0))
    if wrong.size == 0:
        return Verdict(True, f"within {RELATIVE_TOLERANCE} of {oracle}")
    node = int(wrong[0])
    reason = f"node {node}: {outcome.values[node]}, {oracle} says {scores[node]} ({wrong.size} nodes differ)"
    return Verdict(False, reason)


STYLES = {"frontier": frontier.run, "vertex": vertex.run}
BC = Algorithm("bc", "betweenness centrality", STYLES, check, prepare, BcOptions)
