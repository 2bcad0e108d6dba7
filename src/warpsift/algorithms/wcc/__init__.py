"""Weakly connected components: every node gets the smallest node number of its component.

Edges count in both directions. Checked against scipy.sparse.csgraph.connected_components.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict
from warpsift.algorithms.answer_check import compare
from warpsift.algorithms.wcc import frontier, jumping, vertex
from warpsift.algorithms.wcc.wcc_options import WccOptions
from warpsift.graph import CsrGraph


def prepare(graph: CsrGraph, options: WccOptions) -> tuple[CsrGraph, WccOptions]:
    return graph, options


def check(graph: CsrGraph, outcome: Outcome, options: WccOptions) -> Verdict:
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    smallest = np.full(count, graph.nodes)
    np.minimum.at(smallest, label, np.arange(graph.nodes))
    return compare(outcome.values, smallest[label], "SciPy's connected components")


STYLES = {"frontier": frontier.run, "vertex": vertex.run, "jumping": jumping.run}
WCC = Algorithm("wcc", "weakly connected components", STYLES, check, prepare, WccOptions)
