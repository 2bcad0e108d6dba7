"""What a user may choose about betweenness centrality, and the sources that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpsift.algorithms.options import option
from warpsift.algorithms.source_node import with_source
from warpsift.algorithms.style_options import SourceOptions, VertexOptions
from warpsift.graph import CsrGraph

GAP_SOURCES = 4  # of a trial in the GAP Benchmark Suite: benchmark/bench.mk runs `bc -i4`


@dataclass(frozen=True, kw_only=True)
class BcOptions(SourceOptions, VertexOptions):
    sources: int = option(
        GAP_SOURCES, "Seeded sources; with as many as there are nodes, betweenness is exact.", minimum=1
    )
    source: int | None = option(None, "This one source instead of seeded ones.")


def sources_of(graph: CsrGraph, options: BcOptions) -> list[int]:
    """The sources, in the order in which they are run.

    Only nodes with an out-edge, since no path starts at another. Those of the largest weakly connected component come
    first, so that few sources still reach most of the graph.
    """
    from scipy.sparse.csgraph import connected_components

    if options.source is not None:
        return [with_source(graph, options)]
    if graph.edges == 0:
        return []
    _, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    starts = np.random.default_rng(options.seed).permutation(np.flatnonzero(graph.out_degrees > 0))
    outside = label[starts] != np.bincount(label).argmax()
    return [int(node) for node in starts[np.argsort(outside, kind="stable")][: options.sources]]
