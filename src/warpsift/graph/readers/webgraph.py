"""LAW's WebGraph BV format: a `.graph` file of bits and a `.properties` file that says how to read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpsift.graph.archive import plain_name, read_bytes
from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import FileError
from warpsift.graph.limits import NODE_BYTES, Limits
from warpsift.graph.readers import bv_decode
from warpsift.paths import is_file

# The parts of a list and their default codes (WebGraph's documentation of BVGraph, "compression flags"; INTERVALS can
# be named only in files of its Rust version). Java's BVGraph takes some codes for some parts; here any goes for all.
_DEFAULT_CODES = {
    "OUTDEGREES": "GAMMA",
    "BLOCKS": "GAMMA",
    "RESIDUALS": "ZETA",
    "BLOCK_COUNT": "GAMMA",
    "REFERENCES": "UNARY",
    "INTERVALS": "GAMMA",
}
_CODES = ("GAMMA", "DELTA", "ZETA", "UNARY", "NIBBLE", "GOLOMB")
_OFFSETS = "OFFSETS"  # the code of the .offsets file, which is not needed: all lists are read in order
_LONGEST_PROPERTIES = 1 << 20
_ARC_BYTES = 32  # the target, three buffers as long as the longest list, and what describes it
_DEFAULT_WINDOW, _DEFAULT_SHORTEST, _DEFAULT_ZETA_K = 7, 4, 3  # BVGraph's defaults
_REASONS = {
    bv_decode.CUT_SHORT: "the bits end, or break off into nonsense,",
    bv_decode.TOO_MANY_ARCS: "more arcs than the properties promise",
    bv_decode.BAD_REFERENCE: "a reference beyond the window or the first node",
    bv_decode.BAD_BLOCKS: "copy blocks longer than the list they copy from",
    bv_decode.BAD_INTERVAL: "an interval beyond the nodes or the outdegree",
    bv_decode.BAD_SUCCESSOR: "a successor beyond the nodes",
}


@dataclass(frozen=True)
class BvProperties:
    """What the .properties file says, checked."""

    nodes: int
    arcs: int
    window: int
    shortest_interval: int
    zeta_k: int
    codes: tuple[int, ...]  # in the order of _DEFAULT_CODES


def properties_of(graph_path: Path) -> Path | None:
    """The .properties file beside a .graph file (either may be compressed), if there is one."""
    base = plain_name(graph_path.name)
    if not base.endswith(".graph"):
        return None
    stem = base.removesuffix(".graph")
    for suffix in ("", ".gz", ".bz2", ".xz"):
        candidate = graph_path.with_name(f"{stem}.properties{suffix}")
        if is_file(candidate):
            return candidate
    return None


def read_webgraph(graph_path: Path, properties_path: Path, limits: Limits) -> CsrGraph:
    properties = parse_properties(properties_path, limits)
    content = read_bytes(graph_path, limits.text_bytes)
    bits = 8 * len(content)
    if properties.nodes > bits:  # an outdegree takes at least one bit
        raise FileError(
            graph_path,
            f"the properties promise {properties.nodes} nodes, the file has only {len(content)} bytes",
        )
    _refuse_reading(graph_path, properties, len(content), limits)
    content += bytes(-len(content) % 8 + 16)
    words = np.frombuffer(content, ">u8").astype(np.uint64)
    layout = (properties.window, properties.shortest_interval, properties.zeta_k)
    (status, node, arcs), offsets, targets = bv_decode.decode(
        words, bits, (properties.nodes, properties.arcs), layout, properties.codes
    )
    if status != bv_decode.FINE:
        raise FileError(graph_path, f"{_REASONS[status]} at node {node} of {properties.nodes}")
    if arcs != properties.arcs:
        raise FileError(graph_path, f"the properties promise {properties.arcs} arcs, the file holds {arcs}")
    offsets.flags.writeable = False
    targets.flags.writeable = False
    return CsrGraph(offsets, targets)


def _refuse_reading(path: Path, properties: BvProperties, file_bytes: int, limits: Limits) -> None:
    """Intervals write long lists in a few bits, so that the promise and not the file's size decides."""
    needed = 4 * file_bytes + NODE_BYTES * properties.nodes + _ARC_BYTES * properties.arcs
    problem = limits.loading_problem(needed)
    if problem:
        raise FileError(path, f"{properties.nodes} nodes and {properties.arcs} arcs: {problem}")


def parse_properties(path: Path, limits: Limits) -> BvProperties:
    """Read and check a .properties file (Java's format: key=value, comments with # or !)."""
    text = read_bytes(path, min(limits.text_bytes, _LONGEST_PROPERTIES)).decode("latin-1")
    values: dict[str, str] = {}
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in "#!":
            key, _, value = stripped.partition("=")
            values[key.strip()] = value.strip()
    kind = values.get("graphclass", "BVGraph").split()[-1:] or [""]
    if not kind[0].endswith("BVGraph"):
        raise FileError(path, f"graphclass is {kind[0]!r}; only BVGraph can be read")
    if values.get("endianness", "big") != "big":
        raise FileError(path, f"endianness is {values['endianness']!r}; only big can be read")
    if _number(path, values, "version", 0) > 0:
        raise FileError(path, f"version is {values['version']}; only version 0 can be read")
    nodes, arcs = _number(path, values, "nodes"), _number(path, values, "arcs")
    problem = limits.graph_problem(nodes, arcs)
    if problem:
        raise FileError(path, f"the properties promise {problem}")
    zeta_k = _number(path, values, "zetak", _DEFAULT_ZETA_K)
    if not 1 <= zeta_k <= 56:
        raise FileError(path, f"zetak is {zeta_k}; expected 1 to 56")
    return BvProperties(
        nodes,
        arcs,
        _number(path, values, "windowsize", _DEFAULT_WINDOW),
        _number(path, values, "minintervallength", _DEFAULT_SHORTEST),
        zeta_k,
        _codes(path, values.get("compressionflags", "")),
    )


def _number(path: Path, values: dict[str, str], key: str, default: int | None = None) -> int:
    text = values.get(key)
    if text is None and default is not None:
        return default
    if text is None:
        raise FileError(path, f"has no line `{key}=...`")
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise FileError(path, f"{key} is {text[:40]!r}; expected an integer from 0 up")
    return int(text)


def _codes(path: Path, flags: str) -> tuple[int, ...]:
    """E.g. `OUTDEGREES_DELTA | RESIDUALS_GAMMA`; parts that are not named keep their defaults."""
    chosen = dict(_DEFAULT_CODES)
    for flag in filter(None, (word.strip() for word in flags.split("|"))):
        part, _, code = flag.rpartition("_")
        if part != _OFFSETS and part not in chosen:
            known = ", ".join([*_DEFAULT_CODES, _OFFSETS])
            raise FileError(path, f"compression flag {flag!r} is unknown; expected PART_CODE with PART of {known}")
        if code not in _CODES:
            raise FileError(path, f"compression flag {flag!r}: code {code!r} is not one of {', '.join(_CODES)}")
        chosen[part] = code
    return tuple(getattr(bv_decode, chosen[part]) for part in _DEFAULT_CODES)
