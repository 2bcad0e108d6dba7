"""Components by pointer jumping: few rounds on long paths, whatever the order of the nodes."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.graph import CsrGraph
from warpsift.run.execute import simulate

NODES = 600


def path(order: np.ndarray, symmetric: bool) -> CsrGraph:
    ends = order[:-1], order[1:]
    if symmetric:
        ends = np.concatenate(ends), np.concatenate(ends[::-1])
    return CsrGraph.from_edges(*ends, nodes=order.size, name="path")


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_a_path_takes_few_rounds(order, symmetric):
    nodes = np.arange(NODES)
    nodes = {"ascending": nodes, "descending": nodes[::-1], "random": np.random.default_rng(3).permutation(NODES)}[
        order
    ]
    graph = path(nodes, symmetric)
    result = simulate("wcc", graph, style="jumping")
    assert result.check == "pass"
    assert result.iterations <= 1 + np.log2(NODES)
    assert result.work["edges_touched"] == result.iterations * (NODES - 1)  # each edge once, whatever its direction
    if order == "random":
        assert simulate("wcc", graph, style="frontier").iterations > 3 * result.iterations


def test_a_graph_without_edges_is_its_own_components():
    result = simulate(
        "wcc", CsrGraph.from_edges(np.zeros(0, int), np.zeros(0, int), nodes=5, name="five"), style="jumping"
    )
    assert result.check == "pass" and result.values.tolist() == [0, 1, 2, 3, 4]
