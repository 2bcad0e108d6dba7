"""Files with a `p` line: DIMACS shortest-path graphs (`p sp`, arcs with weights) and PACE graphs (`p tw`, edges).

9th DIMACS challenge: `a u v w` is one directed arc. PACE challenges: `u v` is an undirected edge, so two arcs;
`p edge` and `p col` (DIMACS colouring) are the same with a leading `e`. Nodes are numbered from 1.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.readers.text import GraphText, RowShape, as_weights, integers_of, read_rows

PACE_PROBLEMS = ("tw", "td", "ds", "hs", "cep")  # one per PACE challenge; the edges look alike
COLOURING_PROBLEMS = ("edge", "col")


def read_gr(text: GraphText) -> CsrGraph:
    """Either kind, told apart by the `p` line."""
    text.skip_comments("c")
    words = (text.peek() or b"").split()
    if len(words) != 4 or words[0] != b"p":
        text.fail(f"expected `p sp nodes arcs` or `p tw nodes edges`, found {text.token(text.at)!r}")
    problem = words[1].decode("ascii", "backslashreplace")
    if problem not in ("sp", *PACE_PROBLEMS, *COLOURING_PROBLEMS):
        text.fail(f"unknown problem {problem!r}; expected `p sp nodes arcs` or `p tw nodes edges`")
    nodes, edges = integers_of(text, words[2:], f"p {problem} nodes edges")
    directed = problem == "sp"
    text.refuse_size(nodes, edges if directed else 2 * edges)
    text.refuse_reading(nodes=nodes)
    header = text.line
    text.skip_line()
    ends, weights = read_rows(text, _shape(problem, nodes))
    if ends.shape[1] != edges:
        what = "arcs" if directed else "edges"
        text.fail(f"the header promises {edges} {what}, the file holds {ends.shape[1]}", header)
    ends -= 1
    if not directed:
        ends = np.concatenate((ends, ends[::-1, ends[0] != ends[1]]), axis=1)
    return CsrGraph.from_edges(ends[0], ends[1], as_weights(weights), nodes)


def _shape(problem: str, nodes: int) -> RowShape:
    common = {"comments": "c", "lowest": 1, "highest": nodes}
    if problem == "sp":
        return RowShape("a u v w", reals=1, lead="a", **common)  # type: ignore[arg-type]
    if problem in COLOURING_PROBLEMS:
        return RowShape("e u v", lead="e", **common)  # type: ignore[arg-type]
    return RowShape("u v", **common)  # type: ignore[arg-type]
