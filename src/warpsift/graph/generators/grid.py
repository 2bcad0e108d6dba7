"""Regular grids: each node joined to its nearest neighbours along every axis, numbered row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsift.graph.csr import CsrGraph


def grid(sides: Sequence[int]) -> CsrGraph:
    """The undirected grid of these sides, e.g. (64, 64) or (10, 20, 30)."""
    ids = np.arange(int(np.prod(sides)), dtype=np.int32).reshape(tuple(sides))
    lower, upper = [], []
    for axis in range(ids.ndim):
        along = (slice(None),) * axis  # slices, not lists of places: beside a side of 0 another may be of any length
        lower.append(ids[(*along, slice(0, -1))].ravel())
        upper.append(ids[(*along, slice(1, None))].ravel())
    one, other = np.concatenate(lower), np.concatenate(upper)
    return CsrGraph.from_edges(np.append(one, other), np.append(other, one), nodes=ids.size)
