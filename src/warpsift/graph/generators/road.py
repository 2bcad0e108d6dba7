"""Planar networks: roads, or the borders of census blocks (the SCU paper's `ca`), at any mean degree from 2 to 6.

Junctions are random points. Of their Delaunay triangulation stay the Euclidean minimum spanning tree, which every
such network needs to be in one piece, and a random choice of other edges, short ones preferred: an edge that is long
compared with those around it is seldom built.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.delaunay import triangulation_edges
from warpsift.graph.generators.space import hilbert_order
from warpsift.graph.graph_errors import GraphError

ROAD_DEGREE = 2.47  # of San Francisco Bay's roads (DIMACS USA-road BAY: 321,270 nodes, 397,415 edges)


def road(nodes: int, degree: float = ROAD_DEGREE, seed: int = 1) -> CsrGraph:
    """A connected planar graph of about nodes * degree arcs, nodes numbered along a Hilbert curve."""
    if not 2 <= degree <= 6:
        raise GraphError(f"a road network of mean degree {degree:g}; planar ones lie between 2 and 6")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rng = np.random.default_rng(seed)
    points = hilbert_order(rng.random((nodes, 2)))
    sources, targets = triangulation_edges(points)
    once = sources < targets
    sources, targets = sources[once], targets[once]
    length = np.hypot(*(points[sources] - points[targets]).T) + 1e-300
    tree = minimum_spanning_tree(coo_array((length, (sources, targets)), shape=(nodes, nodes)).tocsr()).tocoo()
    tree_keys = np.minimum(tree.row, tree.col).astype(np.int64) * nodes + np.maximum(tree.row, tree.col)
    in_tree = np.isin(sources.astype(np.int64) * nodes + targets, tree_keys)
    wanted = max(round(nodes * degree / 2) - int(in_tree.sum()), 0)
    others = np.flatnonzero(~in_tree)
    # An exponential race: the chance to be among the first grows with the local mean length over the edge's own.
    total = np.bincount(sources, length, nodes) + np.bincount(targets, length, nodes)
    count = np.bincount(sources, minlength=nodes) + np.bincount(targets, minlength=nodes)
    local = total / np.maximum(count, 1)
    relative = length[others] / (local[sources[others]] + local[targets[others]])
    finish = rng.exponential(size=others.size) * relative
    chosen = others[np.argsort(finish, kind="stable")[:wanted]]
    kept = np.concatenate((np.flatnonzero(in_tree), chosen))
    one, other = sources[kept], targets[kept]
    return CsrGraph.from_edges(np.append(one, other), np.append(other, one), nodes=nodes)
