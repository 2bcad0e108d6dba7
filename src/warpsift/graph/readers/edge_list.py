"""Edge lists: one arc per line. SNAP (`u v`, header in comments), `u v w`, `id u v w`, GAP's .el and .wel.

Columns are separated by blanks, tabs, commas or semicolons; comments begin with # or %; a first line of words is
taken as column names. GAP numbers nodes 0 to the largest ID. Elsewhere a node is what the list mentions: if IDs are
missing, nodes are renumbered in the order of their IDs and the IDs kept as `original_ids`. SNAP's comment
`# Nodes: N Edges: M` is a promise that is checked.
"""

from __future__ import annotations

import re
from collections import deque

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.readers.text import GraphText, RowShape, as_weights, read_rows

_MARKS = "#%"
_SNAP_SIZES = re.compile(rb"^[^\S\n]*#[^\S\n]*Nodes:[^\S\n]*(\d{1,18})[^\S\n]+Edges:[^\S\n]*(\d{1,18})\b", re.M)
_COLUMNS = {2: RowShape("u v"), 3: RowShape("u v w", reals=1), 4: RowShape("id u v w", skipped=1, reals=1)}

# A GAP list whose largest ID is over this many times its length is renumbered: the rows would be nearly all empty.
_GAP_SPARSE = 64


def read_el(text: GraphText) -> CsrGraph:
    """GAP's unweighted list."""
    return _read_gap(text, 2)


def read_wel(text: GraphText) -> CsrGraph:
    """GAP's weighted list."""
    return _read_gap(text, 3)


def _read_gap(text: GraphText, columns: int) -> CsrGraph:
    text.skip_comments(_MARKS)
    if text.peek() is None:
        text.fail(f"no arcs; expected lines of `{_COLUMNS[columns].words}`")
    ends, weights = read_rows(text, _COLUMNS[columns])
    nodes = int(ends.max()) + 1
    if nodes > _GAP_SPARSE * ends.size:
        return _renumbered(text, ends, weights)
    text.refuse_size(nodes, ends.shape[1])
    text.refuse_reading(nodes=nodes)
    return CsrGraph.from_edges(ends[0], ends[1], as_weights(weights), nodes)


def read_edge_list(text: GraphText) -> CsrGraph:
    """SNAP and the like: the number of columns follows from the first line."""
    text.skip_comments(_MARKS)
    promise = _promise(text)
    if text.peek() is None and promise is None:
        text.fail("no arcs; expected lines of `u v`, `u v w` or `id u v w`")
    shape = _shape(text)
    ends, weights = read_rows(text, shape)
    if promise is None:
        return _renumbered(text, ends, weights)
    line, nodes, arcs = promise
    if ends.shape[1] != arcs:
        text.fail(f"the header promises {arcs} edges, the file holds {ends.shape[1]}", line)
    if ends.size == 0 or ends.max() < nodes:
        text.line = line
        text.refuse_size(nodes, arcs)
        text.refuse_reading(nodes=nodes)
        return CsrGraph.from_edges(ends[0], ends[1], as_weights(weights), nodes)
    graph = _renumbered(text, ends, weights)
    if graph.nodes != nodes:
        text.fail(f"the header promises {nodes} nodes, the edges name {graph.nodes}", line)
    return graph


def _promise(text: GraphText) -> tuple[int, int, int] | None:
    """Line, nodes and edges of the last comment that promises them."""
    found = deque(_SNAP_SIZES.finditer(text.content, 0, text.at), maxlen=1)
    if not found:
        return None
    last = found[0]
    return text.content.count(b"\n", 0, last.start()) + 1, int(last[1]), int(last[2])


def _shape(text: GraphText) -> RowShape:
    """The columns, from the first line of numbers."""
    first = _words(text.peek())
    if first and not any(_is_number(word) for word in first):  # names of columns
        following = _words(text.peek(1))
        if not following or not _is_number(following[0]):
            text.fail(f"expected `u v`, `u v w` or `id u v w`, found {text.token(text.at)!r}")
        text.skip_line()
        first = following
    if len(first) == 0:
        return _COLUMNS[2]
    if len(first) not in _COLUMNS:
        text.fail(f"expected `u v`, `u v w` or `id u v w`, found {len(first)} columns")
    second = _words(text.peek(1))
    if len(first) == 4 and len(second) == 4 and not _counts_up(first[0], second[0]):
        text.fail("four columns must be `id u v w` with id counting up by one; write `u v w` otherwise")
    return _COLUMNS[len(first)]


def _words(line: bytes | None) -> list[bytes]:
    return re.split(rb"\s*[,;]\s*|\s+", line.strip()) if line and line.strip() else []


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _counts_up(first: bytes, second: bytes) -> bool:
    numbers = all(word.isdigit() and len(word) <= 18 for word in (first, second))
    return numbers and int(second) == int(first) + 1


def _renumbered(text: GraphText, ends: np.ndarray, weights: np.ndarray | None) -> CsrGraph:
    """The graph of the nodes that are named, with their IDs kept if any between 0 and the largest is missing."""
    ids, ends = _compact(ends)
    text.refuse_size(ids.size, ends.shape[1])
    text.refuse_reading(nodes=ids.size)
    dense = ids.size == 0 or int(ids[-1]) == ids.size - 1
    original = None if dense else ids
    return CsrGraph.from_edges(ends[0], ends[1], as_weights(weights), ids.size, original_ids=original)


def _compact(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct IDs and each end's position among them."""
    if ends.size == 0:
        return np.empty(0, np.int64), ends
    largest = int(ends.max())
    if largest > 4 * ends.size + 1024:  # a table of all IDs would be mostly empty: sort instead
        ids, positions = np.unique(ends, return_inverse=True)
        return ids, positions.reshape(ends.shape)
    named = np.zeros(largest + 1, bool)
    named[ends[0]] = True
    named[ends[1]] = True
    if named.all():
        return np.arange(largest + 1), ends
    position: np.ndarray = np.cumsum(named, dtype=np.int32 if largest < 2**31 else np.int64)
    position -= 1  # type: ignore[misc]
    return np.flatnonzero(named), position[ends]
