"""Breadth-first search: the number of hops from a source to every node.

Checked against SciPy's traversal (scipy.sparse.csgraph.breadth_first_order), whose predecessor tree gives the levels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict
from warpsift.algorithms.answer_check import compare
from warpsift.algorithms.bfs import direction, frontier, vertex
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.source_node import with_source
from warpsift.graph import CsrGraph


def prepare(graph: CsrGraph, options: BfsOptions) -> tuple[CsrGraph, BfsOptions]:
    return graph, replace(options, source=with_source(graph, options))


def check(graph: CsrGraph, outcome: Outcome, options: BfsOptions) -> Verdict:
    from scipy.sparse.csgraph import breadth_first_order

    order, predecessor = breadth_first_order(graph.to_scipy_pattern(), options.source, directed=True)
    levels = np.full(graph.nodes, INFINITY, np.int64)
    levels[options.source] = 0
    for node in order[1:].tolist():  # in order of discovery, so a predecessor's level is known
        levels[node] = levels[predecessor[node]] + 1
    return compare(outcome.values, levels, "SciPy's breadth-first order")


STYLES = {"frontier": frontier.run, "vertex": vertex.run, "direction": direction.run}
BFS = Algorithm("bfs", "breadth-first search", STYLES, check, prepare, BfsOptions)
