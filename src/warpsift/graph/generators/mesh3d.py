"""Finite-element matrices of solids: a tetrahedral mesh with several unknowns per mesh node (the SCU paper's msdoor).

All unknowns of two mesh nodes that share an element are coupled, so rows come in groups of equal neighbours, which
is what makes such graphs coalesce well. The mesh is the Delaunay triangulation of random points in a box.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.delaunay import triangulation_edges
from warpsift.graph.generators.space import hilbert_order

UNKNOWNS = 3  # displacements along x, y and z: structural mechanics, as in msdoor


def mesh3d(nodes: int, unknowns: int = UNKNOWNS, seed: int = 1) -> CsrGraph:
    """The coupling graph of `nodes` unknowns, `unknowns` at each mesh node; without self-loops."""
    points = max(-(-nodes // unknowns), 1) if nodes else 0
    mesh_points = hilbert_order(np.random.default_rng(seed).random((points, 3)))
    sources, targets = triangulation_edges(mesh_points)
    itself = np.arange(points, dtype=np.int32)
    sources, targets = np.append(sources, itself), np.append(targets, itself)
    unknown = np.arange(unknowns, dtype=np.int32)
    rows = np.repeat(sources[:, None] * unknowns + unknown, unknowns, axis=1).ravel()
    columns = np.tile(targets[:, None] * unknowns + unknown, (1, unknowns)).ravel()
    kept = (rows != columns) & (rows < nodes) & (columns < nodes)
    return CsrGraph.from_edges(rows[kept], columns[kept], nodes=nodes)
