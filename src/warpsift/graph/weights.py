"""Arc weights: seeded ones for graphs that have none, and the check that shortest paths need.

The papers leave the weights open; here they are integers 1 to 64. Each is a hash of the seed and the arc's ends, so
it depends neither on the order of the arcs nor on other arcs, and an arc weighs as much as its reverse.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import GraphError

MAX_RANDOM_WEIGHT = 64
ARCS_AT_A_TIME = 1 << 16  # what is made in between stays in the cache


def random_weights(graph: CsrGraph, seed: int = 1, *, symmetric: bool = True) -> np.ndarray:
    """Int32 weights 1 to 64, one per arc."""
    weights = np.empty(graph.edges, np.int32)
    salt = _mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64))
    sources = graph.sources
    for first in range(0, graph.edges, ARCS_AT_A_TIME):
        part = slice(first, first + ARCS_AT_A_TIME)
        low, high = sources[part].astype(np.uint64), graph.targets[part].astype(np.uint64)
        if symmetric:
            low, high = np.minimum(low, high), np.maximum(low, high)
        hashed = _mix((low << np.uint64(32) | high) ^ salt)
        weights[part] = 1 + (hashed >> np.uint64(32)) % np.uint64(MAX_RANDOM_WEIGHT)
    return weights


def _mix(values: np.ndarray) -> np.ndarray:
    """SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every output bit depends on every input bit."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def require_nonnegative_weights(graph: CsrGraph, algorithm: str) -> None:
    """Raise unless every weight is a finite number from 0 up, naming the first arc that is not."""
    if graph.weights is None:
        return
    bad = graph.weights < 0
    if graph.weights.dtype.kind == "f":
        bad |= ~np.isfinite(graph.weights)
    if not bad.any():
        return
    arc = int(np.argmax(bad))
    ids = graph.original_ids if graph.original_ids is not None else np.arange(graph.nodes)
    ends = f"{ids[graph.sources[arc]]} -> {ids[graph.targets[arc]]}"
    raise GraphError(
        f"graph {graph.name!r}: arc {ends} has weight {graph.weights[arc]:g}; {algorithm} needs finite weights "
        f"from 0 up ({int(bad.sum())} of {graph.edges} arcs have others)"
    )
