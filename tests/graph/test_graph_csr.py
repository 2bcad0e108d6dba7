"""CsrGraph: arrays, immutability, conversions and weights, against SciPy, NetworkX and plain loops."""

from __future__ import annotations

import pickle
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.graph import CsrGraph, GraphError, describe, require_nonnegative_weights


@st.composite
def arcs(draw, weighted: bool | None = None):
    nodes = draw(st.integers(1, 12))
    ends = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=40))
    weighted = draw(st.booleans()) if weighted is None else weighted
    number = draw(st.sampled_from([st.integers(-5, 5), st.floats(-4, 4, width=32)]))
    weights = [draw(number) for _ in ends] if weighted else None
    return nodes, ends, weights


def make(nodes, ends, weights) -> CsrGraph:
    sources = np.array([u for u, _ in ends], np.int64)
    targets = np.array([v for _, v in ends], np.int64)
    return CsrGraph.from_edges(sources, targets, None if weights is None else np.array(weights), nodes)


def listed(graph: CsrGraph) -> list[tuple]:
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    return list(zip(graph.sources.tolist(), graph.targets.tolist(), weights, strict=True))


@settings(deadline=None)
@given(arcs())
def test_arcs_are_kept_and_sorted(graph):
    nodes, ends, weights = graph
    built = make(nodes, ends, weights)
    expected = sorted((u, v, w) for (u, v), w in zip(ends, weights or [0] * len(ends), strict=True))
    if weights is None:
        expected = [(u, v, None) for u, v, _ in expected]
    assert [tuple(map(float, arc)) if weights else arc for arc in listed(built)] == [
        tuple(map(float, arc)) if weights else arc for arc in expected
    ]
    assert built.nodes == nodes
    assert built.out_degrees.tolist() == [sum(u == node for u, _ in ends) for node in range(nodes)]


@settings(deadline=None)
@given(arcs())
def test_in_edges_is_the_transpose_and_back(graph):
    built = make(*graph)
    reversed_arcs = Counter((v, u, w) for u, v, w in listed(built))
    assert Counter(listed(built.in_edges)) == reversed_arcs
    assert built.in_edges is built.in_edges
    assert built.in_edges.in_edges is built


@settings(deadline=None)
@given(arcs())
def test_symmetrised_holds_every_arc_both_ways_once_with_the_lightest_weight(graph):
    built = make(*graph)
    lightest: dict[tuple[int, int], float] = {}
    for u, v, w in listed(built):
        for ends in ((u, v), (v, u)):
            weight = 0 if w is None else w
            lightest[ends] = min(weight, lightest.get(ends, weight))
    symmetric = built.symmetrised()
    assert {(u, v): w or 0 for u, v, w in listed(symmetric)} == lightest
    assert symmetric.edges == len(lightest)
    assert symmetric.is_symmetric


@settings(deadline=None)
@given(arcs(), st.booleans(), st.booleans())
def test_simplified(graph, drop, merge):
    built = make(*graph)
    expected = [arc for arc in listed(built) if not (drop and arc[0] == arc[1])]
    if merge:
        first: dict[tuple[int, int], tuple] = {}
        for arc in expected:  # sorted by weight, so the first is the lightest
            first.setdefault(arc[:2], arc)
        expected = list(first.values())
    assert listed(built.simplified(drop_self_loops=drop, merge_duplicates=merge)) == expected


@settings(deadline=None)
@given(arcs(), st.randoms())
def test_the_hash_depends_on_content_not_on_order_or_name(graph, random):
    nodes, ends, weights = graph
    order = list(range(len(ends)))
    random.shuffle(order)
    shuffled = make(nodes, [ends[i] for i in order], None if weights is None else [weights[i] for i in order])
    built = make(nodes, ends, weights)
    assert shuffled.content_hash == built.content_hash
    more = make(nodes + 1, ends, weights)
    assert more.content_hash != built.content_hash
    if weights is None:
        assert built.with_random_weights().content_hash != built.content_hash or built.edges == 0


def test_scipy_round_trip_and_oracle():
    matrix = scipy.sparse.random_array((50, 50), density=0.1, format="csr", rng=np.random.default_rng(3))
    graph = CsrGraph.from_scipy(matrix)
    assert np.allclose(graph.to_scipy().toarray(), matrix.toarray())
    assert np.allclose(graph.in_edges.to_scipy().toarray(), matrix.toarray().T)
    assert CsrGraph.from_scipy(matrix.astype(bool)).weights is None
    with pytest.raises(GraphError, match=r"^a 2 x 3 matrix is no graph; expected a square one$"):
        CsrGraph.from_scipy(scipy.sparse.coo_array((2, 3)))


def test_networkx_directed_undirected_weights_and_ids():
    undirected = nx.karate_club_graph()
    graph = CsrGraph.from_networkx(undirected)
    assert np.array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(undirected))
    directed = nx.gnp_random_graph(30, 0.1, seed=1, directed=True)
    graph = CsrGraph.from_networkx(directed)
    assert graph.weights is None
    assert sorted(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)) == sorted(directed.edges)
    sparse = nx.Graph([(10, 30), (30, 20)])
    graph = CsrGraph.from_networkx(sparse)
    assert graph.original_ids.tolist() == [10, 30, 20]
    loop = CsrGraph.from_networkx(nx.Graph([(0, 0), (0, 1)]))
    assert loop.edges == 3


def test_arrays_are_read_only_and_not_shared_with_the_caller():
    offsets, targets, weights = np.array([0, 1, 1]), np.array([1], np.int32), np.array([2], np.int32)
    graph = CsrGraph(offsets, targets, weights)
    targets[0] = weights[0] = 0
    offsets[1] = 9
    assert (graph.offsets.tolist(), graph.targets.tolist(), graph.weights.tolist()) == ([0, 1, 1], [1], [2])
    for array in (graph.offsets, graph.targets, graph.weights, graph.sources, graph.in_edges.targets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        graph.name = "other"
    assert graph.offsets.dtype == np.int64
    assert graph.targets.dtype == np.int32


def test_rows_given_in_any_order_stay_so_and_can_be_sorted():
    graph = CsrGraph(np.array([0, 3, 3]), np.array([1, 0, 1]), np.array([7, 8, 5]))
    assert listed(graph) == [(0, 1, 7), (0, 0, 8), (0, 1, 5)]
    ordered = graph.sorted_rows()
    assert listed(ordered) == [(0, 0, 8), (0, 1, 5), (0, 1, 7)]
    assert ordered.sorted_rows() is ordered
    assert describe(graph)["duplicate_arcs"] == 1
    heavier_first = ordered.with_weights(np.array([1, 3, 2])).sorted_rows()
    assert listed(heavier_first) == [(0, 0, 1), (0, 1, 2), (0, 1, 3)]
    both_ways = CsrGraph(np.array([0, 2, 3, 4]), np.array([2, 1, 0, 0]))
    assert both_ways.is_symmetric


@pytest.mark.parametrize(
    ("offsets", "targets", "message"),
    [
        ([0, 2, 1, 3], [0, 0, 0], "graph 'graph': offsets fall after node 1; they must rise"),
        ([0, 1], [1], "graph 'graph': node ID 1 is out of range; expected 0 to 0"),
        ([0, 1], [-1], "graph 'graph': node ID -1 is out of range; expected 0 to 0"),
        ([0, 1], [], "graph 'graph': offsets must run from 0 to the 0 arcs, nodes + 1 of them"),
        ([], [], "graph 'graph': offsets must run from 0 to the 0 arcs, nodes + 1 of them"),
    ],
)
def test_arrays_that_are_no_graph(offsets, targets, message):
    with pytest.raises(GraphError) as caught:
        CsrGraph(np.array(offsets, np.int64), np.array(targets, np.int32))
    assert str(caught.value) == message


def test_a_graph_survives_pickling_between_processes():
    graph = CsrGraph.from_edges([0, 1], [1, 0], np.array([1, 2]), name="pair")
    copy = pickle.loads(pickle.dumps(graph))
    assert copy.content_hash == graph.content_hash
    assert copy.name == "pair"


def test_empty_and_single_node_graphs():
    none = np.empty(0, np.int64)
    empty = CsrGraph.from_edges(none, none)
    assert (empty.nodes, empty.edges, empty.in_edges.nodes) == (0, 0, 0)
    single = CsrGraph.from_edges(none, none, nodes=1)
    assert (single.nodes, single.edges, single.symmetrised().edges) == (1, 0, 0)


@pytest.mark.parametrize(
    ("sources", "targets", "options", "message"),
    [
        ([0], [0, 1], {}, "1 sources but 2 targets; give one of each per arc"),
        ([-1], [0], {}, "node ID -1 is negative; IDs count from 0"),
        ([0], [5], {"nodes": 3}, "node ID 5 is out of range for 3 nodes (0 to 2)"),
        ([0], [2**31], {}, "2147483649 nodes; node IDs are 4 bytes, so between 0 and 2147483647 nodes fit"),
        ([0.5], [1], {}, "sources must be a flat array of integers, not 1-dimensional float64"),
        (
            [0],
            [1],
            {"weights": np.array([1, 2]), "name": "g"},
            "graph 'g': weights of shape (2,); expected one per arc, (1,)",
        ),
        (
            [0],
            [1],
            {"weights": np.array(["x"]), "name": "g"},
            "graph 'g': weights are <U1; expected integers or real numbers",
        ),
    ],
)
def test_errors_of_from_edges(sources, targets, options, message):
    with pytest.raises(GraphError) as caught:
        CsrGraph.from_edges(np.array(sources), np.array(targets), **options)
    assert str(caught.value) == message


def test_weights_become_int32_or_float32():
    def dtype(weights):
        return CsrGraph.from_edges([0], [0], np.array(weights)).weights.dtype

    assert dtype([2**31 - 1]) == np.int32
    assert dtype([2**31]) == np.float32
    assert dtype([0.5]) == np.float32
    assert dtype([True]) == np.int32


def test_random_weights_are_seeded_uniform_and_equal_both_ways():
    graph = CsrGraph.from_edges(*np.random.default_rng(1).integers(0, 500, (2, 40_000)), nodes=500)
    graph = graph.symmetrised()
    weighted = graph.with_random_weights(seed=7)
    assert weighted.is_symmetric
    assert np.array_equal(weighted.weights, graph.with_random_weights(seed=7).weights)
    assert not np.array_equal(weighted.weights, graph.with_random_weights(seed=8).weights)
    assert not graph.with_random_weights(seed=7, symmetric=False).is_symmetric
    counts = np.bincount(weighted.weights, minlength=65)
    assert counts[0] == 0
    assert len(counts) == 65
    expected = graph.edges / 64
    # Every pair counts twice, so halve; chi-square of 63 degrees of freedom, six standard deviations allowed.
    chi_square = ((counts[1:] - expected) ** 2 / expected).sum()
    assert chi_square / 2 < 64 + 6 * np.sqrt(2 * 64)
    assert weighted.weights.dtype == np.int32


def test_weights_that_shortest_paths_cannot_take():
    graph = CsrGraph.from_edges([0, 1, 1], [1, 0, 2], np.array([1.0, np.nan, -2.0]), name="g")
    with pytest.raises(GraphError) as caught:
        require_nonnegative_weights(graph, "sssp")
    assert str(caught.value) == (
        "graph 'g': arc 1 -> 0 has weight nan; sssp needs finite weights from 0 up (2 of 3 arcs have others)"
    )
    require_nonnegative_weights(graph.with_weights(None), "sssp")
    require_nonnegative_weights(graph.with_weights(np.array([0, 1, 2])), "sssp")
    named = CsrGraph.from_edges([0], [1], np.array([-3]), original_ids=np.array([70, 90]), name="g")
    with pytest.raises(GraphError, match=r"^graph 'g': arc 70 -> 90 has weight -3; "):
        require_nonnegative_weights(named, "sssp")
