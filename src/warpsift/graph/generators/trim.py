"""Bring a random graph to a wanted number of arcs by dropping a random choice of those it has too many of."""

from __future__ import annotations

import numpy as np

from warpsift.graph.build import csr_arrays
from warpsift.graph.csr import CsrGraph


def undirected_graph(
    one: np.ndarray, other: np.ndarray, nodes: int, edges: int | None, rng: np.random.Generator
) -> CsrGraph:
    """The simple undirected graph of these edges, or of `edges` of them if there are more."""
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    offsets, targets, _ = csr_arrays(lower, upper, None, nodes, merge_duplicates=True, drop_self_loops=True)
    sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(offsets))
    if edges is not None and targets.size > edges:
        kept = _choice(targets.size, edges, rng)
        sources, targets = sources[kept], targets[kept]
    return CsrGraph.from_edges(np.append(sources, targets), np.append(targets, sources), nodes=nodes)


def directed_graph(
    sources: np.ndarray, targets: np.ndarray, nodes: int, arcs: int | None, rng: np.random.Generator
) -> CsrGraph:
    """The simple directed graph of these arcs, or of `arcs` of them if there are more."""
    offsets, kept_targets, _ = csr_arrays(sources, targets, None, nodes, merge_duplicates=True, drop_self_loops=True)
    kept_sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(offsets))
    if arcs is not None and kept_targets.size > arcs:
        kept = _choice(kept_targets.size, arcs, rng)
        kept_sources, kept_targets = kept_sources[kept], kept_targets[kept]
    return CsrGraph.from_edges(kept_sources, kept_targets, nodes=nodes)


def _choice(available: int, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """`wanted` distinct positions of `available`, in order, from few random bytes."""
    draw = rng.random(available, dtype=np.float32)
    bound = np.partition(draw, wanted - 1)[wanted - 1] if wanted else -1.0
    return np.flatnonzero(draw <= bound)[:wanted]
