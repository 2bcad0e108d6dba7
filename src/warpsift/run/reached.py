"""What a traversal reached and which weights it had: said in the result, since a fast run may have done nothing."""

from __future__ import annotations

from typing import Any

from warpsift.algorithms.reach import reach
from warpsift.graph import CsrGraph
from warpsift.run.record import RunResult

FEW = 0.01  # a share of the nodes under which a run says little about the graph


def add_reach(result: RunResult, graph: CsrGraph, options: Any) -> None:
    """Nodes and arcs that the source reaches; all of them for algorithms that start everywhere."""
    source = getattr(options, "source", None)
    nodes, edges = (graph.nodes, graph.edges) if source is None else reach(graph, source)
    if getattr(options, "max_iterations", None) is not None:  # stopped before it had been everywhere
        edges = min(edges, int(result.work["edges_touched"])) if source is not None else edges
    result.nodes_reached, result.edges_reached = nodes, edges
    if source is not None and nodes < FEW * graph.nodes:
        result.notes["warning"] = (
            f"source {source} reaches {nodes} of {graph.nodes} nodes, so times and rates say little about this graph; "
            "give another source, or none: then one that reaches more is chosen"
        )


def weights_note(given: CsrGraph, prepared: CsrGraph, seed: int) -> str | None:
    """Which weights an algorithm got, where they are not the graph's own."""
    if prepared.weights is given.weights or prepared.weights is None:
        return None
    why = "the graph has none" if given.weights is None else "instead of the graph's own"
    return f"random integers from 1 to 64, seed {seed} ({why})"
