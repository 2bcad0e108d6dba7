"""Random geometric graphs, as DIMACS10's rgg_n_2_N_s0: points in the unit square, joined where they are near."""

from __future__ import annotations

import math

import numpy as np

from warpsift.graph.csr import CsrGraph

RADIUS = 0.55  # times sqrt(ln n / n): Bader et al., "Graph partitioning and graph clustering", DIMACS10, 2013


def radius_of(nodes: int) -> float:
    return RADIUS * math.sqrt(math.log(nodes) / nodes) if nodes > 1 else 0.0


def rgg(scale: int, seed: int = 1) -> CsrGraph:
    """2^scale random points, joined below the radius, numbered by their first coordinate.

    DIMACS10 does not state its numbering. The sizes of its compressed files do: of the orders tried only this one
    gives rgg_n_2_21_s0 as much more in Matrix Market's text than in Rutherford and Boeing's (docs/spmv-on-a-v100.md).
    """
    from scipy.spatial import cKDTree

    nodes = 1 << scale
    radius = radius_of(nodes)
    points = np.random.default_rng(seed).random((nodes, 2))
    points = points[np.argsort(points[:, 0])]
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray").astype(np.int32)
    sources, targets = np.append(pairs[:, 0], pairs[:, 1]), np.append(pairs[:, 1], pairs[:, 0])
    return CsrGraph.from_edges(sources, targets, nodes=nodes)
