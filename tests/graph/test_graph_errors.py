"""Bad input: one clear error each, to the letter, with the file and the line; and nothing is taken on trust."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.graph_errors import ANY_FORMAT, HUGE, LARGE, LIST_FORMS, MM, message
from warpsift.graph import FileError, GraphError, load_graph, save_graph
from warpsift.graph.limits import Limits
from warpsift.graph.readers.formats import FORMATS, read_file

CASES = [
    # Edge lists.
    ("a.txt", "0 1\n0 x\n", 2, "expected `u v` with integer IDs, found 'x'"),
    ("a.txt", "0 1\n0 1.5\n", 2, "expected `u v` with integer IDs, found '1.5'"),
    ("a.txt", "# c\n0 1\n\n7\n", 4, "expected `u v`, but the line ends early"),
    ("a.txt", "0 1\n0 1 2\n", 2, "expected `u v`, found '2' after it"),
    ("a.txt", "0 1\n-3 1\n", 2, "node ID -3 is out of range; expected 0 or more"),
    (
        "a.txt",
        "0 1\n0 99999999999999999999\n",
        2,
        "expected `u v` with integers below 2^63, found '99999999999999999999'",
    ),
    ("a.txt", "0 1 2 3 4\n", 1, f"expected {LIST_FORMS}, found 5 columns"),
    (
        "a.txt",
        "5 1 2 3\n9 1 2 3\n",
        1,
        "four columns must be `id u v w` with id counting up by one; write `u v w` otherwise",
    ),
    ("a.txt", "# only\n# comments\n", 3, f"no arcs; expected lines of {LIST_FORMS}"),
    ("a.csv", "0,1,5\n0,,5\n", 2, "expected `u v w` with integer IDs, found ',5'"),
    ("a.wel", "0 1 5\n0 1 five\n", 2, "expected a number as weight, found 'five'"),
    ("a.wel", "0 1 5\n0 1 1_000\n", 2, "expected a number as weight, found '1_000'"),
    ("a.wel", "0 1 5\n0 1\n", 2, "expected `u v w`, but the line ends early"),
    ("a.wel", "0 1 2 3\n", 1, "expected `u v w`, found '3' after it"),
    ("a.wel", "0 1 1e300 3\n", 1, "expected `u v w`, found '3' after it"),  # a weight left to Python in a bad row
    ("a.wel", f"0 1 {'9' * 2000}\n", 1, f"expected a number as weight, found '{'9' * 40}'"),
    ("a.txt", " " * 5000 + "0 1\n", 1, "a line of 5004 bytes; expected at most 4096"),
    ("a.el", "\n", 2, "no arcs; expected lines of `u v`"),
    ("a.txt", "# Nodes: 3 Edges: 3\n0 1\n1 2\n", 1, "the header promises 3 edges, the file holds 2"),
    ("a.txt", "# Nodes: 2 Edges: 2\n0 1\n1 2\n", 1, "the header promises 2 nodes, the edges name 3"),
    ("a.txt", "# Nodes: 1000000000000 Edges: 1\n0 1\n", 1, f"the header promises {HUGE}"),
    # Matrix Market.
    ("a.mtx", f"{MM} pattern general\n2 2 2\n1 2\n", 2, "the header promises 2 entries, the file holds 1"),
    ("a.mtx", f"{MM} pattern general\n2 2 1\n1 3\n", 3, "node ID 3 is out of range; expected 1 to 2"),
    ("a.mtx", f"{MM} pattern general\n2 2 1\n0 1\n", 3, "node ID 0 is out of range; expected 1 to 2"),
    ("a.mtx", f"{MM} real general\n2 2 1\n1 2\n", 3, "expected `row column value`, but the line ends early"),
    ("a.mtx", f"{MM} pattern general\n2 3 1\n1 2\n", 2, "a 2 x 3 matrix is no graph; expected a square one"),
    ("a.mtx", f"{MM} pattern general\n2 2\n1 2\n", 2, "expected `rows columns entries`, found '2 2'"),
    (
        "a.mtx",
        f"{MM} pattern general\n2 2 -1\n",
        2,
        "expected `rows columns entries` with integers from 0 up, found '-1'",
    ),
    ("a.mtx", f"{MM} pattern general\n1000000000000 1000000000000 1\n1 1\n", 2, f"the header promises {HUGE}"),
    ("a.mtx", f"{MM} pattern general\n1000000000 1000000000 0\n", 2, f"the header promises {LARGE}"),
    (
        "a.mtx",
        f"{MM} complex general\n1 1 1\n1 1 1 0\n",
        1,
        "values of kind 'complex' cannot be weights; expected pattern, integer or real",
    ),
    (
        "a.mtx",
        f"{MM} pattern upper\n1 1 0\n",
        1,
        "expected general, symmetric or skew-symmetric, found 'upper'",
    ),
    (
        "a.mtx",
        "1 1 1\n1 1\n",
        1,
        "expected `%%MatrixMarket matrix coordinate|array pattern|integer|real general|symmetric|skew-symmetric` "
        "(a list of arcs without it: --graph-format edge-list)",
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix array pattern general\n1 1\n1\n",
        1,
        "an array holds a value for every entry, so it cannot be pattern; expected integer or real",
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
        2,
        "the header promises 4 values, the file holds 3",
    ),
    # METIS.
    ("a.graph", "3 2\n2\n1 3\n\n", 1, "the header promises 2 edges (so 4 neighbours), the file holds 3"),
    ("a.graph", "3 1\n2\n1", 1, "the header promises 3 nodes, the file has lines for 2"),
    ("a.graph", "2 1\n3\n1\n", 2, "node ID 3 is out of range; expected 1 to 2"),
    ("a.graph", "2 1\n2\nx\n", 3, "expected a list of integers, found 'x'"),
    ("a.graph", "2 1\n2\n1\n1\n", 4, "expected the end of the file after 2 nodes, found '1'"),
    ("a.graph", "2 1 2\n2\n1\n", 1, "expected fmt of up to three digits 0 or 1, found '2'"),
    ("a.graph", "2 1 1\n2 5\n1\n", 3, "expected `neighbour weight ...`, but the line ends early"),
    ("a.graph", "2 1 10\n1 2\n\n", 3, "expected `size or weight neighbour ...`, but the line ends early"),
    (
        "a.graph",
        "2 1 10 200000000\n1 2\n1\n",
        2,
        "expected `(200000000 sizes or weights) neighbour ...`, but the line ends early",
    ),
    ("a.graph", "x\n", 1, "expected `nodes edges [fmt [ncon]]`, found 'x'"),
    ("a.graph", "1000000000000 1\n2\n1\n", 1, f"the header promises {HUGE}"),
    ("a.graph", "100000000 1\n2\n1\n", 1, "the header promises 100000000 nodes, the file has only 16 bytes"),
    # DIMACS and PACE.
    ("a.gr", "p sp 2 2\na 1 2 5\n", 1, "the header promises 2 arcs, the file holds 1"),
    ("a.gr", "p tw 2 2\n1 2\n", 1, "the header promises 2 edges, the file holds 1"),
    ("a.gr", "p sp 2 1\ne 1 2 5\n", 2, "expected `a u v w`, found 'e'"),
    ("a.gr", "p sp 2 1\na 1 3 5\n", 2, "node ID 3 is out of range; expected 1 to 2"),
    ("a.gr", "c x\n1 2\n", 2, "expected `p sp nodes arcs` or `p tw nodes edges`, found '1'"),
    (
        "a.gr",
        "p max 2 1\n1 2\n",
        1,
        "unknown problem 'max'; expected `p sp nodes arcs` or `p tw nodes edges`",
    ),
    ("a.gr", "p sp 1000000000000 1\na 1 2 5\n", 1, f"the header promises {HUGE}"),
]


@pytest.mark.parametrize(("name", "text", "line", "reason"), CASES, ids=[reason[:40] for *_, reason in CASES])
def test_text_errors_name_file_line_and_expectation(tmp_path, name, text, line, reason):
    path = tmp_path / name
    path.write_text(text)
    assert message(path) == f"{path}, line {line}: {reason}"
    assert not list((tmp_path / "cache").rglob("*.npz"))


@pytest.mark.parametrize("name", ["a.txt", "a.mtx", "a.graph", "a.gr", "a.el", "a.npz"])
def test_empty_files(tmp_path, name):
    (tmp_path / name).touch()
    assert message(tmp_path / name) == f"{tmp_path / name}: the file is empty; {ANY_FORMAT}"


@pytest.mark.parametrize("content", [b"\x7fELF\x00\x00\x01", b"Dear reader,\nthis is no graph.\n", b"{}"])
def test_unknown_formats(tmp_path, content):
    (tmp_path / "thing").write_bytes(content)
    assert message(tmp_path / "thing") == f"{tmp_path / 'thing'}: unknown format; {ANY_FORMAT}"
    names = ", ".join(FORMATS)
    assert message(tmp_path / "thing", format="xml") == (
        f"{tmp_path / 'thing'}: unknown format 'xml'; expected one of {names}"
    )


def test_lines_that_begin_like_a_row_at_the_end_of_a_file(tmp_path):
    """The scanner makes room for lines long enough to be rows; shorter ones must not be written beyond it."""
    path = tmp_path / "a.wel"
    for tail, reason in (("3", "ends early"), ("3 4", "ends early"), ("-1 2", "out of range")):
        path.write_text("0 1 2\n\n\n" + tail)
        assert reason in message(path)


# Names.


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("humn", "no file and no graph is called 'humn'; did you mean human? ('warpsift list graphs' lists all)"),
        (
            "delauny-10",
            "no file and no graph is called 'delauny-10'; did you mean delaunay-N? ('warpsift list graphs' lists all)",
        ),
        ("folder/none.mtx", "folder/none.mtx: no such file"),
        ("none.mtx.gz", "none.mtx.gz: no such file"),
        ("kron-40", "graph 'kron-40': 1099511627776 nodes; node IDs are 4 bytes, so at most 2147483647 fit"),
        ("kron-10-1.5", "graph 'kron-10-1.5': expected an integer from 1 up after the size; write kron-N[-EDGEFACTOR]"),
        ("web-10-0", "graph 'web-10-0': expected a number above 0 after the size; write web-NODES[-DEGREE]"),
        ("delaunay-8-3", "graph 'delaunay-8-3': this kind has no settable degree; write delaunay-N"),
        ("road-8x8", "graph 'road-8x8': size '8x8' is for grids; write road-NODES[-DEGREE]"),
        ("grid-4", "graph 'grid-4': write grid-AxB[xC], e.g. grid-64x64"),
        ("road-100-9", "a road network of mean degree 9; planar ones lie between 2 and 6"),
        ("human@2", "graph 'human@2': write the part as NAME@1/32 or NAME@0.25, above 0 and at most 1"),
        ("human@x", "graph 'human@x': write the part as NAME@1/32 or NAME@0.25, above 0 and at most 1"),
    ],
)
def test_names_that_mean_nothing(name, expected):
    assert message(name) == expected


def test_orders_without_end_are_no_name():
    assert message("grid-3x3" + "~random" * 10_000) == (
        "no file and no graph has a name of 70001 letters: 'grid-3x3~random~random~random~random~ran'..."
    )


def test_a_grid_without_nodes_takes_no_memory(monkeypatch):
    """Its other side may be of any length: places along it must not be listed."""
    monkeypatch.setattr(np, "take", None)
    assert load_graph("grid-5x0x2147483647").nodes == 0
    assert load_graph("grid-2147483647x0x2147483649").nodes == 0


def test_an_unknown_name_says_what_lists_all(tmp_path):
    assert message("qqqq") == (
        "no file and no graph is called 'qqqq'; write a file's path, or a name such as kron-14, grid-64x64 or cond "
        "('warpsift list graphs' lists all)"
    )
    assert message(tmp_path) == f"{tmp_path} is a directory; expected a graph file"


def test_names_that_ask_for_too_much_are_refused_at_once():
    assert message("dewiki-2013", max_bytes=1_000_000) == (
        "graph 'dewiki-2013': 1532354 nodes and 36722696 arcs need 159149624 bytes, over the limit of 1000000 "
        "(raise it with max_bytes or WARPSIFT_MAX_GRAPH_BYTES)"
    )
    assert "over the limit" in message("grid-30000x30000")
    assert "over the limit" in message("gene-1000000")


# Whatever the bytes: an error of ours or a graph.


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=80),
        st.text("0123456789 -.,;\n\tepacsptw%#xMm", max_size=80).map(str.encode),
    ),
    st.sampled_from(["edge-list", "el", "wel", "metis", "dimacs", "matrix-market", "npz", None]),
    st.sampled_from([b"", b"%%MatrixMarket matrix coordinate real general\n", b"p tw 3 2\n", b"3 2 11\n"]),
)
def test_any_bytes_end_in_a_graph_or_a_graph_error(tmp_path_factory, content, format, head):
    path = tmp_path_factory.mktemp("any") / "any"
    path.write_bytes(head + content)
    try:
        graph = read_file(path, Limits(1 << 20, 64 << 20), format=format)
    except GraphError:
        return
    assert graph.offsets[-1] == graph.targets.size
    assert graph.edges == 0 or (graph.targets.min() >= 0 and graph.targets.max() < graph.nodes)


def test_a_failed_save_leaves_nothing(tmp_path):
    graph = load_graph("grid-2x2")
    with pytest.raises(OSError):
        save_graph(graph, tmp_path / "missing" / "g.npz")
    (tmp_path / "g.npz").mkdir()
    with pytest.raises(OSError):
        save_graph(graph, tmp_path / "g.npz")
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["g.npz"]


def test_errors_carry_path_line_and_reason(tmp_path):
    (tmp_path / "a.el").write_text("0 1\n0 x\n")
    with pytest.raises(FileError) as caught:
        load_graph(tmp_path / "a.el")
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "a.el"), 2)
    assert caught.value.reason == "expected `u v` with integer IDs, found 'x'"
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.line) == (str(caught.value), 2)
