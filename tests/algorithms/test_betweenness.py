"""Betweenness centrality: small graphs by hand, the oracle against networkx, both styles against the oracle."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.algorithms import ALGORITHMS, OptionError
from warpsift.algorithms.bc import brandes_in_float64
from warpsift.algorithms.bc.bc_options import BcOptions, sources_of
from warpsift.engine import Engine
from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine
from warpsift.run.execute import simulate
from warpsift.simt import Counter, Gpu

BC = ALGORITHMS["bc"]
STYLES = list(BC.styles)
ALL = 10**6  # more sources than any graph here has nodes


def arcs(nodes: int, pairs: list[tuple[int, int]]) -> CsrGraph:
    source, target = (np.array([p[k] for p in pairs], np.int64) for k in range(2))
    return CsrGraph.from_edges(source, target, nodes=nodes)


def both_ways(nodes: int, pairs: list[tuple[int, int]]) -> CsrGraph:
    return arcs(nodes, pairs + [(b, a) for a, b in pairs])


# Scores of all ordered pairs of nodes, worked out by hand.
BY_HAND = {
    "path of five": (both_ways(5, [(0, 1), (1, 2), (2, 3), (3, 4)]), [0, 6, 8, 6, 0]),
    "star": (both_ways(40, [(0, k) for k in range(1, 40)]), [39 * 38] + [0] * 39),
    "clique": (both_ways(5, [(a, b) for a in range(5) for b in range(a)]), [0] * 5),
    "two triangles sharing an edge": (both_ways(4, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]), [1, 1, 0, 0]),
    "square: two ways round": (both_ways(4, [(0, 1), (1, 2), (2, 3), (3, 0)]), [1, 1, 1, 1]),
    "directed line": (arcs(4, [(0, 1), (1, 2), (2, 3)]), [0, 2, 2, 0]),
    "directed cycle": (arcs(3, [(0, 1), (1, 2), (2, 0)]), [1, 1, 1]),
    "self-loops": (arcs(3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]), [0, 1, 0]),
    "parallel arcs are different paths": (arcs(4, [(0, 1), (0, 1), (0, 2), (1, 3), (2, 3)]), [0, 2 / 3, 1 / 3, 0]),
    "isolated nodes": (arcs(6, [(1, 3), (3, 5)]), [0, 0, 0, 1, 0, 0]),
    "two components": (both_ways(6, [(0, 1), (1, 2), (3, 4), (4, 5)]), [0, 2, 0, 0, 2, 0]),
    "single node": (arcs(1, []), [0]),
    "single node with a self-loop": (arcs(1, [(0, 0)]), [0]),
    "no edges": (arcs(3, []), [0, 0, 0]),
    "empty": (arcs(0, []), []),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name, style):
    graph, scores = BY_HAND[name]
    result = simulate("bc", graph, style=style, sources=ALL)
    assert result.values == pytest.approx(np.array(scores), rel=1e-6)
    assert result.check == "pass", result.check_reason


@st.composite
def simple_graphs(draw):
    nodes = draw(st.integers(1, 40))
    node = st.integers(0, nodes - 1)
    return arcs(nodes, draw(st.lists(st.tuples(node, node), max_size=120, unique=True)))


def by_networkx(graph: CsrGraph, sources: list[int]) -> np.ndarray:
    other = nx.DiGraph()
    other.add_nodes_from(range(graph.nodes))
    other.add_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    scores = nx.betweenness_centrality_subset(other, sources, list(other), normalized=False)
    return np.array([scores[node] for node in range(graph.nodes)])


@settings(max_examples=60, deadline=None)
@given(graph=simple_graphs(), data=st.data())
def test_the_oracle_equals_networkx(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.nodes - 1), max_size=6, unique=True))
    assert brandes_in_float64(graph, sources) == pytest.approx(by_networkx(graph, sources), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["kron-7", "delaunay-7", "grid-9x9", "web-200"])
def test_the_oracle_equals_networkx_on_generated_graphs(name):
    graph = load_graph(name, merge_duplicates=True)
    sources = list(range(0, graph.nodes, 5))
    assert brandes_in_float64(graph, sources) == pytest.approx(by_networkx(graph, sources), rel=1e-9)


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=25, deadline=None)
@given(graph=simple_graphs(), seed=st.integers(0, 1000), count=st.integers(1, 50))
def test_random_graphs_against_networkx(style, graph, seed, count):
    result = simulate("bc", graph, style=style, seed=seed, sources=count)
    assert result.check == "pass", result.check_reason
    assert result.values == pytest.approx(by_networkx(graph, result.notes["sources"]), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("file", ["wiki-Vote.txt.gz", "ca-HepTh.csv.gz", "delaunay_n13.mtx.gz"])
def test_real_graphs(data, style, file):
    result = simulate("bc", load_graph(str(data / file)), style=style, sources=2)
    assert result.check == "pass", result.check_reason


# ------------------------------------------------------------------ sources and options
def test_sources_are_seeded_and_begin_in_the_largest_component():
    graph = arcs(9, [(0, 1), (3, 4), (4, 5), (5, 6), (6, 7)])
    for seed in range(5):
        chosen = sources_of(graph, BcOptions(seed=seed, sources=ALL))
        assert sorted(chosen[:4]) == [3, 4, 5, 6] and chosen[4:] == [0]  # 1, 2, 7 and 8 have no out-edge
        assert sources_of(graph, BcOptions(seed=seed, sources=2)) == chosen[:2]
    orders = {tuple(sources_of(graph, BcOptions(seed=seed))) for seed in range(20)}
    assert len(orders) > 5


def test_as_many_sources_as_nodes_give_exact_betweenness():
    graph = load_graph("grid-3x5")
    exact = nx.betweenness_centrality(nx.DiGraph(graph.to_scipy()), normalized=False)
    result = simulate("bc", graph, sources=graph.nodes)
    assert result.values == pytest.approx(np.array([exact[node] for node in range(graph.nodes)]), rel=1e-4)


@pytest.mark.parametrize("style", STYLES)
def test_one_named_source(style):
    result = simulate("bc", arcs(4, [(0, 1), (1, 2), (2, 3)]), style=style, source=1)
    assert result.notes["sources"] == [1] and result.values.tolist() == [0, 0, 1, 0]


def test_four_sources_as_in_gap_unless_told():
    assert len(simulate("bc", load_graph("kron-7")).notes["sources"]) == 4


@pytest.mark.parametrize("active", ["compact", "all"])
@pytest.mark.parametrize("bits", ["atomic", "byte"])
def test_vertex_options(active, bits):
    result = simulate("bc", load_graph("kron-8"), style="vertex", active=active, bit_setting=bits)
    assert result.check == "pass"
    atomics = sum(launch.counters.atomic_instructions for launch in result.launches if launch.info.phase == "forward")
    assert (atomics > 0) == (bits == "atomic")


def test_fewer_warps_beside_targets():
    plain, beside = (simulate("bc", load_graph("kron-7"), style="vertex", occupancy=o) for o in ("full", "target"))
    assert np.array_equal(plain.values, beside.values)
    sizes = {launch.info.threads_per_cta for launch in beside.launches if launch.info.phase in ("forward", "backward")}
    assert sizes == {128}


@pytest.mark.parametrize("style", STYLES)
def test_bad_options(style):
    graph = load_graph("grid-4x4")
    with pytest.raises(OptionError, match="sources must be at least 1, not 0"):
        simulate("bc", graph, style=style, sources=0)
    with pytest.raises(OptionError, match="source 16 is not a node: the graph has nodes 0 to 15"):
        simulate("bc", graph, style=style, source=16)


@pytest.mark.parametrize("style", STYLES)
def test_long_grids_need_float64_path_counts(style):
    """C(138, 69) = 10^41 paths from corner to corner: more than float32 holds."""
    graph = load_graph("grid-70x70")
    result = simulate("bc", graph, style=style, source=0)
    assert result.check == "pass" and np.isfinite(result.values).all()


@pytest.mark.parametrize("style", STYLES)
def test_too_many_paths_are_one_sentence(style):
    """16 parallel arcs from each of 260 nodes to the next: 2^1040 paths."""
    graph = arcs(261, [(k, k + 1) for k in range(260) for _ in range(16)])
    with pytest.raises(OptionError, match="more than 1e308 shortest paths lead from node 0 to some other"):
        simulate("bc", graph, style=style, source=0)


@pytest.mark.parametrize("style", STYLES)
def test_partial_runs_are_not_called_checked(style):
    result = simulate("bc", load_graph("grid-8x8"), style=style, source=0, max_iterations=2)
    assert result.check == "skipped" and result.iterations == 2
    assert np.flatnonzero(result.values).tolist() == [1, 8]  # level 1, with its children on level 2


# ------------------------------------------------------------------ the check, and the machine
@pytest.mark.parametrize("style", STYLES)
def test_a_wrong_score_fails_the_check(style):
    graph, options = BC.prepare(load_graph("grid-8x8"), BcOptions())
    outcome = BC.styles[style](Gpu(Counter(), memory_bytes=1 << 22), graph, options)
    assert BC.check(graph, outcome, options).passed
    for wrong in (1.01 * outcome.values[5] + 1, np.nan):
        outcome.values[5] = wrong
        verdict = BC.check(graph, outcome, options)
        assert not verdict.passed and verdict.reason.startswith("node 5: ")


def test_the_frontier_style_counts_every_node_and_edge_once():
    graph = load_graph("kron-8")
    result = simulate("bc", graph, source=0)
    reached = set(range(graph.nodes)) - set(np.flatnonzero(graph.out_degrees == 0).tolist())
    assert result.work["duplicates"] == 0
    # outwards all edges of the component, inwards all but those of the source
    assert result.work["edges_touched"] == 2 * graph.edges - graph.out_degrees[0]
    assert result.work["nodes_processed"] == 2 * len(reached) - 1


@pytest.mark.parametrize("style", STYLES)
def test_timed_with_checks_of_the_engine(style):
    graph, options = BC.prepare(load_graph("kron-7"), BcOptions(sources=2))
    engine = Engine(load_machine("tx1"), checks=True)
    outcome = BC.styles[style](Gpu(engine), graph, options)
    verdict = BC.check(graph, outcome, options)
    assert verdict.passed, verdict.reason
    assert engine.total.cycles == engine.cycle > 0


@pytest.mark.parametrize("style", STYLES)
def test_same_counters_twice_and_energy(style):
    runs = [simulate("bc", load_graph("kron-7"), style=style, gpu="tx1", sources=2) for _ in range(2)]
    first, second = (run.as_dict() | {"host_seconds": 0} for run in runs)
    assert first == second
    assert first["check"] == "pass" and first["energy_joules"] > 0
    assert np.array_equal(runs[0].values, runs[1].values)
