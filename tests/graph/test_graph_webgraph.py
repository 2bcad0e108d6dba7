"""WebGraph BV: the compiled decoder against the slow one, on every code and on a real graph."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_webgraph as naive
from support.places import DATA
from warpsift.graph import GraphError, load_graph

CODES = ("GAMMA", "DELTA", "ZETA", "UNARY", "NIBBLE", "GOLOMB")


def write(folder: Path, lists, references, window=7, shortest=4, k=3, codes=None) -> Path:
    codes = codes or {}
    data = naive.encode(lists, references, window, shortest, k, codes)
    (folder / "g.graph").write_bytes(data)
    (folder / "g.properties").write_text(naive.properties(lists, window, shortest, k, codes))
    return folder / "g.graph"


def rows(graph) -> list[list[int]]:
    return [graph.neighbours(node).tolist() for node in range(graph.nodes)]


@st.composite
def adjacency(draw):
    """Lists with runs and resemblance, so that intervals and references are worth having."""
    nodes = draw(st.integers(1, 24))
    lists: list[list[int]] = []
    for node in range(nodes):
        chosen = set(draw(st.lists(st.integers(0, nodes - 1), max_size=6)))
        if draw(st.booleans()):
            left = draw(st.integers(0, nodes - 1))
            chosen |= set(range(left, min(left + draw(st.integers(1, 9)), nodes)))
        if node and draw(st.booleans()):
            chosen |= set(lists[node - draw(st.integers(1, min(node, 4)))])
        lists.append(sorted(chosen))
    references = draw(st.lists(st.integers(0, 7), min_size=nodes, max_size=nodes))
    return lists, references


@settings(max_examples=150, deadline=None)
@given(
    graph=adjacency(),
    window=st.integers(0, 7),
    shortest=st.integers(0, 5),
    k=st.integers(1, 7),
    codes=st.fixed_dictionaries({}, optional={part: st.sampled_from(CODES) for part in naive.DEFAULT_CODES}),
)
def test_every_code_and_feature_round_trips(tmp_path_factory, graph, window, shortest, k, codes):
    lists, references = graph
    data = naive.encode(lists, references, window, shortest, k, codes)
    assert naive.decode(data, len(lists), window, shortest, k, codes) == lists  # the oracle itself
    path = write(tmp_path_factory.mktemp("bv"), lists, references, window, shortest, k, codes)
    loaded = load_graph(path, cache=False)
    assert rows(loaded) == lists
    assert loaded.provenance["format"] == "webgraph"


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data with real graphs is missing")
def test_dblp_2010_equals_the_slow_decoder():
    graph = load_graph(DATA / "dblp-2010" / "dblp-2010.graph")
    assert (graph.nodes, graph.edges) == (326_186, 1_615_400)
    lists = naive.decode((DATA / "dblp-2010" / "dblp-2010.graph").read_bytes(), graph.nodes)
    degrees = np.fromiter(map(len, lists), np.int64, len(lists))
    assert np.array_equal(graph.offsets, np.concatenate(([0], np.cumsum(degrees))))
    flat = np.fromiter((v for row in lists for v in row), np.int32, int(degrees.sum()))
    assert np.array_equal(graph.targets, flat)
    assert graph.is_symmetric


def test_large_values_in_every_code(tmp_path):
    """Gaps of many bits: one node with a far successor."""
    nodes = 100_000
    for code in ("GAMMA", "DELTA", "ZETA", "NIBBLE"):
        lists = [[nodes - 1], *([] for _ in range(nodes - 2)), [0, 50_000]]
        path = write(tmp_path, lists, [0] * nodes, codes={"RESIDUALS": code})
        graph = load_graph(path, cache=False)
        assert graph.neighbours(0).tolist() == [nodes - 1]
        assert graph.neighbours(nodes - 1).tolist() == [0, 50_000]


def test_the_base_name_and_the_properties_file_name_the_graph_too(tmp_path):
    lists = [[1, 2], [2], []]
    path = write(tmp_path, lists, [0, 0, 0])
    assert rows(load_graph(str(path).removesuffix(".graph"))) == lists
    assert rows(load_graph(path.with_suffix(".properties"))) == lists
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "g.graph.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "z" / "g.properties").write_bytes(path.with_suffix(".properties").read_bytes())
    assert rows(load_graph(tmp_path / "z" / "g.graph.gz")) == lists


def fails(path: Path) -> str:
    with pytest.raises(GraphError) as caught:
        load_graph(path)
    return str(caught.value)


def change(path: Path, old: str, new: str) -> None:
    properties = path.with_suffix(".properties")
    text = properties.read_text()
    assert old in text
    properties.write_text(text.replace(old, new))


@pytest.fixture
def small(tmp_path):
    lists = [[1, 2, 3, 4, 5], [1, 2, 3, 5], [0], [], [0, 5], [1, 2, 3]]
    return write(tmp_path, lists, [0, 1, 0, 0, 0, 4])


def test_errors_of_the_properties(small):
    properties = small.with_suffix(".properties")
    change(small, "nodes=6", "nodes=x")
    assert fails(small) == f"{properties}: nodes is 'x'; expected an integer from 0 up"
    change(small, "nodes=x", "nodes=1000000000000")
    expected = "1000000000000 nodes; node IDs are 4 bytes, so at most 2147483647 fit"
    assert fails(small) == f"{properties}: the properties promise {expected}"
    change(small, "nodes=1000000000000", "nodes=1000000")
    assert fails(small) == f"{small}: the properties promise 1000000 nodes, the file has only 10 bytes"
    change(small, "nodes=1000000\n", "")
    assert fails(small) == f"{properties}: has no line `nodes=...`"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("version=0", "version=1", "version is 1; only version 0 can be read"),
        (
            "webgraph.BVGraph",
            "webgraph.EFGraph",
            "graphclass is 'it.unimi.dsi.webgraph.EFGraph'; only BVGraph can be read",
        ),
        ("zetak=3", "zetak=0", "zetak is 0; expected 1 to 56"),
        ("version=0", "endianness=little", "endianness is 'little'; only big can be read"),
        (
            "compressionflags=",
            "compressionflags=RESIDUALS_SKEWED",
            "compression flag 'RESIDUALS_SKEWED': code 'SKEWED' is not one of "
            "GAMMA, DELTA, ZETA, UNARY, NIBBLE, GOLOMB",
        ),
        (
            "compressionflags=",
            "compressionflags=OUTDEGREES_DELTA | EDGES_GAMMA",
            "compression flag 'EDGES_GAMMA' is unknown; expected PART_CODE with PART of "
            "OUTDEGREES, BLOCKS, RESIDUALS, BLOCK_COUNT, REFERENCES, INTERVALS, OFFSETS",
        ),
    ],
)
def test_properties_that_cannot_be_read(small, old, new, reason):
    change(small, old, new)
    assert fails(small) == f"{small.with_suffix('.properties')}: {reason}"


def test_errors_of_the_bits(small):
    change(small, "arcs=15", "arcs=16")
    assert fails(small) == f"{small}: the properties promise 16 arcs, the file holds 15"
    change(small, "arcs=16", "arcs=14")
    assert fails(small) == f"{small}: more arcs than the properties promise at node 5 of 6"
    change(small, "arcs=14", "arcs=15")
    small.write_bytes(small.read_bytes()[:-2])
    assert fails(small) == f"{small}: the bits end, or break off into nonsense, at node 5 of 6"


@pytest.mark.parametrize(
    ("values", "reason", "node"),
    [
        # outdegree, reference, block count, blocks, interval count, intervals, residuals, as far as each goes
        ([("GAMMA", 1), ("UNARY", 1)], "a reference beyond the window or the first node", 0),
        (
            # node 0 -> 1; node 1 copies a run of two from it
            [
                ("GAMMA", 1),
                ("UNARY", 0),
                ("GAMMA", 0),
                ("ZETA", 2),
                ("GAMMA", 2),
                ("UNARY", 1),
                ("GAMMA", 1),
                ("GAMMA", 2),
            ],
            "copy blocks longer than the list they copy from",
            1,
        ),
        (
            [("GAMMA", 4), ("UNARY", 0), ("GAMMA", 1), ("GAMMA", 0), ("GAMMA", 0)],
            "an interval beyond the nodes or the outdegree",
            0,
        ),
        ([("GAMMA", 1), ("UNARY", 0), ("GAMMA", 0), ("ZETA", 1)], "a successor beyond the nodes", 0),
    ],
)
def test_lists_that_contradict_themselves(tmp_path, values, reason, node):
    text = "".join(naive.write_code(code, value, 3) for code, value in values) + "1" * 16
    text += "0" * (-len(text) % 8)
    path = write(tmp_path, [[1, 2], [0, 1], [0, 1]], [0, 0, 0])
    path.write_bytes(int(text, 2).to_bytes(len(text) // 8, "big"))
    assert fails(path) == f"{path}: {reason} at node {node} of 3"


def test_a_graph_without_properties_is_metis(tmp_path):
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    assert load_graph(tmp_path / "g.graph").provenance["format"] == "metis"
    with pytest.raises(GraphError) as caught:
        load_graph(tmp_path / "g.graph", format="webgraph")
    reason = "a WebGraph needs NAME.graph and NAME.properties side by side"
    assert str(caught.value) == f"{tmp_path / 'g.graph'}: {reason}"


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_bits_end_in_an_error_or_a_graph_never_in_a_crash(tmp_path_factory, data):
    lists, references = data.draw(adjacency())
    path = write(tmp_path_factory.mktemp("bv"), lists, references)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        graph = load_graph(path, cache=False)
    except GraphError:
        return
    assert graph.nodes == len(lists)
    assert graph.edges == 0 or (graph.targets.min() >= 0 and graph.targets.max() < graph.nodes)
