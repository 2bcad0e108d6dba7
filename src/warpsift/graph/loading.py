"""`load_graph`: the file of that name, or a paper's real graph where its file is found, else a generated graph."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.graph import cache as graph_cache
from warpsift.graph.archive import MEMBER_SEPARATOR
from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.names import GENERATOR_VERSION, KINDS, generate, usages
from warpsift.graph.graph_errors import FileError, GraphError
from warpsift.graph.limits import byte_limit, limits_of, size_problem
from warpsift.graph.objects import graph_of
from warpsift.graph.order import ORDERS, SEPARATOR, reorder
from warpsift.graph.presets import generate_preset, presets
from warpsift.graph.readers.formats import READER_VERSION, input_files, read_file
from warpsift.graph.real_files import find_real
from warpsift.paths import is_file, is_folder

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

# Smaller generated graphs are made again faster than they are read from a cache that fills the disk.
_CACHED_ARCS = 1_000_000
_LONGEST_NAME = 1000  # of a generated graph; files may have longer paths


@dataclass(frozen=True)
class Changes:
    """What is done to the arcs after reading, in this order."""

    symmetrise: bool = False
    drop_self_loops: bool = False
    merge_duplicates: bool = False

    def apply(self, graph: CsrGraph) -> CsrGraph:
        if self.symmetrise:
            graph = graph.symmetrised()
        merge = self.merge_duplicates and not self.symmetrise  # which has merged them
        if self.drop_self_loops or merge:
            graph = graph.simplified(drop_self_loops=self.drop_self_loops, merge_duplicates=merge)
        return graph

    @property
    def names(self) -> list[str]:
        return [name for name, chosen in vars(self).items() if chosen]


def load_graph(
    spec: str | os.PathLike[str] | CsrGraph | networkx.Graph | scipy.sparse.sparray | scipy.sparse.spmatrix,
    *,
    symmetrise: bool = False,
    drop_self_loops: bool = False,
    merge_duplicates: bool = False,
    seed: int = 1,
    max_bytes: int | None = None,
    cache: bool = True,
    format: str | None = None,
) -> CsrGraph:
    """The graph in file `spec`, or the graph of that name: a paper's, if its file is in the user's data folder
    (`real_files.py`), else a generated one (see `list_graphs`).

    A networkx graph and a SciPy sparse matrix are converted: see `CsrGraph.from_networkx` and `CsrGraph.from_scipy`.

    `symmetrise` adds the reverse of every arc (and merges duplicates), `drop_self_loops` and `merge_duplicates`
    do what they say (of parallel arcs the lightest stays). `seed` is for generated graphs. `max_bytes` bounds
    both what a file may expand to and the graph's arrays. `cache` keeps parsed graphs in the user's cache
    directory. `format` overrides what a file's name and content say. `archive.tar.gz::member` reads a member;
    `GRAPH~degree` and `GRAPH~random` number the nodes anew.
    """
    if seed < 0:
        raise GraphError(f"graph seed {seed}: expected an integer from 0 up")
    if not isinstance(spec, (str, os.PathLike)):
        return Changes(symmetrise, drop_self_loops, merge_duplicates).apply(graph_of(spec))
    base, _, order = os.fspath(spec).rpartition(SEPARATOR)
    if base and order in ORDERS and _find_file(os.fspath(spec)) is None:
        if len(base) > _LONGEST_NAME and _find_file(base) is None:
            raise GraphError(_unknown(base))
        chosen: dict[str, Any] = {"symmetrise": symmetrise, "drop_self_loops": drop_self_loops}
        chosen |= {"merge_duplicates": merge_duplicates, "max_bytes": max_bytes, "cache": cache, "format": format}
        return reorder(load_graph(base, seed=seed, **chosen), order, seed)
    changes = Changes(symmetrise, drop_self_loops, merge_duplicates)
    found = _find_file(os.fspath(spec))
    if found is not None:
        return _from_file(*found, max_bytes, changes, (cache, format))
    real = find_real(os.fspath(spec))
    if real is not None:
        graph = _from_file(real, None, max_bytes, changes, (cache, format))
        return replace(graph, name=os.fspath(spec))
    return changes.apply(_generated(os.fspath(spec), seed, byte_limit(max_bytes), cache))


def _find_file(spec: str) -> tuple[Path, str | None] | None:
    """The file that a spec means and the member inside it; a file wins over a graph's name."""
    path, separator, member = spec.rpartition(MEMBER_SEPARATOR)
    if not is_file(spec) and separator and is_file(path):
        return Path(path), member
    if is_file(spec):
        is_properties = spec.endswith(".properties")
        graph = Path(spec.removesuffix(".properties") + ".graph")
        return (graph if is_properties and is_file(graph) else Path(spec)), None
    if is_file(f"{spec}.graph") and is_file(f"{spec}.properties"):
        return Path(f"{spec}.graph"), None
    return None


def _from_file(
    path: Path, member: str | None, max_bytes: int | None, changes: Changes, how: tuple[bool, str | None]
) -> CsrGraph:
    use_cache, format = how
    key = None
    try:
        limits = limits_of(max_bytes, input_files(path))
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error
    if use_cache:
        words = (f"file {READER_VERSION}", path.name, str(member), str(format), str(astuple(changes)))
        try:
            key = graph_cache.key_of(words, input_files(path))
        except OSError as error:
            raise FileError(path, f"cannot be read: {error.strerror or error}") from error
        graph = graph_cache.fetch(key)
        if graph is not None:
            _refuse(graph, limits.graph_bytes, str(path))
            return _described(graph, path, changes)
    graph = changes.apply(read_file(path, limits, member=member, format=format))
    if key is not None:
        graph_cache.keep(key, graph)
    return _described(graph, path, changes)


def _described(graph: CsrGraph, path: Path, changes: Changes) -> CsrGraph:
    about = {**graph.provenance, "path": str(path)}
    if changes.names:
        about["changes"] = changes.names
    return replace(graph, provenance=about)


def _refuse(graph: CsrGraph, limit: int, where: str) -> None:
    problem = size_problem(graph.nodes, graph.edges, limit)
    if problem:
        raise FileError(where, problem)


def _generated(name: str, seed: int, limit: int, use_cache: bool) -> CsrGraph:
    if len(name) > _LONGEST_NAME:
        raise GraphError(_unknown(name))
    key = graph_cache.key_of((f"generated {GENERATOR_VERSION}", name, str(seed)))
    graph = graph_cache.fetch(key) if use_cache else None
    if graph is not None:
        _refuse(graph, limit, f"graph {name!r}")
        return graph
    graph = generate_preset(name, seed, limit) or generate(name, seed, limit)
    if graph is None:
        raise GraphError(_unknown(name))
    about = {"format": "generated", "seed": seed}
    graph = replace(graph, name=name, provenance=about)
    if use_cache and graph.edges >= _CACHED_ARCS:
        graph_cache.keep(key, graph)
    return graph


def _unknown(name: str) -> str:
    """What to write instead: a path if it looks like one, else the nearest names."""
    if len(name) > _LONGEST_NAME:
        return f"no file and no graph has a name of {len(name)} letters: {name[:40]!r}..."
    if is_folder(name):
        return f"{name} is a directory; expected a graph file"
    if os.sep in name or Path(name).suffix[1:].isalpha():
        return f"{name}: no such file"
    kinds = [usage for usage, _ in usages()]
    known = [*presets(), *KINDS, "grid"]
    near = difflib.get_close_matches(re.split(r"[@]|-\d", name)[0], known, 3, 0.6)
    forms = dict(zip([*KINDS, "grid"], kinds, strict=True))
    nearest = dict.fromkeys(forms.get(word, word) for word in near)
    hint = f"did you mean {' or '.join(nearest)}?" if near else ""
    few = "write a file's path, or a name such as kron-14, grid-64x64 or cond"
    return f"no file and no graph is called {name!r}; {hint or few} ('warpsift list graphs' lists all)"
