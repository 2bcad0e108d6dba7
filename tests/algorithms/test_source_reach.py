"""Sources that reach a large part of the graph, and what a run says of what it reached and of its weights."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from scipy.sparse.csgraph import connected_components

import warpsift
from warpsift.algorithms.reach import reach, reaching_source, weak_components
from warpsift.graph import CsrGraph, load_graph
from warpsift.report.run_tables import print_run


def bow_tie(core: int = 40, tails: int = 400) -> CsrGraph:
    """A small ring that reaches 160 leaves, and many nodes that only point into a dead end: as the web has it."""
    ring = np.arange(core)
    leaves = core + np.arange(4 * core)
    dead = core + leaves.size
    strays = dead + 1 + np.arange(tails)
    sources = np.concatenate([ring, np.repeat(ring, 4), strays, ring[:1]])
    targets = np.concatenate([np.roll(ring, -1), leaves, np.full(tails, dead), [dead]])
    return CsrGraph.from_edges(sources, targets, nodes=dead + 1 + tails, name="bow-tie")


def any_node_of_the_largest_component(graph: CsrGraph, seed: int) -> int:
    """What was chosen before: fine where edges go both ways."""
    _, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    candidates = np.flatnonzero((label == np.bincount(label).argmax()) & (graph.out_degrees > 0))
    return int(np.random.default_rng(seed).choice(candidates))


def naive_reach(graph: CsrGraph, source: int) -> tuple[int, int]:
    seen, todo = {source}, [source]
    while todo:
        for target in graph.neighbours(todo.pop()).tolist():
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return len(seen), int(sum(graph.out_degrees[node] for node in seen))


@pytest.mark.parametrize("seed", range(5))
def test_the_source_reaches_what_the_core_reaches(seed):
    graph = bow_tie()
    assert reach(graph, reaching_source(graph, seed)) == naive_reach(graph, 0) == (201, 201)


def test_most_nodes_would_reach_nothing():
    graph = bow_tie()
    found = [reach(graph, any_node_of_the_largest_component(graph, seed))[0] for seed in range(20)]
    assert np.median(found) == 2


@pytest.mark.parametrize("seed", range(40))
def test_weak_components_are_scipys(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 60))
    ends = rng.integers(0, nodes, (2, int(rng.integers(0, 70))))
    graph = CsrGraph.from_edges(*ends, nodes=nodes)
    _, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    least = np.array([np.flatnonzero(label == mine)[0] for mine in label])
    assert weak_components(graph.offsets, graph.targets).tolist() == least.tolist()
    source = int(rng.integers(0, nodes))
    assert reach(graph, source) == naive_reach(graph, source)


@pytest.mark.parametrize("name", ["kron-8", "delaunay-8", "grid-9x9"])
def test_seeded_sources_of_undirected_graphs_stay(name):
    graph = load_graph(name)
    for seed in range(6):
        assert reaching_source(graph, seed) == any_node_of_the_largest_component(graph, seed)


def test_a_graph_without_a_core_gets_one_of_the_best_of_several():
    """A tree of arcs away from the root: strongly connected components are single nodes."""
    nodes = 255
    graph = CsrGraph.from_edges((np.arange(1, nodes) - 1) // 2, np.arange(1, nodes), nodes=nodes)
    for seed in range(5):
        best = reach(graph, reaching_source(graph, seed))[0]
        picked = reach(graph, any_node_of_the_largest_component(graph, seed))[0]
        assert best >= max(picked, 15)


def test_a_weight_of_zero_is_still_an_arc():
    graph = CsrGraph.from_edges([0, 1], [1, 2], np.array([0, 0]))
    assert reach(graph, 0) == (3, 2)


def test_what_was_reached_is_in_the_result_and_on_the_screen():
    result = warpsift.simulate("bfs", bow_tie(), seed=3)
    assert (result.nodes_reached, result.edges_reached) == (201, 201)
    assert {k: result.as_dict()[k] for k in ("nodes_reached", "edges_reached")} == {
        "nodes_reached": 201,
        "edges_reached": 201,
    }
    assert "warning" not in result.notes
    text = io.StringIO()
    print_run(Console(file=text, width=140), result)
    assert f"source {result.options['source']} reaches 201 nodes (33.4 %) and 201 arcs (33.4 %)" in text.getvalue()


def test_a_run_that_reaches_almost_nothing_warns():
    graph = bow_tie()
    stray = graph.nodes - 1
    result = warpsift.simulate("bfs", graph, source=stray)
    assert (result.nodes_reached, result.edges_reached) == (2, 1)
    assert result.notes["warning"].startswith(f"source {stray} reaches 2 of {graph.nodes} nodes")


def test_rates_count_the_arcs_that_were_reached():
    graph = bow_tie()
    result = warpsift.simulate("bfs", graph, source=0, gpu="gtx480")
    assert result.mteps == pytest.approx(201 / result.seconds / 1e6, rel=1e-3)


def test_a_run_that_was_stopped_counts_what_it_touched():
    result = warpsift.simulate("bfs", "grid-30x30", source=0, max_iterations=2)
    assert result.edges_reached == result.work["edges_touched"] == 2 + 3 + 3


def test_algorithms_that_start_everywhere_reach_everything():
    result = warpsift.simulate("wcc", bow_tie())
    assert (result.nodes_reached, result.edges_reached) == (bow_tie().nodes, bow_tie().edges)


def test_sssp_says_which_weights_it_used():
    plain = load_graph("grid-5x5")
    weighted = plain.with_weights(np.ones(plain.edges, np.int32))
    notes = warpsift.simulate("sssp", plain, seed=7).notes
    assert notes["weights"] == "random integers from 1 to 64, seed 7 (the graph has none)"
    assert "weights" not in warpsift.simulate("sssp", weighted).notes
    notes = warpsift.simulate("sssp", weighted, random_weights=True).notes
    assert notes["weights"] == "random integers from 1 to 64, seed 1 (instead of the graph's own)"


def test_parallel_arcs_do_not_hang_the_search():
    """SciPy's search for strong components runs for ever on this graph, unless its parallel arcs are merged."""
    arcs = [(3, 22), (7, 15), (7, 27), (9, 1), (23, 8), (9, 18), (1, 30), (1, 30), (4, 27), (5, 30), (32, 6), (8, 25)]
    arcs += [(26, 15), (33, 24), (30, 20), (28, 7), (4, 13), (23, 6), (6, 22), (6, 12), (7, 5), (0, 32), (27, 15)]
    arcs += [(5, 19), (31, 3), (27, 19), (25, 2), (1, 17), (30, 28), (14, 17), (20, 30), (28, 3), (17, 32), (11, 28)]
    arcs += [
        (29, 18),
        (11, 20),
        (32, 25),
        (26, 25),
        (30, 14),
        (19, 1),
        (4, 9),
        (31, 7),
        (23, 16),
        (19, 19),
        (8, 6),
        (32, 8),
    ]
    code = (
        "from warpsift.algorithms.reach import reaching_source; from warpsift.graph import CsrGraph; "
        f"arcs = {arcs}; graph = CsrGraph.from_edges([a for a, _ in arcs], [b for _, b in arcs], nodes=34); "
        "print(reaching_source(graph, 58))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and int(done.stdout) < 34, done.stderr
