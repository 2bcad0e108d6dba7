"""`CsrGraph`: a directed graph in compressed sparse rows, the form in which GPU kernels read it.

Node `v` has the arcs `targets[offsets[v] : offsets[v + 1]]` (SCU paper, Fig. 2: "adjacency offsets" and "edges"; MFF
paper, Fig. 1: R and C). An undirected graph holds each edge as two arcs. The arrays are read-only, so that a graph
can be shared between runs, hashed once, and never be the reason that two runs differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from warpsift.graph.build import (
    BAD_OFFSETS,
    BAD_TARGETS,
    MAX_NODES,
    ROWS_UNSORTED,
    check_rows,
    csr_arrays,
    weight_keys,
)
from warpsift.graph.graph_errors import GraphError

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


_NO_KEYS = np.empty(0, np.int32)
_NO_KEYS.flags.writeable = False  # like all arrays of a graph, so that Numba compiles for one kind only


@dataclass(frozen=True, eq=False, repr=False)
class CsrGraph:
    """An immutable directed graph; see the module's text for the arrays.

    `from_edges`, the readers and the generators sort rows by target and parallel arcs by weight, so that equal graphs
    have equal arrays; rows given to the constructor stay as they are (`sorted_rows()` sorts them).
    """

    offsets: np.ndarray  # int64, nodes + 1
    targets: np.ndarray  # int32, one per arc
    weights: np.ndarray | None = None  # int32 or float32, one per arc
    name: str = "graph"
    original_ids: np.ndarray | None = None  # int64: the file's ID of each node, where IDs were sparse
    stand_in_for: str | None = None  # the graph of a paper that this generated one stands in for
    provenance: Mapping[str, Any] = field(default_factory=dict)  # format, path, options, seed, ...

    def __post_init__(self) -> None:
        offsets = _frozen(self.offsets, np.int64)
        targets = _frozen(self.targets, np.int32)
        if offsets.ndim != 1 or offsets.size == 0 or offsets[0] != 0 or offsets[-1] != targets.size:
            raise GraphError(
                f"graph {self.name!r}: offsets must run from 0 to the {targets.size} arcs, nodes + 1 of them"
            )
        if offsets.size - 1 > MAX_NODES:
            raise GraphError(
                f"graph {self.name!r}: {offsets.size - 1} nodes; node IDs are 4 bytes, so at most {MAX_NODES}"
            )
        _check_rows(offsets, targets, self.name)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "weights", _checked_weights(self.weights, targets.size, self.name))
        if self.original_ids is not None:
            object.__setattr__(self, "original_ids", _frozen(self.original_ids, np.int64))
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.offsets, self.targets, self.weights, self.name, self.original_ids, self.stand_in_for)
        return CsrGraph, (*values, dict(self.provenance))

    def __repr__(self) -> str:
        weights = "unweighted" if self.weights is None else f"{self.weights.dtype} weights"
        stand_in = f", stand-in for {self.stand_in_for}" if self.stand_in_for else ""
        return f"CsrGraph({self.name!r}, {self.nodes} nodes, {self.edges} arcs, {weights}{stand_in})"

    # Sizes and rows.

    @property
    def nodes(self) -> int:
        return self.offsets.size - 1

    @property
    def edges(self) -> int:
        """Arcs: an undirected edge counts twice."""
        return self.targets.size

    @property
    def out_degrees(self) -> np.ndarray:
        return np.diff(self.offsets)

    @property
    def size_bytes(self) -> int:
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.offsets.nbytes + self.targets.nbytes + weights

    def neighbours(self, node: int) -> np.ndarray:
        """Targets of the arcs that leave `node`."""
        return self.targets[self.offsets[node] : self.offsets[node + 1]]

    @cached_property
    def sources(self) -> np.ndarray:
        """The source of every arc, int32, beside `targets`."""
        return _frozen(np.repeat(np.arange(self.nodes, dtype=np.int32), self.out_degrees), np.int32)

    @cached_property
    def content_hash(self) -> str:
        """64 hexadecimal digits that depend on nodes, arcs and weights, not on names or origin."""
        digest = hashlib.blake2b(digest_size=32)
        for array in (self.offsets, self.targets, self.weights):
            if array is None:
                digest.update(b"none")
            else:
                digest.update(f"{array.dtype.str} {array.size} ".encode())
                digest.update(array.data)
        return digest.hexdigest()

    # Other graphs made from this one.

    @cached_property
    def in_edges(self) -> CsrGraph:
        """The reversed graph: row `v` lists the nodes with an arc to `v`, with those arcs' weights."""
        offsets, targets, weights = csr_arrays(self.targets, self.sources, self.weights, self.nodes)
        reversed_graph = replace(self, offsets=offsets, targets=targets, weights=weights)
        reversed_graph.__dict__["in_edges"] = self
        return reversed_graph

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every arc has its reverse, as often and with the same weight."""
        return self.sorted_rows().content_hash == self.in_edges.sorted_rows().content_hash

    def sorted_rows(self) -> CsrGraph:
        """The graph with rows sorted by target and parallel arcs by weight: itself if they are."""
        keys = weight_keys(self.weights)
        keys.flags.writeable = False
        if check_rows(self.offsets, self.targets, keys)[0] != ROWS_UNSORTED:
            return self
        offsets, targets, weights = csr_arrays(self.sources, self.targets, self.weights, self.nodes)
        return replace(self, offsets=offsets, targets=targets, weights=weights)

    def with_weights(self, weights: np.ndarray | None) -> CsrGraph:
        """The same arcs with these weights, one per arc in the order of `targets` (None removes them)."""
        return replace(self, weights=weights)

    def with_random_weights(self, seed: int = 1, *, symmetric: bool = True) -> CsrGraph:
        """Seeded integer weights 1 to 64; with `symmetric` an arc weighs as much as its reverse."""
        from warpsift.graph.weights import random_weights

        return replace(self, weights=random_weights(self, seed, symmetric=symmetric))

    def symmetrised(self) -> CsrGraph:
        """Every arc and its reverse, once; of parallel arcs the lightest stays."""
        both = np.concatenate((self.sources, self.targets)), np.concatenate((self.targets, self.sources))
        weights = None if self.weights is None else np.concatenate((self.weights, self.weights))
        offsets, targets, weights = csr_arrays(*both, weights, self.nodes, merge_duplicates=True)
        return replace(self, offsets=offsets, targets=targets, weights=weights)

    def simplified(self, *, drop_self_loops: bool = True, merge_duplicates: bool = True) -> CsrGraph:
        """Without self-loops and without all but the lightest of parallel arcs."""
        flags = {"drop_self_loops": drop_self_loops, "merge_duplicates": merge_duplicates}
        arrays = csr_arrays(self.sources, self.targets, self.weights, self.nodes, **flags)
        return replace(self, offsets=arrays[0], targets=arrays[1], weights=arrays[2])

    # From and to other forms.

    @classmethod
    def from_edges(
        cls,
        sources: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray | None = None,
        nodes: int | None = None,
        **about: Any,
    ) -> CsrGraph:
        """A graph of these arcs (IDs from 0, in any order); `about` takes name, original_ids and the like.

        `nodes` defaults to the largest ID plus one.
        """
        sources, targets = _ids(sources, "sources"), _ids(targets, "targets")
        if sources.size != targets.size:
            raise GraphError(f"{sources.size} sources but {targets.size} targets; give one of each per arc")
        lowest, highest = _range(sources, targets)
        if lowest < 0:
            raise GraphError(f"node ID {lowest} is negative; IDs count from 0")
        nodes = highest + 1 if nodes is None else int(nodes)
        if not 0 <= nodes <= MAX_NODES:
            raise GraphError(f"{nodes} nodes; node IDs are 4 bytes, so between 0 and {MAX_NODES} nodes fit")
        if highest >= nodes:
            raise GraphError(f"node ID {highest} is out of range for {nodes} nodes (0 to {nodes - 1})")
        weights = _checked_weights(weights, sources.size, about.get("name", "graph"))
        offsets, sorted_targets, weights = csr_arrays(sources, targets, weights, nodes)
        return cls(offsets, sorted_targets, weights, **about)

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.sparray | scipy.sparse.spmatrix, **about: Any) -> CsrGraph:
        """Arc (i, j) for every stored entry; its value is the weight (boolean matrices have none)."""
        coo = matrix.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise GraphError(f"a {coo.shape[0]} x {coo.shape[1]} matrix is no graph; expected a square one")
        weights = None if coo.dtype == np.bool_ else coo.data
        return cls.from_edges(coo.row, coo.col, weights, coo.shape[0], **about)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, weight: str | None = "weight", **about: Any) -> CsrGraph:
        """Nodes in the graph's order; undirected edges become two arcs; `weight` names the edge attribute.

        Weights are taken if every edge has the attribute.
        """
        index = {node: position for position, node in enumerate(graph)}
        edges = list(graph.edges(data=weight))
        sources = np.array([index[u] for u, _, _ in edges], np.int64)
        targets = np.array([index[v] for _, v, _ in edges], np.int64)
        weighted = weight is not None and bool(edges) and all(w is not None for *_, w in edges)
        weights = np.array([w for *_, w in edges]) if weighted else None
        if not graph.is_directed():
            back = sources != targets
            sources, targets = np.append(sources, targets[back]), np.append(targets, sources[back])
            weights = None if weights is None else np.append(weights, weights[back])
        if all(isinstance(node, int) and not isinstance(node, bool) for node in index):
            ids = np.fromiter(index, np.int64, len(index))
            if not np.array_equal(ids, np.arange(ids.size)):
                about.setdefault("original_ids", ids)
        return cls.from_edges(sources, targets, weights, len(index), **about)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Entry (i, j) holds the arc's weight, or 1; parallel arcs stay separate entries."""
        import scipy.sparse

        data = np.ones(self.edges, np.int32) if self.weights is None else self.weights
        shape = (self.nodes, self.nodes)
        return scipy.sparse.csr_array((data, self.targets.copy(), self.offsets.copy()), shape=shape)

    def to_scipy_pattern(self) -> scipy.sparse.csr_array:
        """Entry (i, j) is there for every arc, in the graph's own arrays: for traversals, which look at no values."""
        import scipy.sparse

        data = np.broadcast_to(np.float64(1), self.edges)  # one number, however many arcs
        return scipy.sparse.csr_array((data, self.targets, self.offsets), shape=(self.nodes, self.nodes), copy=False)


def _check_rows(offsets: np.ndarray, targets: np.ndarray, name: str) -> None:
    """Raise for arrays that are no graph."""
    finding, place = check_rows(offsets, targets, _NO_KEYS)
    if finding == BAD_OFFSETS:
        raise GraphError(f"graph {name!r}: offsets fall after node {place}; they must rise")
    if finding == BAD_TARGETS:
        nodes = offsets.size - 1
        raise GraphError(f"graph {name!r}: node ID {targets[place]} is out of range; expected 0 to {nodes - 1}")


def _frozen(values: np.ndarray, dtype: type) -> np.ndarray:
    """A read-only array that nobody else can write to."""
    array: np.ndarray = np.ascontiguousarray(values, dtype)
    if array is values and array.flags.writeable:
        array = array.copy()
    array.flags.writeable = False
    return array


def _ids(values: np.ndarray, what: str) -> np.ndarray:
    ids = np.asarray(values)
    if ids.size == 0:
        return np.empty(0, np.int32)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise GraphError(f"{what} must be a flat array of integers, not {ids.ndim}-dimensional {ids.dtype}")
    return ids


def _range(sources: np.ndarray, targets: np.ndarray) -> tuple[int, int]:
    """Lowest and highest ID; (0, -1) without arcs."""
    if sources.size == 0:
        return 0, -1
    return int(min(sources.min(), targets.min())), int(max(sources.max(), targets.max()))


def _checked_weights(weights: np.ndarray | None, arcs: int, name: str) -> np.ndarray | None:
    """Read-only int32 (if every weight is an integer that fits) or float32."""
    if weights is None:
        return None
    values = np.asarray(weights)
    if values.shape != (arcs,):
        raise GraphError(f"graph {name!r}: weights of shape {values.shape}; expected one per arc, ({arcs},)")
    if values.dtype.kind not in "iufb":
        raise GraphError(f"graph {name!r}: weights are {values.dtype}; expected integers or real numbers")
    if values.dtype == np.float32:
        return _frozen(weights, np.float32)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return _frozen(values.astype(np.float32), np.float32)
    if values.size and (values.max() > 2**31 - 1 or values.min() < -(2**31)):
        return _frozen(values.astype(np.float32), np.float32)
    return _frozen(weights, np.int32)
