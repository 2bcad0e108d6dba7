"""Renumbering keeps the graph and changes only the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.graph import load_graph


@pytest.mark.parametrize("order", ["degree", "random"])
def test_same_graph_under_other_numbers(order):
    graph, other = load_graph("kron-8"), load_graph(f"kron-8~{order}")
    ids = other.original_ids
    assert (np.sort(ids) == np.arange(graph.nodes)).all()
    before = {(int(u), int(v)) for u, v in zip(graph.sources, graph.targets, strict=True)}
    after = {(int(ids[u]), int(ids[v])) for u, v in zip(other.sources, other.targets, strict=True)}
    assert before == after and other.content_hash != graph.content_hash


def test_degree_order_puts_hubs_first_and_keeps_weights():
    graph = load_graph("rmat-8").with_random_weights(3)
    from warpsift.graph.order import reorder

    other = reorder(graph, "degree")
    assert (np.diff(other.out_degrees) <= 0).all()
    weight = {(int(u), int(v)): int(w) for u, v, w in zip(graph.sources, graph.targets, graph.weights, strict=True)}
    ids = other.original_ids
    for u, v, w in zip(other.sources, other.targets, other.weights, strict=True):
        if list(graph.neighbours(int(ids[u]))).count(ids[v]) == 1:
            assert weight[int(ids[u]), int(ids[v])] == w
