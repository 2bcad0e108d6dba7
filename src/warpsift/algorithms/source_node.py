"""The node that a traversal starts from: the user's, or one chosen by seed."""

from __future__ import annotations

from warpsift.algorithms.options import OptionError
from warpsift.algorithms.style_options import SourceOptions
from warpsift.graph import CsrGraph


def seeded_source(graph: CsrGraph, seed: int) -> int:
    """A node that reaches a large part of the graph, chosen by seed."""
    from warpsift.algorithms.reach import reaching_source

    if graph.nodes == 0:
        raise OptionError("the graph has no nodes, so there is no source to start from")
    return reaching_source(graph, seed)


def with_source(graph: CsrGraph, options: SourceOptions) -> int:
    """The source the user named, or a seeded one."""
    if options.source is None:
        return seeded_source(graph, options.seed)
    if not 0 <= options.source < graph.nodes:
        raise OptionError(f"source {options.source} is not a node: the graph has nodes 0 to {graph.nodes - 1}")
    return options.source
