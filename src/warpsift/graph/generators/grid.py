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
        lower.append(np.take(ids, range(ids.shape[axis] - 1), axis).ravel())
        upper.append(np.take(ids, range(1, ids.shape[axis]), axis).ravel())
    one, other = np.concatenate(lower), np.concatenate(upper)
    return CsrGraph.from_edges(np.append(one, other), np.append(other, one), nodes=ids.size)
