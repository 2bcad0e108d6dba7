"""Inputs of the reference programs, by integer hash, so that anyone can make them again.

H(seed, i) = splitmix64((seed << 40) + i) modulo 2^64 (Steele, Lea and Flood, OOPSLA 2014). Graphs: `uniN` and `rmatN`
have 2^N vertices and 8 arcs each (duplicates and loops kept), `gridK` is a K x K grid with four neighbours.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph import CsrGraph

UNIFORM, RMAT, WEIGHT, GATHER, HISTOGRAM, EDGE_FRONTIER, VISITED = 11, 23, 37, 41, 43, 53, 59  # seeds
UNIVERSE = 1 << 17  # vertices of the contraction input
ARCS_PER_VERTEX = 8
RMAT_LIMITS = (9563013, 12750684, 15938355)  # .57, .76 and .95 of 2^24


def hashed(seed: int, i: np.ndarray) -> np.ndarray:
    """splitmix64, vectorised."""
    with np.errstate(over="ignore"):
        x = np.uint64(seed << 40) + np.asarray(i).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def graph(name: str) -> CsrGraph:
    """uniN, rmatN or gridK, with weights 1 to 64."""
    kind, size = name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :])
    source, target, nodes = {"uni": _uniform, "rmat": _rmat, "grid": _grid}[kind](size)
    order = np.argsort(source, kind="stable")
    offsets = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=nodes), out=offsets[1:])
    weights = (1 + hashed(WEIGHT, np.arange(source.size)) % np.uint64(64)).astype(np.int32)
    return CsrGraph(offsets, target[order].astype(np.int32), weights, name)


def _uniform(scale: int) -> tuple[np.ndarray, np.ndarray, int]:
    nodes = 1 << scale
    arc = np.arange(ARCS_PER_VERTEX * nodes)
    return arc // ARCS_PER_VERTEX, (hashed(UNIFORM, arc) % np.uint64(nodes)).astype(np.int64), nodes


def _rmat(scale: int) -> tuple[np.ndarray, np.ndarray, int]:
    arc = np.arange(ARCS_PER_VERTEX << scale)
    source = np.zeros(arc.size, np.int64)
    target = np.zeros(arc.size, np.int64)
    for level in range(scale):
        draw = (hashed(RMAT, arc * 32 + level) >> np.uint64(40)).astype(np.int64)
        quadrant = np.searchsorted(RMAT_LIMITS, draw, side="right")
        source = 2 * source + (quadrant >> 1)
        target = 2 * target + (quadrant & 1)
    return source, target, 1 << scale


def _grid(side: int) -> tuple[np.ndarray, np.ndarray, int]:
    vertex = np.arange(side * side)
    x, y = vertex % side, vertex // side
    target = np.stack([vertex - 1, vertex + 1, vertex - side, vertex + side], 1)
    inside = np.stack([x > 0, x < side - 1, y > 0, y < side - 1], 1)
    return np.repeat(vertex, 4).reshape(-1, 4)[inside], target[inside], side * side


def in_edges(g: CsrGraph) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and sources of the in-edges, in the order in which the out-edges list them."""
    order = np.argsort(g.targets, kind="stable")
    offsets = np.zeros(g.nodes + 1, np.int32)
    offsets[1:] = np.cumsum(np.bincount(g.targets, minlength=g.nodes))
    return offsets, np.repeat(np.arange(g.nodes, dtype=np.int32), g.out_degrees)[order]


def gather_indexes(n: int, footprint_bytes: int) -> np.ndarray:
    return (hashed(GATHER, np.arange(n)) % np.uint64(footprint_bytes // 4)).astype(np.int32)


def histogram_keys(n: int, bits: int) -> np.ndarray:
    return (hashed(HISTOGRAM, np.arange(n)) % np.uint64(1 << bits)).astype(np.int32)


def edge_frontier(n: int) -> np.ndarray:
    return (hashed(EDGE_FRONTIER, np.arange(n)) % np.uint64(UNIVERSE)).astype(np.int32)


def visited_mask(kept_per_mille: int) -> np.ndarray:
    """A bit per vertex, set = visited = dropped."""
    bit = (hashed(VISITED, np.arange(UNIVERSE)) % np.uint64(1000)).astype(np.int64) >= kept_per_mille
    return np.packbits(bit, bitorder="little").view(np.int32)
