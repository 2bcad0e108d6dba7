"""Recursive-matrix graphs (R-MAT, Kronecker) and their flat limit, the uniform random graph.

Each arc falls into one quadrant of the adjacency matrix per bit of its ends, with probabilities A, B, C and 1-A-B-C
(Chakrabarti, Zhan, Faloutsos, SDM 2004).
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.build import csr_arrays
from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import GraphError

GRAPH500 = (0.57, 0.19, 0.19)  # A, B, C of the Graph 500 benchmark, section "Generating the edge list"
RMAT = (0.45, 0.15, 0.15)  # A, B, C of the GTgraph generator's default
KRON_EDGE_FACTOR = 48  # of the DIMACS challenge's kron_g500-logn graphs, SCU paper table 5
PIECE = 1 << 20  # arcs that are drawn at a time: what lies beside the arcs stays in the host's cache
EDGE_FACTOR = 16  # Graph 500's and GAP's default


def rmat_arcs(
    scale: int, arcs: int, quadrants: tuple[float, float, float], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets of `arcs` independent arcs over 2^scale nodes."""
    a, b, c = quadrants
    if min(a, b, c) < 0 or a + b + c > 1:
        raise GraphError(f"quadrants A, B, C = {a}, {b}, {c}; they must be from 0 up with a sum of at most 1")
    sources = np.zeros(arcs, np.int32)
    targets = np.zeros(arcs, np.int32)
    for _ in range(scale):
        for first in range(0, arcs, PIECE):
            part = slice(first, min(first + PIECE, arcs))
            draw = rng.random(part.stop - first, dtype=np.float32)
            lower = draw >= a + b
            right = ((draw >= a) & ~lower) | (draw >= a + b + c)
            sources[part] = sources[part] << 1 | lower
            targets[part] = targets[part] << 1 | right
    return sources, targets


def rmat(
    scale: int,
    edge_factor: int = EDGE_FACTOR,
    seed: int = 1,
    quadrants: tuple[float, float, float] = RMAT,
) -> CsrGraph:
    """A directed R-MAT graph: 2^scale nodes, edge_factor times as many arcs drawn, parallel ones merged."""
    rng = np.random.default_rng(seed)
    sources, targets = rmat_arcs(scale, edge_factor << scale, quadrants, rng)
    arrays = csr_arrays(sources, targets, None, 1 << scale, merge_duplicates=True, drop_self_loops=True)
    return CsrGraph(*arrays)


def kron(
    scale: int,
    edge_factor: int = KRON_EDGE_FACTOR,
    seed: int = 1,
    quadrants: tuple[float, float, float] = GRAPH500,
) -> CsrGraph:
    """An undirected Graph 500 Kronecker graph: node numbers shuffled, loops dropped, duplicates merged."""
    rng = np.random.default_rng(seed)
    ends = list(rmat_arcs(scale, edge_factor << scale, quadrants, rng))
    shuffled = rng.permutation(1 << scale).astype(np.int32)
    for end in range(2):
        ends[end] = shuffled[ends[end]]
    return _undirected(ends, 1 << scale)


def uniform(scale: int, edge_factor: int = EDGE_FACTOR, seed: int = 1) -> CsrGraph:
    """An undirected graph of edge_factor * 2^scale edges with uniform ends (GAP's `-u`), duplicates merged."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 1 << scale, (2, edge_factor << scale), dtype=np.int32)
    return _undirected(list(ends), 1 << scale)


def _undirected(ends: list[np.ndarray], nodes: int) -> CsrGraph:
    """Arcs both ways between two ends each. The list is emptied, so that only one copy of the arcs lives."""
    targets, sources = ends.pop(), ends.pop()
    both = np.concatenate((sources, targets)), np.concatenate((targets, sources))
    del sources, targets
    return CsrGraph(*csr_arrays(*both, None, nodes, merge_duplicates=True, drop_self_loops=True))
