"""Graphalytics' pairs of files and graph-tool's binary files."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from warpsift.graph import load_graph
from warpsift.graph.graph_errors import GraphError

# Written by NetworKit 11.1: five nodes, edges 0-1, 3-1 and 2-2, without direction.
NETWORKIT = bytes.fromhex(
    "e29bbe206774010000000000000000000005000000000000000000000000000000"
    "010000000000000000010000000000000002010000000000000001"
    "0000000000000000"
)


def gt(nodes, arcs, *, directed=True, order="<", properties=(), comment=b"made here"):
    """A .gt file, written from its description; `properties` are (kind, name, type, bytes)."""
    width = "BHIQ"[sum(nodes > limit for limit in (2**8 - 1, 2**16 - 1, 2**32 - 1))]
    number = lambda value: struct.pack(f"{order}Q", value)  # noqa: E731
    out = b"\xe2\x9b\xbe gt" + bytes([1, order == ">"]) + number(len(comment)) + comment + bytes([directed])
    out += number(nodes)
    near: dict[int, list[int]] = {}
    for source, target in arcs:
        near.setdefault(source, []).append(target)
    lists = [near.get(node, []) for node in range(nodes)]
    out += b"".join(number(len(some)) + struct.pack(f"{order}{len(some)}{width}", *some) for some in lists)
    out += number(len(properties))
    for kind, name, type_, values in properties:
        out += bytes([kind]) + number(len(name)) + name + bytes([type_]) + values
    return out


def load_bytes(folder, name, content):
    (folder / name).write_bytes(content)
    return load_graph(folder / name, cache=False)


def ends(graph):
    return list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


def test_a_file_of_networkit(tmp_path):
    graph = load_bytes(tmp_path, "n.gt", NETWORKIT)
    assert graph.nodes == 5 and ends(graph) == [(0, 1), (1, 0), (1, 3), (2, 2), (3, 1)]
    assert graph.provenance["format"] == "graph-tool"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nodes", [2, 255, 256, 65535, 65536])
def test_neighbours_are_as_wide_as_the_number_of_nodes_needs(tmp_path, nodes, order):
    graph = load_bytes(tmp_path, "w.gt", gt(nodes, [(0, nodes - 1), (nodes - 1, 0), (nodes - 1, 1)], order=order))
    assert graph.nodes == nodes and ends(graph) == sorted({(0, nodes - 1), (nodes - 1, 0), (nodes - 1, 1)})


def test_weights_behind_properties_of_every_type(tmp_path):
    number = lambda value: struct.pack("<Q", value)  # noqa: E731
    text = number(3) + b"abc"
    properties = [
        (0, b"title", 6, text),
        (1, b"name", 6, text + number(0)),
        (1, b"tall", 0, b"\1\0"),
        (2, b"wide", 5, bytes(32)),
        (2, b"list", 10, number(2) + bytes(16) + number(0)),
        (1, b"words", 13, number(2) + text + text + number(0)),
        (2, b"weight", 4, struct.pack("<2d", 1.5, 4.0)),
    ]
    graph = load_bytes(tmp_path, "p.gt.gz", gzip.compress(gt(2, [(0, 1), (1, 0)], properties=properties)))
    assert graph.weights.tolist() == [1.5, 4.0]


def test_weights_of_both_directions(tmp_path):
    weights = [(2, b"weight", 2, struct.pack("<2i", 7, 9))]
    graph = load_bytes(tmp_path, "u.gt", gt(3, [(0, 1), (2, 1)], directed=False, properties=weights))
    assert ends(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)] and graph.weights.tolist() == [7, 7, 9, 9]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (NETWORKIT[:40], "5 nodes need 40 bytes or more; the file has 15 left"),
        (NETWORKIT[:24], "cut short"),
        (gt(2**12, [])[:200], "4096 nodes need 32768 bytes or more; the file has"),
        (gt(3, [(0, 1)]).replace(struct.pack("<QB", 1, 1), struct.pack("<QB", 1, 3)), "none of the 3 nodes"),
        (gt(3, [(0, 1)]).replace(struct.pack("<QB", 1, 1), struct.pack("<QB", 2**63, 1)), "cut short"),
        (gt(2, [], properties=[(3, b"x", 0, b"")]), "a property of kind 3"),
        (gt(2, [], properties=[(1, b"x", 99, b"")]), "a property of value type 99"),
        (b"\xe2\x9b\xbe gt\x07\x00", "version 7"),
        (b"\x28\xb5\x2f\xfd........", "Zstandard, which Python does not read: zstd -d bad.gt"),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path, content, message):
    with pytest.raises(GraphError, match=message) as problem:
        load_bytes(tmp_path, "bad.gt", content)
    assert "\n" not in str(problem.value)


def test_vertices_without_edges_are_nodes(tmp_path):
    (tmp_path / "g.v").write_text("10\n2\n7\n99\n")
    (tmp_path / "g.e").write_text("2 7 0.5\n7 10 1.25\n")
    (tmp_path / "g.properties").write_text("# a comment\ngraph.g.directed = false\n")
    for name in ("g.v", "g.e"):
        graph = load_graph(tmp_path / name)
        assert graph.nodes == 4 and graph.original_ids.tolist() == [2, 7, 10, 99]
        assert ends(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
        assert graph.weights.tolist() == [0.5, 0.5, 1.25, 1.25]
        assert graph.name == "g" and graph.provenance["format"] == "graphalytics"


def test_arcs_are_directed_unless_a_file_says_otherwise(tmp_path):
    (tmp_path / "g.v").write_text("0\n1\n2\n")
    (tmp_path / "g.e.gz").write_bytes(gzip.compress(b"0 1\n1 1\n"))
    graph = load_graph(tmp_path / "g.v")
    assert ends(graph) == [(0, 1), (1, 1)] and graph.nodes == 3 and graph.original_ids is None


def test_a_changed_list_of_vertices_is_read_again(tmp_path):
    (tmp_path / "g.e").write_text("0 1\n")
    (tmp_path / "g.v").write_text("0\n1\n")
    assert load_graph(tmp_path / "g.e").nodes == 2
    (tmp_path / "g.v").write_text("0\n1\n2\n")
    assert load_graph(tmp_path / "g.e").nodes == 3


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        ("0\n1\n1\n", "0 1\n", "vertex 1 is listed twice"),
        ("0\n1\n", "0 5\n", "vertex 5 is not in g.v"),
        ("0\nx\n", "0 1\n", "expected `v`"),
        ("0\n1\n", "0\n", "expected `u v`"),
        ("", "0 1\n", "vertex 0 is not in g.v"),
    ],
)
def test_pairs_that_do_not_fit(tmp_path, vertices, edges, message):
    (tmp_path / "g.v").write_text(vertices)
    (tmp_path / "g.e").write_text(edges)
    with pytest.raises(GraphError, match=message):
        load_graph(tmp_path / "g.e")


def test_edges_alone_are_an_edge_list(tmp_path):
    (tmp_path / "g.e").write_text("0 1\n1 2\n")
    assert load_graph(tmp_path / "g.e").provenance["format"] == "edge-list"


def test_sizes_agree_with_numpy(tmp_path):
    dice = np.random.default_rng(3)
    arcs = sorted({tuple(pair) for pair in dice.integers(0, 400, (900, 2)).tolist()})
    assert ends(load_bytes(tmp_path, "r.gt", gt(400, arcs))) == arcs
