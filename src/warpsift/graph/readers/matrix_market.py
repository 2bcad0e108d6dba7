"""Matrix Market: entry (i, j) of a square matrix is the arc i -> j, its value the weight.

Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935 (1996). Symmetric matrices store one
triangle and give both arcs; skew-symmetric ones negate the value on the way back. In dense (array) files every
value that is not zero is an arc.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.readers.text import GraphText, RowShape, as_weights, integers_of, read_rows

_LISTS = "(a list of arcs without it: --graph-format edge-list)"
_BANNER = "%%MatrixMarket matrix coordinate|array pattern|integer|real general|symmetric|skew-symmetric"


def read_matrix_market(text: GraphText) -> CsrGraph:
    layout, field, symmetry = _banner(text)
    text.skip_comments("%")
    form = "rows columns entries" if layout == "coordinate" else "rows columns"
    words = (text.peek() or b"").split()
    if len(words) != len(form.split()):
        text.fail(f"expected `{form}`, found {(text.peek() or b'').decode('ascii', 'backslashreplace')[:40]!r}")
    sizes = integers_of(text, words, form)
    if sizes[0] != sizes[1]:
        text.fail(f"a {sizes[0]} x {sizes[1]} matrix is no graph; expected a square one")
    if layout == "coordinate":
        ends, values = _coordinates(text, sizes[0], sizes[2], field)
    else:
        ends, values = _dense(text, sizes[0], symmetry)
    if symmetry != "general":
        ends, values = _mirrored(ends, values, -1 if symmetry == "skew-symmetric" else 1)
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as in every format
        weights = as_weights(values) if values is None or field == "integer" else values.astype(np.float32)
    return CsrGraph.from_edges(ends[0], ends[1], weights, sizes[0])


def _banner(text: GraphText) -> tuple[str, str, str]:
    words = (text.peek() or b"").decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
        text.fail(f"expected `{_BANNER}` {_LISTS}")
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array"):
        text.fail(f"expected `coordinate` or `array`, found {layout!r}")
    if (layout, field) == ("array", "pattern"):
        text.fail("an array holds a value for every entry, so it cannot be pattern; expected integer or real")
    if field not in ("pattern", "integer", "real", "double"):
        text.fail(f"values of kind {field!r} cannot be weights; expected pattern, integer or real")
    if symmetry not in ("general", "symmetric", "skew-symmetric"):
        text.fail(f"expected general, symmetric or skew-symmetric, found {symmetry!r}")
    text.skip_line()
    return layout, field, symmetry


def _coordinates(text: GraphText, nodes: int, entries: int, field: str) -> tuple[np.ndarray, np.ndarray | None]:
    text.refuse_size(nodes, entries)
    text.refuse_reading(nodes=nodes)
    header = text.line
    text.skip_line()
    weighted = field != "pattern"
    words = "row column value" if weighted else "row column"
    shape = RowShape(words, reals=int(weighted), comments="%", lowest=1, highest=nodes)
    ends, values = read_rows(text, shape)
    if ends.shape[1] != entries:
        text.fail(f"the header promises {entries} entries, the file holds {ends.shape[1]}", header)
    return ends - 1, values


def _dense(text: GraphText, nodes: int, symmetry: str) -> tuple[np.ndarray, np.ndarray]:
    """Column by column; of symmetric matrices the lower triangle only, skew-symmetric ones without diagonal."""
    text.refuse_size(nodes, nodes * nodes)
    header = text.line
    text.skip_line()
    _, values = read_rows(text, RowShape("value", integers=0, reals=1, comments="%"))
    assert values is not None
    expected = nodes * nodes
    if symmetry != "general":
        expected = nodes * (nodes + 1) // 2 if symmetry == "symmetric" else nodes * (nodes - 1) // 2
    if values.size != expected:
        text.fail(f"the header promises {expected} values, the file holds {values.size}", header)
    columns, rows = np.divmod(np.arange(nodes * nodes), max(nodes, 1))
    if symmetry != "general":
        stored = rows >= columns if symmetry == "symmetric" else rows > columns
        rows, columns = rows[stored], columns[stored]
    arcs = values != 0
    return np.stack((rows[arcs], columns[arcs])), values[arcs]


def _mirrored(ends: np.ndarray, values: np.ndarray | None, sign: int) -> tuple[np.ndarray, np.ndarray | None]:
    back = ends[0] != ends[1]
    both = np.concatenate((ends, ends[::-1, back]), axis=1)
    return both, None if values is None else np.concatenate((values, sign * values[back]))
