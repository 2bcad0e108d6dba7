"""All algorithms in all styles against their independent checks, on odd, random and real graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.odd_graphs import ODD, edges
from warpsift.algorithms import ALGORITHMS, OptionError
from warpsift.algorithms.conventions import INFINITY
from warpsift.graph import GraphError, load_graph
from warpsift.run.execute import simulate
from warpsift.simt import Counter, Gpu

PAIRS = [(name, style) for name, algorithm in ALGORITHMS.items() for style in algorithm.styles]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(("algorithm", "style"), PAIRS)
def test_odd_graphs(algorithm, style, name):
    source = {"source": 0} if hasattr(ALGORITHMS[algorithm].options, "source") else {}
    result = simulate(algorithm, ODD[name], style=style, **source)
    assert result.check == "pass", result.check_reason


@pytest.mark.parametrize(("algorithm", "style"), PAIRS)
def test_empty_graph(algorithm, style):
    empty = edges(0, [])
    if algorithm in ("bfs", "sssp"):
        with pytest.raises(OptionError, match="the graph has no nodes, so there is no source to start from"):
            simulate(algorithm, empty, style=style)
    else:
        assert simulate(algorithm, empty, style=style).check == "pass"


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 60))
    node = st.integers(0, nodes - 1)
    arcs = draw(st.lists(st.tuples(node, node), max_size=200))
    weights = draw(st.lists(st.integers(0, 100), min_size=len(arcs), max_size=len(arcs)))
    return edges(nodes, arcs, np.array(weights, np.int32))


@pytest.mark.parametrize(("algorithm", "style"), PAIRS)
@settings(max_examples=25, deadline=None)
@given(graph=graphs(), seed=st.integers(0, 1000))
def test_random_graphs(algorithm, style, graph, seed):
    result = simulate(algorithm, graph, style=style, seed=seed)
    assert result.check == "pass", result.check_reason


@pytest.mark.parametrize(
    "name", ["delaunay-10", "kron-9", "rmat-9", "uniform-9", "grid-20x20", "road-800", "collab-500", "web-700"]
)
@pytest.mark.parametrize(("algorithm", "style"), PAIRS)
def test_generated_graphs(algorithm, style, name):
    options = {"max_iterations": 20} if algorithm == "pagerank" else {}
    result = simulate(algorithm, load_graph(name), style=style, **options)
    assert result.check == "pass", result.check_reason


@pytest.mark.parametrize(("algorithm", "style"), PAIRS)
@pytest.mark.parametrize("name", ["mesh3d-900", "gene-300"])
def test_generated_dense_graphs(algorithm, style, name):
    options = {"max_iterations": 5} if algorithm == "pagerank" else {}
    assert simulate(algorithm, load_graph(name), style=style, **options).check == "pass"


@pytest.mark.parametrize("file", ["wiki-Vote.txt.gz", "ca-HepTh.csv.gz", "delaunay_n13.mtx.gz", "cal.cedge.gz"])
@pytest.mark.parametrize(("algorithm", "style"), PAIRS)
def test_real_graphs(data, algorithm, style, file):
    options = {"max_iterations": 5} if algorithm == "pagerank" else {}
    if algorithm == "bc":
        options = {"sources": 1}
        if file == "cal.cedge.gz":
            pytest.skip("a road network has hundreds of levels; the other files cover betweenness")
    if (algorithm, style, file) == ("wcc", "frontier", "cal.cedge.gz"):
        pytest.skip("602 iterations of label propagation take 12 s; the vertex style covers this file")
    result = simulate(algorithm, load_graph(str(data / file)), style=style, **options)
    assert result.check == "pass", result.check_reason


# ------------------------------------------------------------------ options
@pytest.mark.parametrize("active", ["compact", "all"])
@pytest.mark.parametrize("bits", ["atomic", "byte"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "wcc"])
def test_vertex_options(algorithm, active, bits):
    result = simulate(algorithm, load_graph("kron-8"), style="vertex", active=active, bit_setting=bits)
    assert result.check == "pass"
    atomics = sum(launch.counters.atomic_instructions for launch in result.launches if launch.info.phase == "compute")
    assert (atomics > 0) == (bits == "atomic")


@pytest.mark.parametrize("culling", [(False, False), (True, False), (False, True), (True, True)])
def test_culling_lowers_the_work_of_bfs(culling):
    graph = load_graph("delaunay-11")
    result = simulate("bfs", graph, warp_culling=culling[0], history_culling=culling[1], visibility_ctas=1)
    assert result.check == "pass"
    touched = result.work["edges_touched_per_edge"]
    assert (touched < 1.1) if culling == (True, True) else (touched > 1.005)


def test_visibility_decides_the_duplicates_of_bfs():
    graph = load_graph("delaunay-13")
    work = [simulate("bfs", graph, visibility_ctas=v).work["edges_touched_per_edge"] for v in (1, 4, 0)]
    assert work[0] < 1.05 < work[1] < work[2]


def test_split_kernels_find_the_same_and_show_compaction():
    graph = load_graph("kron-9")
    result = simulate("bfs", graph, split_kernels=True)
    assert result.check == "pass"
    assert {p.name: p.compaction for p in result.phases} == {"expand": True, "contract": False, "compact": True}


@pytest.mark.parametrize("graph", ["kron-9", "delaunay-10", "grid-20x20"])
def test_the_filter_kernel_finds_the_same_in_three_launches_a_level(graph):
    result = simulate("bfs", load_graph(graph), filter_kernel=True)
    assert result.check == "pass"
    launches = {p.name: p.launches for p in result.phases}
    assert launches["expand"] == launches["filter"] == result.iterations
    assert launches["contract"] in (result.iterations, result.iterations - 1)  # nothing is left at the last level
    fused = simulate("bfs", load_graph(graph))
    assert np.array_equal(result.values, fused.values)
    phases = {p.name: p.counters for p in result.phases}
    assert (
        phases["contract"].warp_instructions < phases["filter"].warp_instructions + phases["expand"].warp_instructions
    )


def test_direction_optimising_bfs_skips_most_edges():
    graph = load_graph("kron-11")
    result = simulate("bfs", graph, style="direction")
    assert result.check == "pass" and result.notes["steps_inwards"] > 0
    assert result.work["edges_touched_per_edge"] < 0.5


@pytest.mark.parametrize("delta", [1, 20, 1e9])
def test_any_delta_gives_the_shortest_paths(delta):
    result = simulate("sssp", load_graph("kron-9"), delta=delta)
    assert result.check == "pass"
    assert (result.notes["far_phases"] == 0) == (delta == 1e9)


def test_figure_4_of_the_scu_paper():
    """Frontier B C D, edges E F F C G at costs 3 3 5 2 3, threshold 3: near C, far E3 F3 F5 G3."""
    from warpsift.algorithms.sssp import frontier

    graph = edges(7, [(0, 1)], np.array([1], np.int32))
    gpu = Gpu(Counter(), memory_bytes=1 << 22)
    state = frontier.allocate(gpu, graph, 0)
    state.edges.reserve(5)
    state.edges.fill(node=np.array([4, 5, 5, 2, 6]), cost=np.array([3, 3, 5, 2, 3]))
    state.nodes.clear()
    frontier._contract(gpu, state, state.edges, state.far[0], 3, frontier.Work())
    assert state.nodes.node.host[: len(state.nodes)].tolist() == [2]
    far = state.far[0]
    found = zip(far.node.host[: len(far)].tolist(), far.cost.host[: len(far)].tolist(), strict=True)
    assert sorted(found) == [(4, 3), (5, 3), (5, 5), (6, 3)]


@pytest.mark.parametrize("style", ["frontier", "vertex"])
@pytest.mark.parametrize(("normalize", "dangling"), [(True, False), (False, True), (True, True)])
def test_pagerank_forms(style, normalize, dangling):
    graph = load_graph("rmat-8")
    result = simulate("pagerank", graph, style=style, normalize=normalize, dangling=dangling, epsilon=1e-4)
    assert result.check == "pass"
    if normalize and dangling:
        assert result.values.sum() == pytest.approx(1, abs=1e-3)


def test_pagerank_says_why_it_stopped():
    graph = load_graph("kron-9")
    assert simulate("pagerank", graph, epsilon=1e-2).notes["stopped"] == "converged"
    assert simulate("pagerank", graph, max_iterations=2).notes["stopped"] == "iteration limit"
    assert simulate("pagerank", graph, epsilon=1e-12).notes["stopped"] == "float32 rounding reached"


def test_a_wrong_answer_fails_its_check():
    graph = load_graph("grid-8x8")
    for name, algorithm in ALGORITHMS.items():
        chosen = algorithm.options(**({"per_node": True} if name == "tc" else {}))  # else its answer is one number
        prepared, options = algorithm.prepare(graph, chosen)
        outcome = next(iter(algorithm.styles.values()))(Gpu(Counter(), memory_bytes=1 << 22), prepared, options)
        assert algorithm.check(prepared, outcome, options).passed
        outcome.values[5] += 1
        verdict = algorithm.check(prepared, outcome, options)
        assert not verdict.passed and verdict.reason.startswith("node 5: "), name


def test_same_seed_same_run_and_other_seed_other_order():
    graph = load_graph("kron-10")
    counts = [simulate("bfs", graph, source=1, seed=s).as_dict()["transactions"] for s in (1, 1, 2)]
    assert counts[0] == counts[1] != counts[2]


def test_partial_runs_are_not_called_checked():
    result = simulate("bfs", load_graph("grid-8x8"), source=0, max_iterations=2)
    assert result.check == "skipped" and (result.values < INFINITY).sum() == 6


def test_bad_requests():
    graph = load_graph("grid-4x4")
    with pytest.raises(OptionError, match="source 99 is not a node: the graph has nodes 0 to 15"):
        simulate("bfs", graph, source=99)
    with pytest.raises(GraphError, match="arc 0 -> 1 has weight -1; sssp needs finite weights from 0 up"):
        simulate("sssp", edges(2, [(0, 1)], np.array([-1], np.int32)))
    with pytest.raises(OptionError, match=r"damping must lie between 0 and 1, not 1\.5"):
        simulate("pagerank", graph, damping=1.5)
    with pytest.raises(OptionError, match="bit_setting must be 'atomic' or 'byte', not 'word'"):
        simulate("bfs", graph, style="vertex", bit_setting="word")
