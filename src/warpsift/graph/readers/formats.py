"""The file formats, how to tell them apart, and `read_file`, which reads any of them.

A name decides where it can (.mtx, .el, .wel, .npz, .metis; .graph is WebGraph if a .properties file lies beside it,
else METIS; .v and .e are Graphalytics' pair); otherwise the content does: a Matrix Market banner, a `p` line,
graph-tool's first bytes, or lines of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from warpsift.graph.archive import is_tar, plain_name, read_bytes, tar_member
from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import FileError
from warpsift.graph.limits import Limits
from warpsift.graph.readers.dimacs import PACE_PROBLEMS, read_gr
from warpsift.graph.readers.edge_list import read_edge_list, read_el, read_wel
from warpsift.graph.readers.graph_tool import MAGIC as GRAPH_TOOL_MAGIC
from warpsift.graph.readers.graph_tool import read_graph_tool
from warpsift.graph.readers.graphalytics import files_of, read_graphalytics
from warpsift.graph.readers.matrix_market import read_matrix_market
from warpsift.graph.readers.metis import read_metis
from warpsift.graph.readers.npz import read_npz
from warpsift.graph.readers.text import GraphText
from warpsift.graph.readers.webgraph import properties_of, read_webgraph

# Raised when a reader's results change, so that cached graphs of older versions are not used.
READER_VERSION = 2


@dataclass(frozen=True)
class Format:
    """A text format: its name for users and its reader."""

    about: str
    read: Callable[[GraphText], CsrGraph]


TEXT_FORMATS: dict[str, Format] = {
    "matrix-market": Format("Matrix Market", read_matrix_market),
    "edge-list": Format("edge list: SNAP `u v`, `u v w`, `id u v w`", read_edge_list),
    "el": Format("GAP edge list", read_el),
    "wel": Format("GAP weighted edge list", read_wel),
    "metis": Format("METIS", read_metis),
    "dimacs": Format("DIMACS shortest-path graph", read_gr),
    "pace": Format("PACE graph", read_gr),
}
FORMATS = (*TEXT_FORMATS, "webgraph", "graphalytics", "npz", "graph-tool")
_BY_SUFFIX = {".mtx": "matrix-market", ".el": "el", ".wel": "wel", ".graph": "metis", ".metis": "metis"}
_GRAPH_SUFFIXES = (*_BY_SUFFIX, ".gr", ".gt", ".txt", ".csv", ".tsv", ".edges", ".cedge")
_EXPECTED = (
    "expected Matrix Market, an edge list (SNAP, `u v w`, `id u v w`, GAP .el/.wel), METIS, DIMACS or PACE .gr, "
    "WebGraph (.graph with .properties), Graphalytics (.v with .e), graph-tool's .gt or .npz"
)


def input_files(path: Path) -> list[Path]:
    """All files that make up the graph at `path`: two for WebGraph, two or three for Graphalytics, one otherwise."""
    pair = files_of(path)
    if pair is not None:
        return pair.all()
    properties = properties_of(path)
    return [path] if properties is None else [path, properties]


def read_file(path: Path, limits: Limits, *, member: str | None = None, format: str | None = None) -> CsrGraph:
    """The graph in the file, with its format in `provenance`; `format` overrides what name and content say."""
    if format is not None and format not in FORMATS:
        raise FileError(path, f"unknown format {format!r}; expected one of {', '.join(FORMATS)}")
    properties = properties_of(path)
    if format == "webgraph" or (format is None and properties is not None):
        if properties is None:
            raise FileError(path, "a WebGraph needs NAME.graph and NAME.properties side by side")
        graph = read_webgraph(path, properties, limits)
        return _named(graph, path.name, "webgraph", str(path))
    pair = files_of(path)
    if format == "graphalytics" or (format is None and pair is not None):
        if pair is None:
            raise FileError(path, "a Graphalytics graph needs NAME.v and NAME.e side by side")
        return _named(read_graphalytics(pair, limits), pair.edges.name, "graphalytics", str(path))
    content = read_bytes(path, limits.text_bytes)
    name, shown = path.name, str(path)
    if is_tar(content):
        name, found = tar_member(content, member, path, _GRAPH_SUFFIXES, limits)
        shown = f"{path}::{name}"
        content = bytearray(found)
    elif member is not None:
        raise FileError(path, f"is no tar archive, so it has no member {member!r}")
    if not content:
        raise FileError(shown, f"the file is empty; {_EXPECTED}")
    found_format = format or detect(name, content, shown)
    if found_format == "npz":
        return _named(read_npz(content, shown, limits), name, found_format, shown)
    if found_format == "graph-tool":
        if not content.startswith(GRAPH_TOOL_MAGIC):
            raise FileError(shown, "is no .gt file: it does not begin with graph-tool's mark")
        return _named(read_graph_tool(content, shown, limits), name, found_format, shown)
    try:
        graph = TEXT_FORMATS[found_format].read(GraphText(shown, content, limits))
    except MemoryError:
        raise FileError(shown, f"{len(content)} bytes of text do not fit into this machine's memory") from None
    return _named(graph, name, found_format, shown)


def detect(name: str, content: bytearray, shown: str) -> str:
    """The format of a file of this name and content."""
    head = bytes(content[:4096])
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(GRAPH_TOOL_MAGIC):
        return "graph-tool"
    if head.lower().startswith(b"%%matrixmarket"):
        return "matrix-market"
    if problem := _problem(head):
        return "pace" if problem in PACE_PROBLEMS else "dimacs"
    suffix = PurePath(plain_name(name)).suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if suffix == ".gr":
        return "dimacs"
    if b"\x00" in head or not _looks_like_list(head):
        raise FileError(shown, f"unknown format; {_EXPECTED}")
    return "edge-list"


def _problem(head: bytes) -> str | None:
    """The problem that a `p` line names, where comments alone come before it; line by line, so in linear time."""
    for line in map(bytes.strip, head.splitlines()):
        if found := re.match(rb"p +([a-z]+) ", line):
            return found[1].decode()
        if line and not re.match(rb"c\b", line):
            return None
    return None


def _looks_like_list(head: bytes) -> bool:
    """Comments, at most one line of column names, then a number."""
    lines = [line.strip() for line in head.split(b"\n")]
    lines = [line for line in lines if line and not line.startswith((b"#", b"%"))]
    return not lines or any(re.match(rb"[-+]?\d", line) for line in lines[:2])


def _named(graph: CsrGraph, file_name: str, format: str, shown: str) -> CsrGraph:
    name = PurePath(plain_name(PurePath(file_name).name)).stem
    about = {**graph.provenance, "format": format, "path": shown}
    return replace(graph, name=name, provenance=about)
