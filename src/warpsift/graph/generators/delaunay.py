"""Delaunay triangulations of random points, as in DIMACS10's delaunay_nN (2^N points; SCU paper, table 5)."""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.space import insertion_order


def triangulation_edges(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both directions of every edge of the Delaunay triangulation; points on one line become a path."""
    from scipy.spatial import Delaunay, QhullError

    nodes = len(points)
    if nodes <= points.shape[1]:  # too few for a simplex: all pairs are neighbours
        sources, targets = np.nonzero(~np.eye(nodes, dtype=bool))
        return sources.astype(np.int32), targets.astype(np.int32)
    try:
        first, neighbours = Delaunay(points).vertex_neighbor_vertices
    except QhullError:
        order = np.lexsort(points.T).astype(np.int32)
        return np.append(order[:-1], order[1:]), np.append(order[1:], order[:-1])
    sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(first))
    return sources, neighbours.astype(np.int32)


def delaunay(scale: int, seed: int = 1) -> CsrGraph:
    """The triangulation of 2^scale random points in the unit square: planar, mean degree just under 6."""
    points = insertion_order(np.random.default_rng(seed).random((1 << scale, 2)))
    sources, targets = triangulation_edges(points)
    return CsrGraph.from_edges(sources, targets, nodes=1 << scale)
