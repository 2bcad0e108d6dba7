"""The sparse matrix kernels compute y = Ax; their searches agree with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.graph import CsrGraph, load_graph
from warpsift.simt import Residency
from warpsift.simt.stream_counter import Counter
from warpsift.validation import spmv


def expected(graph):
    products = spmv.input_vector(graph.nodes)[graph.targets].astype(np.float64)
    sums = np.concatenate(([0.0], np.cumsum(products)))
    return sums[graph.offsets[1:]] - sums[graph.offsets[:-1]]


def ragged():
    """Rows of 0, 1, 33 and 700 entries, empty ones at both ends."""
    degrees = np.array([0, 1, 33, 0, 0, 700, 5, 0] * 5 + [0])
    offsets = np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)
    targets = np.random.default_rng(1).integers(0, degrees.size, offsets[-1]).astype(np.int32)
    return CsrGraph(offsets, targets, None, "ragged")


@pytest.mark.parametrize("mapping", spmv.MAPPINGS)
@pytest.mark.parametrize("name", ["kron-8", "delaunay-7", "ragged"])
def test_every_mapping_multiplies(mapping, name):
    graph = ragged() if name == "ragged" else load_graph(name)
    y = spmv.spmv(graph, mapping, Counter(), Residency())
    np.testing.assert_allclose(y, expected(graph), rtol=1e-5)
