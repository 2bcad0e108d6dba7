"""BFS, SSSP, PageRank and WCC on the basic and the enhanced SCU: the paper's example, equal answers, less work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.odd_graphs import ODD, edges
from warpsift.algorithms import ALGORITHMS
from warpsift.algorithms.conventions import INFINITY
from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine
from warpsift.simt import Counter, Gpu
from warpsift.units import UnitError, resolve
from warpsift.units.scu.drivers import DRIVERS
from warpsift.units.scu.drivers import scu_sssp as sssp_scu
from warpsift.units.scu.scu_spec import ScuSpec

PAIRS = [(name, unit) for name in DRIVERS for unit in ("scu-basic", "scu")]


def run(algorithm: str, unit: str, graph: CsrGraph, spec: dict | None = None, **options):
    """Outcome and counters of a checked run; `spec` are keys of the machine's [scu]."""
    chosen = ALGORITHMS[algorithm]
    graph, prepared = chosen.prepare(graph, chosen.options(**options))
    counter = Counter()
    machine = None if spec is None else load_machine("gtx980", {f"scu.{key}": value for key, value in spec.items()})
    plugged_in = resolve(unit)
    driver = chosen.styles["frontier"] if plugged_in is None else plugged_in.driver(algorithm, machine)
    outcome = driver(Gpu(counter, memory_bytes=1 << 28), graph, prepared)
    if prepared.max_iterations is None or algorithm == "pagerank":
        verdict = chosen.check(graph, outcome, prepared)
        assert verdict.passed, verdict.reason
    return outcome, counter


# ---------------------------------------------------------------------- the paper's example
A, B, C, D, E, F, G = range(7)


@pytest.mark.parametrize("enhanced", [False, True])
def test_figure_4(enhanced):
    """Node frontier B C D, threshold 3: edge frontier E F F C G at 3 3 5 2 3, near C, far E3 F3 F5 G3."""
    arcs = [(A, B), (A, C), (A, D), (B, E), (B, F), (C, F), (D, C), (D, G)]
    graph = edges(7, arcs, np.array([1, 3, 1, 2, 2, 2, 1, 2], np.int32))
    gpu = Gpu(Counter(), memory_bytes=1 << 26)
    m = sssp_scu._machinery(gpu, graph, A, ScuSpec(), enhanced)
    m.state.distance.host[:] = [0, 1, 3, 1, INFINITY, INFINITY, INFINITY]
    m.state.nodes.fill(node=np.array([B, C, D]))
    sssp_scu._expand(gpu, m)
    frontier = m.state.edges
    found = list(zip(frontier.node.host.tolist(), frontier.cost.host.tolist(), strict=True))[: len(frontier)]
    if enhanced:  # F at 5 has been beaten by F at 3; the order is the groups'
        assert sorted(found) == [(C, 2), (E, 3), (F, 3), (G, 3)]
    else:
        assert found == [(E, 3), (F, 3), (F, 5), (C, 2), (G, 3)]
    sssp_scu.contract_candidates(gpu, m, frontier, m.state.far[0], 3)
    far = m.state.far[0]
    pile = list(zip(far.node.host.tolist(), far.cost.host.tolist(), strict=True))[: len(far)]
    assert m.state.nodes.node.host[: len(m.state.nodes)].tolist() == [C]
    assert m.state.distance.host[C] == 2
    assert sorted(pile) == [(E, 3), (F, 3)] + ([] if enhanced else [(F, 5)]) + [(G, 3)]


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(("algorithm", "unit"), PAIRS)
def test_odd_graphs(algorithm, unit, name):
    run(algorithm, unit, ODD[name], **({"source": 0} if algorithm in ("bfs", "sssp") else {}))


@pytest.mark.parametrize("algorithm", ["pagerank", "wcc"])
def test_empty_graph(algorithm):
    assert run(algorithm, "scu", edges(0, []))[0].values.size == 0


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 60))
    node = st.integers(0, nodes - 1)
    arcs = draw(st.lists(st.tuples(node, node), max_size=200))
    weights = draw(st.lists(st.integers(0, 100), min_size=len(arcs), max_size=len(arcs)))
    return edges(nodes, arcs, np.array(weights, np.int32))


tiny = st.fixed_dictionaries(
    {
        "width": st.sampled_from([1, 4, 16]),
        "hash_ways": st.sampled_from([1, 4, 16]),
        "bfs_filter_bytes": st.sampled_from([512, 4096]),
        "sssp_filter_bytes": st.sampled_from([512, 4096]),
        "sssp_group_bytes": st.sampled_from([512, 4096]),
        "grouping": st.booleans(),
        "expansion_life": st.sampled_from(["persistent", "clear", "epoch"]),
        "other_life": st.sampled_from(["clear", "epoch"]),
        "fit_tables": st.booleans(),
        "accumulate": st.sampled_from(["scu", "gpu"]),
    }
)


@pytest.mark.parametrize(("algorithm", "unit"), [p for p in PAIRS if p != ("pagerank", "scu-basic")])
@settings(max_examples=12, deadline=None)
@given(graph=graphs(), seed=st.integers(0, 1000), options=tiny)
def test_random_graphs_on_any_unit(algorithm, unit, graph, seed, options):
    """Tables so small that they forget most of what they see must not change an answer."""
    run(algorithm, unit, graph, options, seed=seed)


@pytest.mark.parametrize("name", ["delaunay-10", "kron-9", "rmat-9", "grid-20x20", "road-800", "web-700", "gene-300"])
@pytest.mark.parametrize(("algorithm", "unit"), PAIRS)
def test_generated_graphs(algorithm, unit, name):
    graph = load_graph(name)
    options = {"max_iterations": 5} if algorithm == "pagerank" else {}
    ours, _ = run(algorithm, unit, graph, **options)
    theirs, _ = run(algorithm, "none", graph, **options)
    if algorithm == "pagerank":  # sums in another order
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-4)
    else:
        np.testing.assert_array_equal(ours.values, theirs.values)


@pytest.mark.parametrize("file", ["wiki-Vote.txt.gz", "delaunay_n13.mtx.gz", "ca-HepTh.csv.gz"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "wcc"])
def test_real_graphs(algorithm, file, data):
    run(algorithm, "scu", load_graph(str(data / file)))


# ---------------------------------------------------------------------- work
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "wcc"])
def test_filtering_leaves_the_gpu_less_to_do(algorithm):
    graph = load_graph("kron-11")
    left, instructions = {}, {}
    for unit in ("scu-basic", "scu"):
        outcome, counter = run(algorithm, unit, graph)
        left[unit] = outcome.notes["frontier_elements"]
        instructions[unit] = sum(launch.counters.warp_instructions for launch in counter.launches)
    assert left["scu"] < 0.3 * left["scu-basic"]
    assert instructions["scu"] < 0.4 * instructions["scu-basic"]


def test_far_piles_are_counted_alike_on_gpu_and_unit():
    """Plain GPU and basic unit put the same elements far; a filter takes some of them out on their way back."""
    graph = load_graph("delaunay-10")
    notes = {unit: run("sssp", unit, graph)[0].notes for unit in ("none", "scu-basic", "scu")}
    assert notes["none"]["far_phases"] > 0
    assert notes["none"]["far_pile_elements"] == notes["scu-basic"]["far_pile_elements"] > 0
    assert notes["scu-basic"]["far_kept_elements"] == 0
    assert 0 < notes["scu"]["far_kept_elements"] < notes["scu"]["far_pile_elements"]
    assert notes["scu"]["far_pile_elements"] <= notes["none"]["far_pile_elements"]


def test_only_a_persistent_table_filters_visited_nodes():
    """Spec of the hash's life time: cleared per operation, a triangulation keeps far more of its edges."""
    graph = load_graph("delaunay-12")
    share = {}
    for life in ("persistent", "clear"):
        outcome, _ = run("bfs", "scu", graph, {"expansion_life": life})
        share[life] = outcome.notes["edge_frontier_elements"] / outcome.notes["expanded_elements"]
    assert share["persistent"] == pytest.approx(1 / 6, abs=0.02)  # every node once: nodes / arcs
    assert share["clear"] > 2 * share["persistent"]


def test_grouping_coalesces_the_gpus_accesses():
    """Fewer transactions per warp access to the arrays indexed by destination (paper, Fig. 12)."""
    graph = load_graph("kron-12")
    transactions = {}
    for group in (False, True):
        _, counter = run("sssp", "scu", graph, {"grouping": group})
        contract = [launch.counters for launch in counter.launches if launch.info.kernel == "contract"]
        total = sum(c.transactions for c in contract) / sum(c.memory_instructions for c in contract)
        transactions[group] = total
    assert transactions[True] < 0.8 * transactions[False]


def test_unknown_units_are_refused():
    with pytest.raises(UnitError) as error:
        resolve("scx")
    assert str(error.value).startswith(
        "unknown unit 'scx': did you mean 'scu'? choose one of none, scu, scu-basic, mff"
    )
