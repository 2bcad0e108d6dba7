"""NumPy archives: those that `save_graph` writes, and those of `scipy.sparse.save_npz`.

Nothing is unpickled. Every array's header is compared with the bytes that are really there before memory is taken.
"""

from __future__ import annotations

import io
import json
import math
import os
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import FileError, GraphError
from warpsift.graph.limits import NODE_BYTES, ROW_BYTES, Limits

_OURS = ("offsets", "targets", "weights", "original_ids")
_EXPECTED = "expected arrays offsets and targets (warpsift) or format, indptr, indices, shape (SciPy)"
_PLAIN_KINDS = "biufSU"  # booleans, numbers, and the text that names SciPy's format
_MOST_ARRAYS = 64
_LONGEST_NAME = 200


def save_graph(graph: CsrGraph, path: str | os.PathLike[str]) -> None:
    """Write the graph as .npz: first beside the goal, then renamed, so no reader sees half a file."""
    goal = Path(path)
    handle, temporary = tempfile.mkstemp(dir=goal.parent, prefix=f".{goal.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write_graph(graph, file)
        os.replace(temporary, goal)
    except BaseException:
        os.unlink(temporary)
        raise


def write_graph(graph: CsrGraph, file: IO[bytes]) -> None:
    """Write the graph's arrays and what is said of it, as .npz, from the file's present position."""
    arrays = {name: getattr(graph, name) for name in _OURS if getattr(graph, name) is not None}
    about = {"name": graph.name, "stand_in_for": graph.stand_in_for, "provenance": dict(graph.provenance)}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(file, **arrays)


def read_npz(content: bytearray, path: str, limits: Limits) -> CsrGraph:
    """The graph in the bytes of a file."""
    arrays = read_arrays(io.BytesIO(content), path, limits.text_bytes)
    if "offsets" in arrays and "targets" in arrays:
        return _from_ours(arrays, path, limits)
    has_places = {"indices", "indptr"} <= arrays.keys() or {"row", "col"} <= arrays.keys()
    if {"format", "shape"} <= arrays.keys() and has_places:
        return _from_scipy(arrays, path, limits)
    raise FileError(path, f"{_EXPECTED}, found {', '.join(arrays) or 'nothing'}")


def read_arrays(source: IO[bytes], path: str, max_bytes: int) -> dict[str, np.ndarray]:
    """All arrays of an archive by name."""
    try:
        with zipfile.ZipFile(source) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            if sum(sizes.values()) > max_bytes:
                raise FileError(path, f"expands to more than the limit of {max_bytes} bytes")
            if len(sizes) > _MOST_ARRAYS:
                raise FileError(path, f"{len(sizes)} arrays; {_EXPECTED}")
            found = {name: _array(archive, name, size, path) for name, size in sizes.items()}
            return {name.removesuffix(".npy"): array for name, array in found.items()}
    except GraphError:
        raise
    except Exception as error:  # zipfile says in no one way that its input is damaged
        raise FileError(path, f"the .npz archive is damaged: {error}") from error


def trusted_graph(file: IO[bytes], path: Path) -> CsrGraph:
    """A graph that `write_graph` wrote, so that its rows are sorted already; the caller has checked the bytes."""
    arrays = read_arrays(file, str(path), path.stat().st_size)
    if not {"offsets", "targets"} <= arrays.keys():
        raise FileError(path, f"{_EXPECTED}, found {', '.join(arrays) or 'nothing'}")
    given = {name: arrays[name] for name in _OURS if name in arrays}
    return CsrGraph(**given, **_about(arrays, str(path)))  # type: ignore[arg-type]


def _about(arrays: dict[str, np.ndarray], path: str) -> dict[str, Any]:
    """Name, stand-in note and origin, if the file has them."""
    if "about" not in arrays:
        return {}
    try:
        about = json.loads(arrays["about"].tobytes())
        known = {
            "name": str(about["name"])[:_LONGEST_NAME],
            "stand_in_for": None if about["stand_in_for"] is None else str(about["stand_in_for"])[:_LONGEST_NAME],
            "provenance": dict(about["provenance"]),
        }
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(path, f"array 'about' is no description of a graph: {error}") from None
    return known


def _array(archive: zipfile.ZipFile, name: str, size: int, path: str) -> np.ndarray:
    with archive.open(name) as member:
        try:
            shape, fortran, dtype = _header(member)
        except Exception as error:  # NumPy evaluates the header's text, and fails with whatever that fails with
            raise FileError(path, f"array {name!r} has a damaged header: {error}") from None
        if dtype.hasobject:
            raise FileError(path, f"array {name!r} holds Python objects; expected plain numbers")
        if dtype.kind not in _PLAIN_KINDS or dtype.itemsize == 0 or any(side < 0 for side in shape):
            raise FileError(path, f"array {name!r} is {dtype} of shape {shape}; expected plain numbers")
        count = math.prod(shape)
        if count * dtype.itemsize > size:
            raise FileError(path, f"array {name!r} promises {count} elements, more than the file holds")
        content = member.read()
    if len(content) != count * dtype.itemsize:
        raise FileError(path, f"array {name!r} promises {count} elements, the file holds {len(content)} bytes")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(member)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote; they are read all the same
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(member)
        if version == (2, 0):
            return np.lib.format.read_array_header_2_0(member)
    raise ValueError(f"version {version} of the .npy format")


def _refuse_reading(arrays: dict[str, np.ndarray], nodes: int, arcs: int, path: str, limits: Limits) -> None:
    held = sum(array.nbytes for array in arrays.values())
    problem = limits.graph_problem(nodes, arcs)
    problem = problem or limits.loading_problem(3 * held + NODE_BYTES * nodes + ROW_BYTES * arcs)
    if problem:
        raise FileError(path, f"the header promises {problem}")


def _from_ours(arrays: dict[str, np.ndarray], path: str, limits: Limits) -> CsrGraph:
    offsets, targets = arrays["offsets"], arrays["targets"]
    for name in ("offsets", "targets"):
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iu":
            raise FileError(path, f"array {name!r} must be a flat array of integers")
    # Compared, not subtracted: differences of unsigned numbers are never negative.
    rising = offsets.size > 0 and offsets[0] == 0 and not np.any(offsets[1:] < offsets[:-1])
    if not rising or offsets[-1] != targets.size:
        raise FileError(path, f"offsets must rise from 0 to the number of targets, {targets.size}")
    nodes = offsets.size - 1
    _refuse_reading(arrays, nodes, targets.size, path, limits)
    if targets.size and not (targets.min() >= 0 and targets.max() < nodes):
        bad = targets[(targets < 0) | (targets >= nodes)][0]
        raise FileError(path, f"node ID {bad} is out of range; expected 0 to {nodes - 1}")
    ids = arrays.get("original_ids")
    if ids is not None and (ids.shape != (nodes,) or ids.dtype.kind not in "iu"):
        raise FileError(path, f"original_ids must be {nodes} integers, one per node")
    degrees: np.ndarray = np.diff(offsets.astype(np.int64))
    sources = np.repeat(np.arange(nodes, dtype=np.int32), degrees)
    weights = arrays.get("weights")
    if weights is not None and (weights.shape != targets.shape or weights.dtype.kind not in "iuf"):
        raise FileError(path, f"weights must be {targets.size} numbers, one per arc")
    about = _about(arrays, path)
    return CsrGraph.from_edges(sources, targets, weights, nodes, original_ids=ids, **about)


def _from_scipy(arrays: dict[str, np.ndarray], path: str, limits: Limits) -> CsrGraph:
    import scipy.sparse

    words = [
        w.decode("ascii", "replace") if isinstance(w, bytes) else str(w) for w in arrays["format"].ravel().tolist()
    ]
    kind = words[0] if len(words) == 1 else ""
    if kind not in ("csr", "csc", "coo"):
        raise FileError(path, f"sparse format {kind[:20]!r}; expected csr, csc or coo")
    if arrays["shape"].shape != (2,) or arrays["shape"].dtype.kind not in "iu":
        raise FileError(path, "array 'shape' must be two integers, rows and columns")
    shape = tuple(int(side) for side in arrays["shape"])
    _refuse_reading(arrays, max(shape), max(array.size for array in arrays.values()), path, limits)
    try:
        if kind == "coo":
            rows, columns = arrays["row"], arrays["col"]
            matrix = scipy.sparse.coo_array((arrays["data"], (rows, columns)), shape=shape)
        else:
            make = scipy.sparse.csr_array if kind == "csr" else scipy.sparse.csc_array
            matrix = make((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
            matrix.check_format(full_check=True)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise FileError(path, f"no valid sparse matrix: {error}") from error
    if shape[0] != shape[1]:
        raise FileError(path, f"a {shape[0]} x {shape[1]} matrix is no graph; expected a square one")
    return CsrGraph.from_scipy(matrix)
