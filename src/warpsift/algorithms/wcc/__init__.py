"""Weakly connected components: every node gets the smallest node number of its component.

Edges count in both directions. Checked against scipy.sparse.csgraph.connected_components.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.common import Algorithm, Options, Outcome, Verdict, compare
from warpsift.algorithms.wcc import frontier, vertex
from warpsift.graph import CsrGraph


def prepare(graph: CsrGraph, options: Options) -> tuple[CsrGraph, Options]:
    return graph, options


def check(graph: CsrGraph, outcome: Outcome, options: Options) -> Verdict:
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    smallest = np.full(count, graph.nodes)
    np.minimum.at(smallest, label, np.arange(graph.nodes))
    return compare(outcome.values, smallest[label], "SciPy's connected components")


WCC = Algorithm("wcc", "weakly connected components", {"frontier": frontier.run, "vertex": vertex.run}, check, prepare)
