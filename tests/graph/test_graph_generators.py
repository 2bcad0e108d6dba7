"""Generators: seeded, simple, symmetric where they say so, of the promised size and kind."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, dijkstra

from warpsift.graph import CsrGraph, describe, list_graphs, load_graph
from warpsift.graph.generators.delaunay import delaunay, triangulation_edges
from warpsift.graph.generators.names import KINDS
from warpsift.graph.generators.rgg import RADIUS, radius_of, rgg
from warpsift.graph.generators.rmat import GRAPH500, kron, rmat, rmat_arcs
from warpsift.graph.generators.space import hilbert_keys, insertion_order
from warpsift.graph.generators.web import web
from warpsift.graph.likeness import LONG, SHORT, far_share
from warpsift.graph.presets import presets

SMALL = {
    "delaunay-9": True,
    "rgg-9": True,
    "kron-9": True,
    "kron-9-4": True,
    "rmat-9": False,
    "uniform-9": True,
    "grid-9x7": True,
    "grid-4x5x6": True,
    "road-700": True,
    "collab-700": True,
    "mesh3d-700": True,
    "gene-700": True,
    "web-700": False,
}


def mean_degree(graph: CsrGraph) -> float:
    return graph.edges / graph.nodes


@pytest.mark.parametrize("name", SMALL)
def test_generated_graphs_are_seeded_and_simple(name):
    graph = load_graph(name)
    assert load_graph(name).content_hash == graph.content_hash
    if not name.startswith("grid"):
        assert load_graph(name, seed=2).content_hash != graph.content_hash
    described = describe(graph)
    assert (described["self_loops"], described["duplicate_arcs"]) == (0, 0)
    assert described["symmetric"] is SMALL[name]
    assert (graph.name, graph.stand_in_for, graph.provenance["format"]) == (name, None, "generated")
    assert graph.weights is None


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["road", "collab", "mesh3d", "gene", "web", "sites"]), st.integers(0, 40), st.integers(0, 3))
def test_every_size_down_to_nothing(kind, nodes, seed):
    graph = load_graph(f"{kind}-{nodes}", seed=seed, cache=False)
    assert graph.nodes == nodes


@pytest.mark.parametrize("kind", ["delaunay", "rgg", "kron", "rmat", "uniform"])
@pytest.mark.parametrize("scale", [0, 1, 2, 3])
def test_smallest_powers_of_two(kind, scale):
    assert load_graph(f"{kind}-{scale}").nodes == 2**scale


def test_random_geometric_graphs_join_the_pairs_below_the_radius():
    """Against all pairs; and as many arcs as DIMACS10's graphs of this law have (2^18: 3,094,566)."""
    graph = rgg(8)
    points = np.random.default_rng(1).random((256, 2))
    points = points[np.argsort(points[:, 0])]
    near = np.hypot(*(points[:, None] - points[None]).T) <= radius_of(256)
    assert np.array_equal(graph.to_scipy().toarray() != 0, near & ~np.eye(256, dtype=bool))
    assert rgg(14).edges / 2**14 == pytest.approx(np.pi * RADIUS**2 * np.log(2**14), rel=0.03)


def test_delaunay_has_empty_circumcircles():
    """The definition, by brute force: an edge of the triangulation has a circle through its ends that is empty."""
    points = np.random.default_rng(3).random((40, 2))
    sources, targets = triangulation_edges(points)
    edges = set(zip(sources.tolist(), targets.tolist(), strict=True))
    expected = set()
    for i in range(40):
        for j in range(i):
            for k in range(40):
                if k not in (i, j) and _circle_is_empty(points, i, j, k):
                    expected |= {(i, j), (j, i)}
                    break
    assert edges == expected


def _circle_is_empty(points: np.ndarray, i: int, j: int, k: int) -> bool:
    a, b, c = points[i], points[j], points[k]
    matrix = 2 * np.array([b - a, c - a])
    centre = np.linalg.solve(matrix, np.array([b @ b - a @ a, c @ c - a @ a]))
    distances = np.linalg.norm(points - centre, axis=1)
    others = np.delete(distances, [i, j, k])
    return bool(np.all(others > np.linalg.norm(a - centre)))


def test_delaunay_is_planar_connected_and_numbered_like_dimacs():
    graph = delaunay(13)
    assert graph.edges == pytest.approx(6 * graph.nodes, rel=0.002)
    assert connected_components(graph.to_scipy(), directed=False)[0] == 1
    assert nx.check_planarity(nx.from_scipy_sparse_array(delaunay(9).to_scipy()))[0]
    # delaunay_n13 of DIMACS10: the distances between the numbers of neighbours have these quartiles.
    distance = np.abs(graph.sources - graph.targets)
    assert np.percentile(distance, [25, 50, 75]) == pytest.approx([2, 20, 3315], rel=0.2)


def test_points_on_a_line_become_a_path():
    points = np.stack((np.array([3.0, 1.0, 2.0, 0.0]), np.zeros(4)), axis=1)
    sources, targets = triangulation_edges(points)
    assert set(zip(sources.tolist(), targets.tolist(), strict=True)) == {
        (3, 1), (1, 3), (1, 2), (2, 1), (2, 0), (0, 2),
    }  # fmt: skip


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_hilbert_curve_visits_every_cell_and_moves_by_one(dimensions):
    side = 8
    cells = np.stack(np.meshgrid(*[np.arange(side)] * dimensions), axis=-1).reshape(-1, dimensions)
    order = np.argsort(hilbert_keys((cells + 0.5) / side))
    steps = np.abs(np.diff(cells[order], axis=0)).sum(axis=1)
    assert np.all(steps == 1)


def test_insertion_order_keeps_all_points():
    points = np.random.default_rng(1).random((1000, 2))
    ordered = insertion_order(points)
    assert sorted(map(tuple, ordered)) == sorted(map(tuple, points))


def test_rmat_quadrants_have_their_probabilities():
    sources, targets = rmat_arcs(1, 400_000, GRAPH500, np.random.default_rng(1))
    shares = np.bincount(2 * sources + targets, minlength=4) / 400_000
    assert shares == pytest.approx([0.57, 0.19, 0.19, 0.05], abs=0.004)
    assert rmat(10, 8).edges < 8 * 1024
    skewed = kron(12, 16)
    assert skewed.out_degrees.max() > 20 * mean_degree(skewed)


def test_grid_is_networkxs():
    graph = load_graph("grid-5x7")
    expected = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 7), ordering="sorted")
    assert graph.content_hash == CsrGraph.from_networkx(expected).content_hash
    cube = nx.convert_node_labels_to_integers(nx.grid_graph((4, 3, 2)), ordering="sorted")
    assert load_graph("grid-2x3x4").content_hash == CsrGraph.from_networkx(cube).content_hash


@pytest.mark.parametrize("degree", [2, 2.47, 4.9, 5.9])
def test_roads_are_planar_connected_and_of_the_wanted_degree(degree):
    graph = load_graph(f"road-3000-{degree}")
    assert mean_degree(graph) == pytest.approx(degree, rel=0.02)
    assert connected_components(graph.to_scipy(), directed=False)[0] == 1
    assert nx.check_planarity(nx.from_scipy_sparse_array(graph.to_scipy()))[0]


def test_collaborations_are_clustered_with_a_tail():
    graph = load_graph("collab-20000-8")
    assert mean_degree(graph) == pytest.approx(8, rel=0.01)
    network = nx.from_scipy_sparse_array(graph.to_scipy())
    by_chance = 8 / 20_000
    assert nx.transitivity(network) > 100 * by_chance
    assert graph.out_degrees.max() > 10 * mean_degree(graph)


def test_links_of_productive_authors_lead_far_and_they_stand_together():
    graph = load_graph("collab-40000")
    assert far_share(graph, *LONG) > 2 * far_share(graph, *SHORT)  # dblp-2010: docs/graphs.md
    largest = graph.out_degrees[: graph.nodes * 2 // 3 // 512 * 512].astype(float)  # the small pieces lie behind
    of_512 = largest.reshape(-1, 512).mean(axis=1)
    shuffled = np.random.default_rng(1).permutation(largest).reshape(-1, 512).mean(axis=1)
    assert of_512.std() > 3 * shuffled.std()


def test_meshes_couple_all_unknowns_of_neighbouring_mesh_nodes():
    graph = load_graph("mesh3d-3000-3")
    assert mean_degree(graph) == pytest.approx(46, rel=0.06)
    for mesh_node in range(0, 1000, 50):
        groups = [set(graph.neighbours(3 * mesh_node + k).tolist()) | {3 * mesh_node + k} for k in range(3)]
        assert groups[0] == groups[1] == groups[2]
    mesh = load_graph("mesh3d-1000-1")  # the same 1000 points: 9 arcs for each of its own, 6 inside a mesh node
    assert graph.edges == 9 * mesh.edges + 6 * mesh.nodes


def test_gene_networks_are_dense_clustered_and_uneven():
    graph = load_graph("gene-2000")
    assert graph.edges / graph.nodes**2 == pytest.approx(24_669_643 / 22_283**2, rel=0.03)
    assert graph.out_degrees.max() > 3 * mean_degree(graph)
    assert nx.transitivity(nx.from_scipy_sparse_array(load_graph("gene-500").to_scipy())) > 5 * 0.05
    assert mean_degree(load_graph("gene-2000-40")) == pytest.approx(40, rel=0.03)


def test_webs_are_local_with_a_power_law_of_in_degrees():
    graph = load_graph("web-50000-10")
    assert mean_degree(graph) == pytest.approx(10, rel=0.01)
    distance = np.abs(graph.sources.astype(np.int64) - graph.targets)
    assert np.median(distance) < 500  # half of all links stay within 1 % of the numbering
    in_degrees = graph.in_edges.out_degrees
    assert in_degrees.max() > 30 * mean_degree(graph)
    # Hill's estimator of the tail's exponent, of the largest 1 %: 3.6 here; the uniform graph below has no tail.
    exponent = _tail_exponent(in_degrees)
    assert 2 < exponent < 4
    assert _tail_exponent(load_graph("uniform-15-5").in_edges.out_degrees) > 8
    # Neighbouring pages have similar lists: copying shows.
    shared = [
        np.intersect1d(graph.neighbours(v), np.concatenate([graph.neighbours(v - k) for k in range(1, 8)])).size
        for v in range(1000, 3000)
    ]
    assert sum(shared) > 0.35 * (graph.offsets[3000] - graph.offsets[1000])


def _distances(graph, source: int) -> np.ndarray:
    """Hops from a node to all that it reaches."""
    hops = dijkstra(graph.to_scipy(), indices=source, unweighted=True)
    return hops[np.isfinite(hops)]


@pytest.mark.parametrize("name", ["amazon-2008@1/32", "cnr-2000@1/32", "dewiki-2013@1/128"])
def test_link_graphs_are_small_worlds(name):
    graph = load_graph(name)
    for source in (graph.nodes // 3, graph.nodes // 2, graph.nodes - 1):
        hops = _distances(graph, source)
        assert hops.size > 0.5 * graph.nodes
        assert hops.max() < 40 and 3 < hops.mean() < 14  # the original of cnr-2000 is deeper than the others


def test_links_to_any_page_make_the_small_world():
    size = 735_323 // 32
    far = _distances(web(size, 7.0, 1, 10), size // 2).max()
    creeping = _distances(web(size, 7.0, 1, 10, elsewhere=0.0), size // 2).max()
    assert creeping > 3 * far


def _tail_exponent(degrees: np.ndarray) -> float:
    tail = np.sort(degrees)[-len(degrees) // 100 :].astype(float)
    return float(1 + 1 / np.mean(np.log(tail / tail[0])))


# Presets.

PAPERS = {  # the papers' tables: nodes, arcs (delaunay: 3.4 M is a misprint of 3.15 M)
    "ca": (710e3, 3.48e6),
    "cond": (40e3, 0.35e6),
    "delaunay": (524e3, 3.15e6),
    "human": (22e3, 24.6e6),
    "kron": (262e3, 21e6),
    "msdoor": (415e3, 20.2e6),
    "dblp-2010": (326_186, 1_615_400),
    "dblp-2011": (986_324, 6_707_236),
    "cnr-2000": (325_557, 3_216_152),
    "amazon-2008": (735_323, 5_158_388),
    "dewiki-2013": (1_532_354, 36_722_696),
}


def test_every_graph_of_the_papers_has_a_preset_of_its_size():
    assert list(presets()) == list(PAPERS)
    for name, (nodes, arcs) in PAPERS.items():
        assert presets()[name].nodes == pytest.approx(nodes, rel=0.05)
        assert presets()[name].arcs == pytest.approx(arcs, rel=0.05)


@pytest.mark.parametrize("name", ["cond", "dblp-2010", "cnr-2000", "amazon-2008"])
def test_quick_presets_keep_the_promise_at_full_size(name):
    graph = load_graph(name, cache=False)
    nodes, arcs = PAPERS[name]
    assert graph.nodes == pytest.approx(nodes, rel=0.05)
    assert graph.edges == pytest.approx(arcs, rel=0.05)
    assert graph.stand_in_for == presets()[name].original


@pytest.mark.parametrize("name", PAPERS)
def test_parts_of_presets_have_the_same_degree(name):
    part = load_graph(f"{name}@1/64")
    preset = presets()[name]
    if name in ("delaunay", "kron"):
        assert part.nodes == preset.nodes // 64
    else:
        assert part.nodes == pytest.approx(preset.nodes / 64, abs=1)
    if name == "human":  # 348 genes cannot have 1107 neighbours: a quarter of all pairs
        assert mean_degree(part) == pytest.approx(part.nodes / 4, rel=0.05)
    elif name == "kron":  # more of the draws coincide in a smaller matrix
        assert 0.5 * preset.degree < mean_degree(part) < preset.degree
    else:
        assert mean_degree(part) == pytest.approx(preset.degree, rel=0.1)


def test_a_file_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_graph("cond@1/100").nodes == 404
    (tmp_path / "cond@1").mkdir()
    (tmp_path / "cond").write_text("0 1\n")
    assert load_graph("cond").nodes == 2
    assert load_graph("cond").stand_in_for is None
    (tmp_path / "delaunay-4").write_text("0 1\n")
    assert load_graph("delaunay-4").nodes == 2


def test_the_list_shows_every_preset_and_kind():
    rows = list_graphs()
    names = [row["name"] for row in rows]
    assert set(PAPERS) <= set(names)
    assert {KINDS[kind].usage for kind in KINDS} <= set(names)
    stand_ins = {row["name"] for row in rows if row["stand_in_for"]}
    assert stand_ins == set(PAPERS)
    assert all(set(row) == {"name", "nodes", "arcs", "about", "stand_in_for", "real_graph"} for row in rows)


def test_options_apply_to_generated_graphs():
    directed = load_graph("web-300")
    assert load_graph("web-300", symmetrise=True).content_hash == directed.symmetrised().content_hash


def test_authors_are_numbered_by_pieces_the_largest_first():
    graph = load_graph("collab-3000")
    _, piece = connected_components(graph.to_scipy(), directed=False)
    largest = np.bincount(piece).argmax()
    size = int((piece == largest).sum())
    assert 1500 < size < 3000
    assert (piece[:size] == largest).all()
