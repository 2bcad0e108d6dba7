"""Single-source shortest paths: the least sum of weights from a source to every node.

A graph without weights gets seeded integers from 1 to 64. Checked against SciPy's Dijkstra.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict
from warpsift.algorithms.answer_check import cheapest_arcs, compare
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.source_node import with_source
from warpsift.algorithms.sssp import frontier, vertex
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph, require_nonnegative_weights


def prepare(graph: CsrGraph, options: SsspOptions) -> tuple[CsrGraph, SsspOptions]:
    if graph.weights is None or options.random_weights:
        graph = graph.with_random_weights(options.seed)
    require_nonnegative_weights(graph, "sssp")
    return graph, replace(options, source=with_source(graph, options))


def check(graph: CsrGraph, outcome: Outcome, options: SsspOptions) -> Verdict:
    from scipy.sparse.csgraph import dijkstra

    distance = dijkstra(cheapest_arcs(graph), directed=True, indices=options.source)
    assert graph.weights is not None
    if graph.weights.dtype.kind == "i":
        return compare(outcome.values, np.where(np.isinf(distance), INFINITY, distance), "SciPy's Dijkstra")
    ours = np.where(outcome.values >= INFINITY, np.inf, outcome.values)
    close = np.isclose(ours, distance, rtol=1e-4)  # float32 sums along a path against float64
    return compare(np.where(close, 0, ours), np.where(close, 0, distance), "SciPy's Dijkstra to 1e-4")


STYLES = {"frontier": frontier.run, "vertex": vertex.run}
SSSP = Algorithm("sssp", "single-source shortest paths", STYLES, check, prepare, SsspOptions)
