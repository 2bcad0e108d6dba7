"""Graphalytics' graphs: NAME.v lists the vertices, NAME.e the edges, NAME.properties says if they are directed.

An edge list alone leaves out vertices without edges; here they are nodes like the others. Without a .properties file
arcs are taken to be directed, as written. Described in the specification of LDBC Graphalytics, chapter "Data format".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpsift.graph.archive import COMPRESSED_SUFFIXES, plain_name, read_bytes
from warpsift.graph.csr import CsrGraph
from warpsift.graph.limits import Limits
from warpsift.graph.readers.text import GraphText, RowShape, as_weights, read_rows
from warpsift.paths import is_file

_VERTICES = RowShape("v", integers=1)
_COLUMNS = {2: RowShape("u v"), 3: RowShape("u v w", reals=1)}
_DIRECTED = re.compile(rb"^graph\.[^\s=]{1,200}\.directed\s{0,9}=\s{0,9}(true|false)\b", re.M)
_LONGEST_PROPERTIES = 1 << 20


@dataclass(frozen=True)
class GraphalyticsFiles:
    """The files of one graph."""

    vertices: Path
    edges: Path
    properties: Path | None

    def all(self) -> list[Path]:
        return [self.vertices, self.edges, *([self.properties] if self.properties else [])]


def files_of(path: Path) -> GraphalyticsFiles | None:
    """The files that belong to a .v or .e file (any may be compressed), if vertices and edges are there."""
    base = plain_name(path.name)
    if not base.endswith((".v", ".e")):
        return None
    stem = base[:-2]
    vertices, edges, properties = (_beside(path, f"{stem}.{kind}") for kind in ("v", "e", "properties"))
    return GraphalyticsFiles(vertices, edges, properties) if vertices and edges else None


def _beside(path: Path, name: str) -> Path | None:
    candidates = (path.with_name(name + suffix) for suffix in ("", *COMPRESSED_SUFFIXES))
    return next((candidate for candidate in candidates if is_file(candidate)), None)


def read_graphalytics(files: GraphalyticsFiles, limits: Limits) -> CsrGraph:
    ids = _vertices(files.vertices, limits)
    text = GraphText(str(files.edges), read_bytes(files.edges, limits.text_bytes), limits)
    text.skip_comments("#%")
    first = text.peek()
    ends, weights = read_rows(text, _COLUMNS.get(len(first.split()) if first else 2, _COLUMNS[2]))
    text.refuse_size(ids.size, ends.shape[1])
    text.refuse_reading(nodes=ids.size)
    positions = np.searchsorted(ids, ends)
    known = positions < ids.size
    known[known] = ids[positions[known]] == ends[known]
    if not known.all():
        text.fail(f"vertex {ends[~known][0]} is not in {files.vertices.name}")
    sources, targets = positions
    if not _directed(files.properties):
        loops = sources == targets
        sources, targets = np.concatenate([sources, targets[~loops]]), np.concatenate([targets, sources[~loops]])
        weights = None if weights is None else np.concatenate([weights, weights[~loops]])
    dense = ids.size == 0 or (int(ids[0]) == 0 and int(ids[-1]) == ids.size - 1)
    return CsrGraph.from_edges(sources, targets, as_weights(weights), ids.size, original_ids=None if dense else ids)


def _vertices(path: Path, limits: Limits) -> np.ndarray:
    """The IDs in ascending order."""
    text = GraphText(str(path), read_bytes(path, limits.text_bytes), limits)
    text.skip_comments("#%")
    (ids,), _ = read_rows(text, _VERTICES)
    ids = np.sort(ids)
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if twice.size:
        text.fail(f"vertex {ids[twice[0]]} is listed twice")
    return ids


def _directed(properties: Path | None) -> bool:
    if properties is None:
        return True
    found = _DIRECTED.search(read_bytes(properties, _LONGEST_PROPERTIES))
    return found is None or found[1] == b"true"
