"""The matrix that SciPy's Dijkstra gets: the cheapest of parallel arcs, whatever the order of a row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.algorithms.answer_check import cheapest_arcs
from warpsift.graph import CsrGraph

ARCS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), max_size=20)


def graph_of(arcs, nodes=6) -> CsrGraph:
    """A graph with these arcs, those of a row in the order given."""
    arcs = sorted(arcs, key=lambda arc: arc[0])
    counts = np.bincount([source for source, _, _ in arcs], minlength=nodes)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    targets, weights = (np.array([arc[k] for arc in arcs], np.int32) for k in (1, 2))
    return CsrGraph(offsets, targets, weights=weights)


@pytest.mark.parametrize("in_order", [True, False])
@settings(deadline=None)
@given(arcs=ARCS)
def test_the_cheapest_of_parallel_arcs_stays(in_order, arcs):
    least: dict[tuple[int, int], int] = {}
    for source, target, weight in arcs:
        least[source, target] = min(weight, least.get((source, target), weight))
    if in_order:  # sorted and single: the graph's own arrays
        arcs = [(source, target, least[source, target]) for source, target in sorted(least)]
    wanted = np.zeros((6, 6), int)
    for (source, target), weight in least.items():
        wanted[source, target] = weight
    assert np.array_equal(cheapest_arcs(graph_of(arcs)).toarray(), wanted)
