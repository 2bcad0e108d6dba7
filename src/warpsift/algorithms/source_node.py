"""The node that a traversal starts from: the user's, or one chosen by seed."""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.options import OptionError
from warpsift.algorithms.style_options import SourceOptions
from warpsift.graph import CsrGraph


def seeded_source(graph: CsrGraph, seed: int) -> int:
    """A node of the largest weakly connected component that has an out-edge, chosen by seed."""
    from scipy.sparse.csgraph import connected_components

    if graph.nodes == 0:
        raise OptionError("the graph has no nodes, so there is no source to start from")
    _, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    candidates = np.flatnonzero((label == np.bincount(label).argmax()) & (graph.out_degrees > 0))
    if candidates.size == 0:
        return 0
    return int(np.random.default_rng(seed).choice(candidates))


def with_source(graph: CsrGraph, options: SourceOptions) -> int:
    """The source the user named, or a seeded one."""
    if options.source is None:
        return seeded_source(graph, options.seed)
    if not 0 <= options.source < graph.nodes:
        raise OptionError(f"source {options.source} is not a node: the graph has nodes 0 to {graph.nodes - 1}")
    return options.source
