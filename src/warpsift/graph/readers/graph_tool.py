"""graph-tool's binary files (.gt): who is a neighbour of whom, and the weights if a property of the arcs is called so.

The format is described at graph-tool.skewed.de ("The gt file format"): a header with the byte order, a comment, whether
arcs have a direction, and the number of nodes; then for each node its neighbours, as the narrowest integers that hold
the number of nodes; then properties. An edge without direction is listed at one of its ends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from numba import njit

from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import FileError
from warpsift.graph.limits import NODE_BYTES, ROW_BYTES, Limits
from warpsift.graph.readers.text import as_weights

MAGIC = b"\xe2\x9b\xbe gt"
_VERSION = 1
_OF_GRAPH, _OF_NODES, _OF_ARCS = range(3)
_SCALARS = {0: "u1", 1: "i2", 2: "i4", 3: "i8", 4: "f8"}  # value types: bool, int16, int32, int64, double
_LONG_DOUBLE, _STRING, _OBJECT = 5, 6, 14
_LONG_DOUBLE_BYTES = 16
_VECTORS = {7: 1, 8: 2, 9: 4, 10: 8, 11: 8, 12: _LONG_DOUBLE_BYTES}  # bytes of an element of each vector type
_VECTOR_OF_STRINGS = 13
_WEIGHT = b"weight"


class _Bytes:
    """The file's bytes and the place reached; running out of them is an error."""

    def __init__(self, content: bytearray, path: str) -> None:
        self.content, self.path, self.at = content, path, len(MAGIC)
        self.order = "<"

    def fail(self, reason: str) -> FileError:
        return FileError(self.path, f"{reason} (byte {self.at} of {len(self.content)})")

    def take(self, size: int) -> memoryview:
        if size > len(self.content) - self.at:
            raise self.fail("the .gt file is cut short")
        self.at += size
        return memoryview(self.content)[self.at - size : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        return struct.unpack(f"{self.order}Q", self.take(8))[0]

    def text(self) -> bytes:
        return bytes(self.take(self.number()))


def read_graph_tool(content: bytearray, path: str, limits: Limits) -> CsrGraph:
    """The graph in the bytes of a file."""
    file = _Bytes(content, path)
    version, big = file.byte(), file.byte()
    if version != _VERSION or big > 1:
        raise file.fail(f"version {version} and byte order {big} of the .gt format; expected version 1, order 0 or 1")
    file.order = "<>"[big]
    file.text()  # a comment
    directed = file.byte() != 0
    nodes = file.number()
    problem = limits.graph_problem(nodes, 0)
    if problem:
        raise file.fail(f"the header promises {problem}")
    width = next(bytes_ for bytes_ in (1, 2, 4, 8) if nodes < 1 << 8 * bytes_)
    sources, targets = _neighbours(file, nodes, width, limits)
    weights = _weights(file, nodes, len(sources))
    if not directed:
        loops = sources == targets  # an edge from a node to itself is one arc, not two
        sources, targets = (
            np.concatenate([sources, targets[~loops]]),
            np.concatenate([targets, sources[~loops]]),
        )
        weights = None if weights is None else np.concatenate([weights, weights[~loops]])
    problem = limits.graph_problem(nodes, len(sources))
    if problem:
        raise file.fail(problem)
    return CsrGraph.from_edges(sources, targets, weights, nodes)


def _neighbours(file: _Bytes, nodes: int, width: int, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every arc, in the file's order."""
    room = len(file.content) - file.at
    if 8 * nodes > room:
        raise file.fail(f"{nodes} nodes need {8 * nodes} bytes or more; the file has {room} left")
    data, big = np.frombuffer(file.content, np.uint8), file.order == ">"
    degrees, after = _degrees(data, file.at, nodes, width, big)
    if after < 0:
        raise file.fail("the .gt file is cut short in its lists of neighbours")
    arcs = int(degrees.sum())
    problem = limits.loading_problem(len(file.content) + NODE_BYTES * nodes + ROW_BYTES * arcs)
    if problem:
        raise file.fail(problem)
    targets = np.empty(arcs, np.int64)
    wrong = _targets(data, file.at, degrees, width, big, targets)
    if wrong >= 0:
        file.at = wrong
        raise file.fail(f"a neighbour that is none of the {nodes} nodes")
    file.at = after
    return np.repeat(np.arange(nodes, dtype=np.int64), degrees), targets


@njit(cache=True)
def _integer(data, at, width, big):
    value = np.uint64(0)
    for k in range(width):
        byte = np.uint64(data[at + k] if big else data[at + width - 1 - k])
        value = (value << np.uint64(8)) | byte
    return value


@njit(cache=True)
def _degrees(data, at, nodes, width, big):
    """How many neighbours each node has, and the place after the lists, or -1 if they end early."""
    degrees = np.zeros(nodes, np.int64)
    for node in range(nodes):
        if at + 8 > data.size:
            return degrees, -1
        degree = _integer(data, at, 8, big)
        at += 8
        if degree > np.uint64((data.size - at) // width):
            return degrees, -1
        degrees[node] = np.int64(degree)
        at += width * degrees[node]
    return degrees, at


@njit(cache=True)
def _targets(data, at, degrees, width, big, targets):
    """Fill in the neighbours; the place of the first that is no node, or -1."""
    arc = 0
    for node in range(degrees.size):
        at += 8
        for _ in range(degrees[node]):
            target = _integer(data, at, width, big)
            if target >= np.uint64(degrees.size):
                return at
            targets[arc] = np.int64(target)
            arc += 1
            at += width
    return -1


def _weights(file: _Bytes, nodes: int, arcs: int) -> np.ndarray | None:
    """The property of the arcs that is called weight, if it holds plain numbers; the others are passed over."""
    if file.at == len(file.content):  # NetworKit ends here
        return None
    for _ in range(file.number()):
        kind, name, type_ = file.byte(), file.text(), file.byte()
        if kind > _OF_ARCS:
            raise file.fail(f"a property of kind {kind}; expected 0 (graph), 1 (vertex) or 2 (edge)")
        count = (1, nodes, arcs)[kind]
        if kind == _OF_ARCS and name == _WEIGHT and type_ in _SCALARS:
            values = np.frombuffer(file.take(count * np.dtype(_SCALARS[type_]).itemsize), file.order + _SCALARS[type_])
            return as_weights(values.astype(np.float64))
        for size in _sizes(file, type_, count):
            file.take(size)
    return None


def _sizes(file: _Bytes, type_: int, count: int) -> Iterator[int]:
    """Bytes to pass over, one piece after the other."""
    if type_ in _SCALARS:
        yield count * np.dtype(_SCALARS[type_]).itemsize
    elif type_ == _LONG_DOUBLE:
        yield count * _LONG_DOUBLE_BYTES
    elif type_ in (_STRING, _OBJECT):
        for _ in range(count):
            yield file.number()
    elif type_ in _VECTORS:
        for _ in range(count):
            yield file.number() * _VECTORS[type_]
    elif type_ == _VECTOR_OF_STRINGS:
        for _ in range(count):
            for _ in range(file.number()):
                yield file.number()
    else:
        raise file.fail(f"a property of value type {type_}; expected 0 to {_OBJECT}")
