"""METIS graphs: line k lists the neighbours of node k, numbered from 1.

Karypis, METIS 5 manual, section 4.1.1. The header is `nodes edges [fmt [ncon]]`; fmt's digits say whether lines
begin with a vertex size, with ncon vertex weights, and whether edge weights follow the neighbours. Sizes and vertex
weights are read and left. Two habits beyond the manual are understood, told apart by the counts: directed graphs,
where the header counts arcs (GAP's test graphs), and the first digit of fmt in its older meaning, "self-loops or
parallel edges may occur" (DIMACS challenge), without vertex sizes.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.readers import scan_rows as scan
from warpsift.graph.readers.text import GraphText, as_weights, integers_of

_FORM = "nodes edges [fmt [ncon]]"
_LISTED = 3  # so many vertex weights are spelt out in an error


def read_metis(text: GraphText) -> CsrGraph:
    text.skip_comments("%")
    nodes, edges, fmt, constraints = _header(text)
    header = text.line
    text.skip_line()
    values, starts, lines = _lists(text, nodes, header)
    edge_weighted = fmt[2] == "1"
    lead = constraints if fmt[1] == "1" else 0
    lead += _sizes_per_line(fmt[0] == "1", values, starts, edges, (lead, edge_weighted))
    column = np.arange(values.size) - np.repeat(starts[:-1], np.diff(starts)) - lead
    sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(starts))
    lengths = np.diff(starts) - lead
    short = (lengths < 0) | (edge_weighted & (lengths % 2 == 1))
    if short.any():
        form = _line_form(lead, edge_weighted)
        text.fail(f"expected `{form}`, but the line ends early", int(lines[np.argmax(short)]))
    is_target = (column >= 0) & ((column % 2 == 0) if edge_weighted else True)
    targets, sources = values[is_target], sources[is_target]
    weights = values[(column >= 0) & (column % 2 == 1)] if edge_weighted else None
    out_of_range = (targets < 1) | (targets > nodes)
    if out_of_range.any():
        first = int(np.argmax(out_of_range))
        reason = f"node ID {targets[first]} is out of range; expected 1 to {nodes}"
        text.fail(reason, int(lines[sources[first]]))
    if targets.size not in (edges, 2 * edges):
        reason = f"the header promises {edges} edges (so {2 * edges} neighbours), the file holds {targets.size}"
        text.fail(reason, header)
    return CsrGraph.from_edges(sources, targets - 1, as_weights(weights), nodes)


def _header(text: GraphText) -> tuple[int, int, str, int]:
    words = (text.peek() or b"").split()
    if not 2 <= len(words) <= 4:
        text.fail(f"expected `{_FORM}`, found {(text.peek() or b'').decode('ascii', 'backslashreplace')[:40]!r}")
    nodes, edges, *_ = integers_of(text, words, _FORM)
    fmt = words[2].decode() if len(words) > 2 else "0"
    if len(fmt) > 3 or set(fmt) - {"0", "1"}:
        text.fail(f"expected fmt of up to three digits 0 or 1, found {fmt!r}")
    text.refuse_size(nodes, 2 * edges)
    return nodes, edges, fmt.zfill(3), int(words[3]) if len(words) > 3 else 1


def _lists(text: GraphText, nodes: int, header: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if nodes > len(text.content):  # every node has a line of at least its end
        text.fail(f"the header promises {nodes} nodes, the file has only {len(text.content)} bytes", header)
    text.refuse_reading(scan.count_tokens(text.array, text.at), nodes)
    (status, at, line), values, starts, lines = scan.scan_lists(text.array, text.at, text.line, nodes, ord("%"))
    if status == scan.EXTRA_LINE:
        text.fail(f"expected the end of the file after {nodes} nodes, found {text.token(at)!r}", line)
    if status != scan.FINE:
        text.fail(f"expected a list of integers, found {text.token(at)!r}", line)
    if starts.size - 1 < nodes:
        text.fail(f"the header promises {nodes} nodes, the file has lines for {starts.size - 1}", header)
    return values, starts, lines


def _sizes_per_line(flagged: bool, values: np.ndarray, starts: np.ndarray, edges: int, line: tuple[int, bool]) -> int:
    """1 if lines begin with a vertex size, which the flag alone does not tell (see the module's text)."""
    if not flagged:
        return 0
    lead, edge_weighted = line
    nodes = starts.size - 1
    per_neighbour = 2 if edge_weighted else 1
    for wanted, sizes in ((2 * edges, 1), (2 * edges, 0), (edges, 0), (edges, 1)):
        if values.size == wanted * per_neighbour + nodes * (lead + sizes):
            return sizes
    return 1


def _line_form(lead: int, edge_weighted: bool) -> str:
    words = ["size or weight"] * lead if lead <= _LISTED else [f"({lead} sizes or weights)"]
    return " ".join([*words, "neighbour weight" if edge_weighted else "neighbour", "..."])
