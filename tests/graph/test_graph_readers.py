"""Readers against other programs' readers: SciPy for Matrix Market, NetworkX and NumPy for lists, real files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from support.places import DATA
from warpsift.graph import CsrGraph, describe, load_graph, save_graph

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data with real graphs is missing")
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def load_text(folder: Path, name: str, text: str, **options) -> CsrGraph:
    (folder / name).write_text(text)
    return load_graph(folder / name, **options)


def arcs(graph: CsrGraph) -> list[tuple]:
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    if graph.weights is None:
        return list(ends)
    return [(*pair, weight) for pair, weight in zip(ends, graph.weights.tolist(), strict=True)]


def equals_matrix(graph: CsrGraph, matrix) -> bool:
    expected = CsrGraph.from_scipy(scipy.sparse.coo_array(matrix))
    if graph.weights is None:
        expected = expected.with_weights(None)
    return expected.content_hash == graph.content_hash


# Real files.


@needs_data
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "format"),
    [
        ("wave.graph.bz2", 156_317, 2 * 1_059_331, "metis"),
        ("soc-Epinions1.txt.gz", 75_879, 508_837, "edge-list"),
        ("wiki-Vote.txt.gz", 7_115, 103_689, "edge-list"),
        ("ca-HepTh.csv.gz", 9_877, 51_971, "edge-list"),
        ("BAY.gr.xz", 321_270, 2 * 397_415, "pace"),
        ("cal.cedge.gz", 21_048, 21_693, "edge-list"),
        ("delaunay_n13.mtx.gz", 8_192, 2 * 24_547, "matrix-market"),
        ("bcsstk13.mtx.gz", 2_003, 2 * 42_943 - 2_003, "matrix-market"),
        ("dblp-2010/dblp-2010", 326_186, 1_615_400, "webgraph"),
    ],
)
def test_real_files(name, nodes, edges, format):
    graph = load_graph(DATA / name)
    assert (graph.nodes, graph.edges, graph.provenance["format"]) == (nodes, edges, format)
    described = describe(graph)
    assert described["nodes"] == nodes
    assert described["symmetric"] == (format != "edge-list" or name == "ca-HepTh.csv.gz")


@needs_data
@pytest.mark.parametrize("name", ["delaunay_n13.mtx.gz", "bcsstk13.mtx.gz"])
def test_real_matrices_equal_scipys(name):
    assert equals_matrix(load_graph(DATA / name), scipy.io.mmread(DATA / name))


@needs_data
@pytest.mark.parametrize("name", ["soc-Epinions1.txt.gz", "wiki-Vote.txt.gz"])
def test_real_lists_equal_numpys(name):
    graph = load_graph(DATA / name)
    ends = np.loadtxt(DATA / name, dtype=np.int64)
    ids, ours = np.unique(ends), np.stack((graph.sources, graph.targets), axis=1)
    assert np.array_equal(graph.original_ids, ids)
    assert np.array_equal(ids[ours], ends[np.lexsort((ends[:, 1], ends[:, 0]))])


@needs_data
def test_real_weighted_lists_equal_networkxs():
    ours = load_graph(DATA / "ca-HepTh.csv.gz", symmetrise=True)
    with gzip.open(DATA / "ca-HepTh.csv.gz") as file:
        theirs = nx.read_weighted_edgelist(file, nodetype=int)
    order = sorted(theirs)
    assert ours.original_ids.tolist() == order
    assert equals_matrix(ours, nx.to_scipy_sparse_array(theirs, nodelist=order, dtype=int))
    rows = np.loadtxt(DATA / "cal.cedge.gz")
    graph = load_graph(DATA / "cal.cedge.gz")
    expected = CsrGraph.from_edges(rows[:, 1].astype(int), rows[:, 2].astype(int), rows[:, 3].astype(np.float32))
    assert graph.content_hash == expected.content_hash


@needs_data
def test_the_five_copies_of_one_graph_load_alike(tmp_path):
    with tarfile.open(DATA / "gapbs_test_graphs.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "gapbs_test_graphs" / "graphs"
    clean = {"drop_self_loops": True, "merge_duplicates": True}
    names = ["4.el", "4.wel", "4.gr", "4.graph", "4.mtx", "4w.graph", "4w.mtx"]
    graphs = {name: load_graph(folder / name, **clean) for name in names}
    assert {(graph.nodes, graph.edges) for graph in graphs.values()} == {(14, 53)}
    assert len({graph.with_weights(None).content_hash for graph in graphs.values()}) == 1
    weighted = [graphs[name] for name in ("4.wel", "4.gr", "4w.graph", "4w.mtx")]
    assert len({graph.content_hash for graph in weighted}) == 1
    raw = [load_graph(folder / name) for name in ("4.wel", "4.gr", "4w.mtx")]
    assert len({graph.content_hash for graph in raw}) == 1
    member = f"{DATA / 'gapbs_test_graphs.tar.gz'}::gapbs_test_graphs/graphs/4.wel"
    assert load_graph(member).content_hash == raw[0].content_hash


# Round trips through text.


@st.composite
def weighted_matrix(draw):
    nodes = draw(st.integers(1, 8))
    cells = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), unique=True))
    number = st.floats(-1e6, 1e6).filter(lambda value: value != 0)
    values = [draw(number) for _ in cells]
    rows, columns = (np.array([cell[side] for cell in cells], np.int64) for side in (0, 1))
    return scipy.sparse.coo_array((np.array(values, float), (rows, columns)), shape=(nodes, nodes))


@settings(max_examples=60, deadline=None)
@given(weighted_matrix(), st.sampled_from(["general", "symmetric", "skew-symmetric"]), st.booleans())
def test_matrix_market_equals_scipy(tmp_path_factory, matrix, symmetry, dense):
    if symmetry == "symmetric":
        matrix = matrix + matrix.T
    elif symmetry == "skew-symmetric":
        matrix = matrix - matrix.T
    matrix = scipy.sparse.coo_array(matrix)
    matrix.eliminate_zeros()
    path = tmp_path_factory.mktemp("mm") / "m.mtx"
    content = matrix.toarray() if dense else matrix
    scipy.io.mmwrite(path, content, symmetry=symmetry, precision=17)
    assert equals_matrix(load_graph(path, cache=False), scipy.sparse.coo_array(scipy.io.mmread(path)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(allow_nan=False, allow_infinity=False, width=32)),
        min_size=1,
    ),
    st.sampled_from([" ", "\t", ",", " , ", ";"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["repr", ".17g", ".9e"]),
)
def test_weighted_lists_keep_every_float(tmp_path_factory, rows, separator, end, style):
    shown = [repr(w) if style == "repr" else format(w, style) for *_, w in rows]
    lines = [separator.join((str(u), str(v), w)) for (u, v, _), w in zip(rows, shown, strict=True)]
    path = tmp_path_factory.mktemp("list") / "list.csv"
    path.write_bytes(end.join(lines).encode())
    graph = load_graph(path, cache=False)
    ids = sorted({u for u, _, _ in rows} | {v for _, v, _ in rows})
    place = {node: index for index, node in enumerate(ids)}
    values = np.array([float(w) for w in shown])
    integral = np.all(values == np.floor(values)) and np.all(np.abs(values) < 2**31)
    expected = CsrGraph.from_edges(
        [place[u] for u, _, _ in rows],
        [place[v] for _, v, _ in rows],
        values.astype(np.int32 if integral else np.float32),
    )
    assert graph.content_hash == expected.content_hash


@settings(max_examples=200, deadline=None)
@given(st.from_regex(r"[-+]?[0-9]{1,22}(\.[0-9]{0,22})?([eE][-+]?[0-9]{1,2})?", fullmatch=True))
def test_every_number_is_rounded_as_python_rounds(tmp_path_factory, token):
    path = tmp_path_factory.mktemp("list") / "list.wel"
    path.write_text(f"0 1 {token}\n0 1 0.5\n")
    weights = sorted(load_graph(path, cache=False).weights.tolist())
    with np.errstate(over="ignore"):
        assert weights == sorted(np.array([float(token), 0.5]).astype(np.float32).tolist())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10), st.data())
def test_metis_round_trip_with_every_flag(tmp_path_factory, nodes, data):
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda p: p[0] != p[1])
    edges = data.draw(st.lists(pairs, unique_by=frozenset)) if nodes > 1 else []
    fmt = data.draw(st.sampled_from(["", "0", "1", "10", "11", "100", "101", "110", "111"]))
    constraints = data.draw(st.integers(1, 3)) if len(fmt) > 1 and fmt[-2] == "1" else None
    weight = {frozenset(edge): data.draw(st.integers(1, 99)) for edge in edges}
    padded = fmt.zfill(3)
    lines = [f"{nodes} {len(edges)} {fmt} {constraints or ''}".strip()]
    for node in range(nodes):
        words = ["9"] * (padded[0] == "1") + ["7"] * ((constraints or 0) if padded[1] == "1" else 0)
        for u, v in edges:
            if node in (u, v):
                words.append(str(u + v - node + 1))
                words += [str(weight[frozenset((u, v))])] * (padded[2] == "1")
        lines.append(" ".join(words))
        if data.draw(st.booleans()):
            lines.append("% a comment between the lines")
    path = tmp_path_factory.mktemp("metis") / "m.graph"
    path.write_text("\n".join(lines) + "\n")
    graph = load_graph(path, cache=False)
    expected = nx.Graph()
    expected.add_nodes_from(range(nodes))
    expected.add_weighted_edges_from((u, v, weight[frozenset((u, v))]) for u, v in edges)
    made = CsrGraph.from_networkx(expected, "weight" if padded[2] == "1" else None)
    assert arcs(graph) == arcs(made)
    assert graph.nodes == nodes


# Details of each format.


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n3 1 7\n"),
        ("g.el", "0 1\n2 0\n"),
        ("g.wel", "0 1 5\n2 0 7\n"),
        ("g.txt", "# Nodes: 3 Edges: 2\n0\t1\n2\t0\n"),
        ("g.csv", "source,target,weight\n0,1,5\n2,0,7\n"),
        ("g.cedge", "0 0 1 5\n1 2 0 7\n"),
        ("g.gr", "c hi\np sp 3 2\na 1 2 5\na 3 1 7\n"),
        ("g.metis", "3 2 1\n2 5\n\n1 7\n"),
    ],
)
def test_every_format_in_every_compression(tmp_path, name, text, suffix):
    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(PACK[suffix](text.encode()))
    graph = load_graph(path)
    assert graph.name == "g"
    assert graph.nodes == 3
    assert arcs(graph.with_weights(None)) == [(0, 1), (2, 0)]
    if graph.weights is not None:
        assert graph.weights.tolist() == [5, 7]
    renamed = tmp_path / "without-a-telling-name"
    if name not in ("g.metis",):  # whose content looks like an edge list
        renamed.write_bytes(path.read_bytes())
        assert arcs(load_graph(renamed).with_weights(None)) == [(0, 1), (2, 0)]


def test_npz_round_trip_ours_and_scipys(tmp_path):
    graph = CsrGraph.from_edges(
        [0, 0, 2], [1, 1, 0], np.array([1.5, 2.5, 3]), name="x", original_ids=np.array([3, 5, 8])
    )
    save_graph(graph, tmp_path / "g.npz")
    loaded = load_graph(tmp_path / "g.npz")
    assert loaded.content_hash == graph.content_hash
    assert loaded.original_ids.tolist() == [3, 5, 8]
    assert [path.name for path in tmp_path.glob("*g.npz*")] == ["g.npz"]
    matrix = scipy.sparse.random_array((20, 20), density=0.2, rng=np.random.default_rng(1))
    for kind in ("csr", "csc", "coo"):
        scipy.sparse.save_npz(tmp_path / "s.npz", matrix.asformat(kind))
        assert equals_matrix(load_graph(tmp_path / "s.npz"), matrix)
    (tmp_path / "g.npz.gz").write_bytes(gzip.compress((tmp_path / "g.npz").read_bytes()))
    assert load_graph(tmp_path / "g.npz.gz").content_hash == graph.content_hash


def test_a_saved_stand_in_still_says_so(tmp_path):
    graph = load_graph("cond@1/100")
    save_graph(graph, tmp_path / "g.npz")
    assert load_graph(tmp_path / "g.npz").stand_in_for == graph.stand_in_for
    assert "cond-mat-2005" in graph.stand_in_for


def test_gap_lists_number_nodes_to_the_largest_id_others_only_those_named(tmp_path):
    gap = load_text(tmp_path, "g.el", "0 4\n")
    assert (gap.nodes, gap.original_ids) == (5, None)
    snap = load_text(tmp_path, "g.txt", "0 4\n")
    assert (snap.nodes, snap.original_ids.tolist()) == (2, [0, 4])
    far = load_text(tmp_path, "far.el", "0 4000000000000\n")
    assert (far.nodes, far.original_ids.tolist()) == (2, [0, 4_000_000_000_000])
    promised = load_text(tmp_path, "p.txt", "# Nodes: 9 Edges: 1\n0 4\n")
    assert (promised.nodes, promised.original_ids) == (9, None)


def test_dimacs_pace_and_colouring(tmp_path):
    weighted = load_text(tmp_path, "a.gr", "c\np sp 2 2\nc more\na 1 2 -3\na 2 2 0.5\n")
    assert arcs(weighted) == [(0, 1, -3.0), (1, 1, 0.5)]
    pace = load_text(tmp_path, "b.gr", "p tw 3 2\n1 2\nc between\n3 3\n")
    assert arcs(pace) == [(0, 1), (1, 0), (2, 2)]
    colouring = load_text(tmp_path, "c.col", "p edge 3 1\ne 1 3\n")
    assert arcs(colouring) == [(0, 2), (2, 0)]
    assert (pace.provenance["format"], weighted.provenance["format"]) == ("pace", "dimacs")


def test_a_missing_line_end_and_blank_lines_do_no_harm(tmp_path):
    assert arcs(load_text(tmp_path, "a.txt", "\n 0 1 \n\n1 2")) == [(0, 1), (1, 2)]
    assert arcs(load_text(tmp_path, "b.graph", "3 1\n2\n1\n")) == [(0, 1), (1, 0)]
    assert load_text(tmp_path, "c.graph", "3 0\n\n\n").nodes == 3


def test_options_symmetrise_drop_and_merge(tmp_path):
    text = "0 1 5\n0 1 3\n1 1 9\n2 1 4\n"
    assert arcs(load_text(tmp_path, "g.wel", text, symmetrise=True)) == [
        (0, 1, 3),
        (1, 0, 3),
        (1, 1, 9),
        (1, 2, 4),
        (2, 1, 4),
    ]
    assert arcs(load_text(tmp_path, "g.wel", text, drop_self_loops=True)) == [(0, 1, 3), (0, 1, 5), (2, 1, 4)]
    assert arcs(load_text(tmp_path, "g.wel", text, merge_duplicates=True)) == [(0, 1, 3), (1, 1, 9), (2, 1, 4)]
    graph = load_text(tmp_path, "g.wel", text, merge_duplicates=True, drop_self_loops=True)
    assert graph.provenance["changes"] == ["drop_self_loops", "merge_duplicates"]


def test_an_archive_with_one_graph_needs_no_member_name(tmp_path):
    path = tmp_path / "pair.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (
            ("pair/pair.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
            ("pair/pair_b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n"),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    graph = load_graph(path)
    assert (graph.name, arcs(graph)) == ("pair", [(0, 1)])


def test_describe_counts_what_it_says(tmp_path):
    graph = load_text(tmp_path, "g.wel", "0 1 5\n0 1 3\n1 1 9\n4 5 2\n")
    described = describe(graph)
    assert described["out_degree"] == {"min": 0, "mean": 4 / 6, "max": 2}
    assert described["in_degree"]["max"] == 3
    wanted = {"nodes": 6, "arcs": 4, "isolated_nodes": 2, "self_loops": 1, "duplicate_arcs": 1}
    assert {key: described[key] for key in wanted} == wanted
    assert described["symmetric"] is False
    assert described["weights"] == {"type": "int32", "min": 2, "max": 9, "not_finite": 0}
    assert described["components"] == {"count": 4, "largest_nodes": 2}
    assert described["format"] == "wel"
    empty = describe(CsrGraph.from_edges(np.empty(0, int), np.empty(0, int)))
    assert empty["components"] == {"count": 0, "largest_nodes": 0}
    assert empty["out_degree"] is None
