"""Triangle counting: how many sets of three nodes are joined by three edges.

The GAP Benchmark Suite's sixth kernel (Beamer, Asanović and Patterson, 2015): edges are undirected, each triangle is
found once because nodes are ordered (`ordering`), and common neighbours come from intersecting two sorted rows. The
styles differ in how: `merge` walks both rows with one thread, `binary` searches one in the other with a warp. GAP
refuses directed graphs; here, as with weakly connected components and in the counts that SNAP publishes, an arc counts
as an undirected edge. Self-loops and parallel arcs make no triangles. The answer is the number of triangles or, with
`per_node`, the number through each node.

Checked against SciPy: of A @ A, the paths of length two, those that A closes.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict
from warpsift.algorithms.answer_check import compare
from warpsift.algorithms.tc import binary, merge
from warpsift.algorithms.tc.tc_options import TcOptions
from warpsift.graph import CsrGraph

MOST_PATHS = 5_000_000  # of length two that the check holds at once: about 100 MB


def prepare(graph: CsrGraph, options: TcOptions) -> tuple[CsrGraph, TcOptions]:
    return graph, options


def triangles_by_product(graph: CsrGraph) -> np.ndarray:
    """The triangles through each node: row sums of (A @ A) * A, some rows of A at a time; each comes twice."""
    import scipy.sparse

    shape = (graph.nodes, graph.nodes)
    arcs = scipy.sparse.csr_array((np.ones(graph.edges, np.int8), (graph.sources, graph.targets)), shape=shape)
    matrix = ((arcs + arcs.T) != 0).astype(np.int64)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    degrees = matrix @ np.ones(graph.nodes, np.int64)
    before = np.cumsum(np.minimum(matrix @ degrees, graph.nodes))  # paths of length two that rows up to this one need
    closed = np.zeros(graph.nodes, np.int64)
    first = 0
    while first < graph.nodes:
        limit = MOST_PATHS + (before[first - 1] if first else 0)
        last = max(first + 1, int(np.searchsorted(before, limit, "right")))
        some = matrix[first:last]
        closed[first:last] = (some @ matrix).multiply(some).sum(axis=1)
        first = last
    return closed // 2


def check(graph: CsrGraph, outcome: Outcome, options: TcOptions) -> Verdict:
    oracle = "SciPy's product of adjacency matrices"
    through = triangles_by_product(graph)
    if options.per_node:
        return compare(outcome.values, through, oracle)
    ours, theirs = int(outcome.values[0]), int(through.sum()) // 3
    if ours == theirs:
        return Verdict(True, f"equal to {oracle}")
    return Verdict(False, f"{ours} triangles, {oracle} says {theirs}")


TC = Algorithm("tc", "triangle counting", {"merge": merge.run, "binary": binary.run}, check, prepare, TcOptions)
