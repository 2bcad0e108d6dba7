"""PageRank: rank(v) = alpha + (1 - alpha) * sum of rank(u) / outdegree(u) over the arcs u -> v.

This is the formula of both papers (ranks average to 1 when no node dangles); `normalize` gives the (1 - d) / N form
and `dangling` spreads the rank of nodes without out-edges over all. Device arithmetic is float32. Checked against a
float64 power iteration with SciPy's sparse product, of as many iterations.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict
from warpsift.algorithms.pagerank import frontier, vertex
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import CsrGraph

RELATIVE_TOLERANCE = 1e-3  # float32 sums of up to 10^5 terms against float64


def prepare(graph: CsrGraph, options: PagerankOptions) -> tuple[CsrGraph, PagerankOptions]:
    return graph, options


def check(graph: CsrGraph, outcome: Outcome, options: PagerankOptions) -> Verdict:
    import scipy.sparse

    shape = (graph.nodes, graph.nodes)
    pattern = scipy.sparse.csr_array((np.ones(graph.edges), graph.targets, graph.offsets), shape=shape)
    transposed = pattern.T.tocsr()
    degree = np.maximum(graph.out_degrees, 1).astype(np.float64)
    sinks = graph.out_degrees == 0
    scale = 1.0 / max(graph.nodes, 1) if options.normalize else 1.0
    rank = np.full(graph.nodes, scale)
    for _ in range(outcome.iterations):
        spread = rank[sinks].sum() / graph.nodes if options.dangling else 0.0
        rank = options.damping * scale + (1 - options.damping) * (transposed @ (rank / degree) + spread)
    wrong = np.flatnonzero(~np.isclose(outcome.values, rank, rtol=RELATIVE_TOLERANCE, atol=0))
    if wrong.size == 0:
        return Verdict(True, f"within {RELATIVE_TOLERANCE} of SciPy's power iteration in float64")
    node = int(wrong[0])
    return Verdict(False, f"node {node}: {outcome.values[node]}, SciPy's power iteration says {rank[node]}")


STYLES = {"frontier": frontier.run, "vertex": vertex.run}
PAGERANK = Algorithm("pagerank", "PageRank", STYLES, check, prepare, PagerankOptions, checks_partial=True)
