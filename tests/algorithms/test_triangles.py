"""Triangle counting: small graphs by hand, the oracle against networkx, both styles against the oracle."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.algorithms import ALGORITHMS, OptionError, tc
from warpsift.algorithms.tc import triangles_by_product
from warpsift.algorithms.tc.ordering import OrderedGraph, is_skewed
from warpsift.algorithms.tc.tc_options import TcOptions
from warpsift.engine import Engine
from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine
from warpsift.run.execute import simulate
from warpsift.simt import Counter, Gpu

TC = ALGORITHMS["tc"]
STYLES = list(TC.styles)


def arcs(nodes: int, pairs: list[tuple[int, int]]) -> CsrGraph:
    source, target = (np.array([p[k] for p in pairs], np.int64) for k in range(2))
    return CsrGraph.from_edges(source, target, nodes=nodes)


def both_ways(nodes: int, pairs: list[tuple[int, int]]) -> CsrGraph:
    return arcs(nodes, pairs + [(b, a) for a, b in pairs])


TRIANGLE = [(0, 1), (1, 2), (2, 0)]
# Triangles through each node, worked out by hand.
BY_HAND = {
    "path": (both_ways(5, [(0, 1), (1, 2), (2, 3), (3, 4)]), [0] * 5),
    "star": (both_ways(40, [(0, k) for k in range(1, 40)]), [0] * 40),
    "triangle": (both_ways(3, TRIANGLE), [1, 1, 1]),
    "clique": (both_ways(6, [(a, b) for a in range(6) for b in range(a)]), [10] * 6),
    "large clique": (both_ways(70, [(a, b) for a in range(70) for b in range(a)]), [69 * 68 // 2] * 70),
    "two triangles sharing an edge": (both_ways(4, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]), [2, 2, 1, 1]),
    "square": (both_ways(4, [(0, 1), (1, 2), (2, 3), (3, 0)]), [0] * 4),
    "wheel": (both_ways(6, [(0, k) for k in range(1, 6)] + [(k, k % 5 + 1) for k in range(1, 6)]), [5] + [2] * 5),
    "self-loops": (both_ways(3, [*TRIANGLE, (0, 0), (1, 1)]), [1, 1, 1]),
    "self-loops alone": (arcs(3, [(0, 0), (1, 1), (0, 1)]), [0, 0, 0]),
    "parallel arcs": (both_ways(3, TRIANGLE * 3), [1, 1, 1]),
    "directed cycle": (arcs(3, TRIANGLE), [1, 1, 1]),
    "directed without a cycle": (arcs(3, [(0, 1), (0, 2), (1, 2)]), [1, 1, 1]),
    "one edge of three both ways": (arcs(3, [*TRIANGLE, (1, 0)]), [1, 1, 1]),
    "isolated nodes": (both_ways(7, [(1, 3), (3, 5), (5, 1)]), [0, 1, 0, 1, 0, 1, 0]),
    "single node": (arcs(1, []), [0]),
    "no edges": (arcs(3, []), [0, 0, 0]),
    "empty": (arcs(0, []), []),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("relabel", ["always", "never"])
@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name, relabel, style):
    graph, through = BY_HAND[name]
    result = simulate("tc", graph, style=style, relabel=relabel)
    assert result.values.tolist() == [sum(through) // 3] == [result.notes["triangles"]]
    assert result.check == "pass", result.check_reason
    each = simulate("tc", graph, style=style, relabel=relabel, per_node=True)
    assert each.values.tolist() == through and each.notes["triangles"] == sum(through) // 3
    assert each.check == "pass", each.check_reason


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 40))
    node = st.integers(0, nodes - 1)
    return arcs(nodes, draw(st.lists(st.tuples(node, node), max_size=200)))


def by_networkx(graph: CsrGraph) -> list[int]:
    other = nx.Graph()
    other.add_nodes_from(range(graph.nodes))
    other.add_edges_from((a, b) for a, b in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True) if a != b)
    return [nx.triangles(other, node) for node in range(graph.nodes)]


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_the_oracle_equals_networkx(graph):
    assert triangles_by_product(graph).tolist() == by_networkx(graph)


@pytest.mark.parametrize("paths", [1, 100, 5000])
def test_the_oracle_in_pieces(monkeypatch, paths):
    graph = load_graph("kron-7")
    monkeypatch.setattr(tc, "MOST_PATHS", paths)
    assert triangles_by_product(graph).tolist() == by_networkx(graph)


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=25, deadline=None)
@given(graph=graphs(), relabel=st.sampled_from(["auto", "always", "never"]))
def test_random_graphs_against_networkx(style, graph, relabel):
    result = simulate("tc", graph, style=style, relabel=relabel, per_node=True)
    assert result.check == "pass", result.check_reason
    assert result.values.tolist() == by_networkx(graph)


# wiki-Vote's and ca-HepTh's numbers are those that SNAP publishes; the check finds delaunay_n13's again.
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("file", "triangles"), [("wiki-Vote.txt.gz", 608389), ("ca-HepTh.csv.gz", 28339), ("delaunay_n13.mtx.gz", 16442)]
)
def test_real_graphs(data, style, file, triangles):
    result = simulate("tc", load_graph(str(data / file)), style=style)
    assert result.check == "pass", result.check_reason
    assert result.notes["triangles"] == triangles


# ------------------------------------------------------------------ order and options
def test_hubs_first_makes_rows_short():
    graph = load_graph("kron-9")
    rows = {relabel: OrderedGraph.of(graph, relabel).rows for relabel in ("always", "never")}
    assert rows["always"].edges == rows["never"].edges
    assert rows["always"].out_degrees.max() <= np.sqrt(2 * rows["always"].edges)
    assert rows["always"].out_degrees.max() < rows["never"].out_degrees.max()


def test_relabelling_follows_gap():
    """By degree only where edges are ten times the nodes and the mean degree is 1.3 times the median."""
    assert not is_skewed(np.full(100, 40))  # dense but even
    assert not is_skewed(np.array([20] * 99 + [500]))  # mean 24.8
    assert is_skewed(np.array([18] * 99 + [600]))  # mean 23.82, over 1.3: 18.3
    assert not is_skewed(np.array([2] * 99 + [99]))  # skewed but thin
    assert not is_skewed(np.zeros(0, np.int64)) and not is_skewed(np.zeros(4, np.int64))
    assert simulate("tc", load_graph("kron-9")).notes["relabelled_by_degree"]
    assert not simulate("tc", load_graph("delaunay-9")).notes["relabelled_by_degree"]


@pytest.mark.parametrize("style", STYLES)
def test_directions_are_ignored_and_the_result_says_so(style):
    directed, symmetric = load_graph("web-700"), load_graph("web-700", symmetrise=True)
    runs = [simulate("tc", graph, style=style) for graph in (directed, symmetric)]
    assert runs[0].values == runs[1].values and runs[0].transactions == runs[1].transactions
    assert runs[0].notes["directions"] == "ignored: every arc counts as an undirected edge"
    assert "directions" not in runs[1].notes


def test_the_first_style_is_the_usual_one():
    assert simulate("tc", load_graph("kron-6")).style == "merge"


@pytest.mark.parametrize("style", STYLES)
def test_bad_options(style):
    with pytest.raises(OptionError, match="relabel must be 'auto' or 'always' or 'never', not 'yes'"):
        simulate("tc", load_graph("grid-4x4"), style=style, relabel="yes")


def test_the_ledger_counts_what_a_merge_walks():
    """Rows of the order 3, 2, 1, 0 of a clique: 1: [0], 2: [0 1], 3: [0 1 2]."""
    clique = both_ways(4, [(a, b) for a in range(4) for b in range(a)])
    # 2->1 walks [0] and [0]; 3->1 [0] and [0]; 3->2 [0 1] and [0 1]; the other three have an empty list
    assert simulate("tc", clique, relabel="never").work["edges_touched"] == 2 + 2 + 4
    assert simulate("tc", clique, relabel="never", style="binary").work["edges_touched"] == 1 + 1 + 2
    fan = both_ways(6, [(0, 4), (1, 4), (2, 4), (5, 4), (5, 3), (5, 0)])
    # 5: [0 3 4], 4: [0 1 2]; 5->4 walks 0 and 3 against 0, 1 and 2: the merge ends when 2 is passed, before 3 is
    assert simulate("tc", fan, relabel="never").work["edges_touched"] == 1 + 3


# ------------------------------------------------------------------ the check, and the machine
@pytest.mark.parametrize("style", STYLES)
def test_a_wrong_count_fails_the_check(style):
    graph, gpu = load_graph("delaunay-7"), Gpu(Counter(), memory_bytes=1 << 22)
    for options in (TcOptions(), TcOptions(per_node=True)):
        outcome = TC.styles[style](gpu, graph, options)
        assert TC.check(graph, outcome, options).passed
        outcome.values[-1] += 1
        verdict = TC.check(graph, outcome, options)
        assert not verdict.passed
        assert verdict.reason.startswith("node 127: " if options.per_node else f"{outcome.values[0]} triangles, SciPy")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("per_node", [False, True])
def test_timed_with_checks_of_the_engine(style, per_node):
    graph, options = TC.prepare(load_graph("kron-7"), TcOptions(per_node=per_node))
    engine = Engine(load_machine("tx1"), checks=True)
    outcome = TC.styles[style](Gpu(engine), graph, options)
    verdict = TC.check(graph, outcome, options)
    assert verdict.passed, verdict.reason
    assert engine.total.cycles == engine.cycle > 0


@pytest.mark.parametrize("style", STYLES)
def test_same_counters_twice_and_energy(style):
    runs = [simulate("tc", load_graph("kron-7"), style=style, gpu="tx1") for _ in range(2)]
    first, second = (run.as_dict() | {"host_seconds": 0} for run in runs)
    assert first == second
    assert first["check"] == "pass" and first["energy_joules"] > 0
