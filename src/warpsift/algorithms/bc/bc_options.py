"""What a user may choose about betweenness centrality, and the sources that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from warpsift.algorithms.common import OptionError, Options, with_source
from warpsift.graph import CsrGraph

GAP_SOURCES = 4  # of a trial in the GAP Benchmark Suite: benchmark/bench.mk runs `bc -i4`


@dataclass(frozen=True)
class BcOptions(Options):
    sources: int = GAP_SOURCES  # seeded sources; as many as there are nodes: exact betweenness
    source: int | None = None  # this one source instead of seeded ones

    @classmethod
    def of(cls, options: Options) -> BcOptions:
        """These options, or plain ones with the defaults of what they lack."""
        if isinstance(options, cls):
            return options
        return cls(**{f.name: getattr(options, f.name) for f in fields(options)})


def sources_of(graph: CsrGraph, options: BcOptions) -> list[int]:
    """The sources, in the order in which they are run.

    Only nodes with an out-edge, since no path starts at another. Those of the largest weakly connected component come
    first, so that few sources still reach most of the graph.
    """
    from scipy.sparse.csgraph import connected_components

    if options.sources < 1:
        raise OptionError(f"sources must be at least 1, not {options.sources}")
    if options.source is not None:
        return [with_source(graph, options)]
    if graph.edges == 0:
        return []
    _, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    starts = np.random.default_rng(options.seed).permutation(np.flatnonzero(graph.out_degrees > 0))
    outside = label[starts] != np.bincount(label).argmax()
    return [int(node) for node in starts[np.argsort(outside, kind="stable")][: options.sources]]
