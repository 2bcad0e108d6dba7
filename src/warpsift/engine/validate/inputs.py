"""Inputs of the validation kernels: everything follows from an integer hash, so that anybody can regenerate it.

H(seed, i) = splitmix64((seed << 40) + i). Graphs: `uni12` (uniform, 8 edges per vertex), `rmat12` (R-MAT .57 .19 .19
.05, duplicates and loops kept, not permuted), `grid64` (4-neighbour grid).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNIFORM, RMAT, WEIGHTS, GATHER, HISTOGRAM, FRONTIER, VISITED = 11, 23, 37, 41, 43, 53, 59  # seeds
FRONTIER_VERTICES = 1 << 17
INFINITE = 1 << 30
_U = np.uint64


def splitmix64(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        x = np.asarray(x, _U) + _U(0x9E3779B97F4A7C15)
        x = (x ^ (x >> _U(30))) * _U(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> _U(27))) * _U(0x94D049BB133111EB)
        return x ^ (x >> _U(31))


def hashed(seed: int, index: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return splitmix64(_U(seed << 40) + np.asarray(index, _U))


def gather_indices(n: int, words: int) -> np.ndarray:
    return (hashed(GATHER, np.arange(n)) % _U(words)).astype(np.int32)


def histogram_keys(n: int, log2_bins: int) -> np.ndarray:
    return (hashed(HISTOGRAM, np.arange(n)) % _U(1 << log2_bins)).astype(np.int32)


def edge_frontier(n: int) -> np.ndarray:
    return (hashed(FRONTIER, np.arange(n)) % _U(FRONTIER_VERTICES)).astype(np.int32)


def visited_words(kept_per_mille: int) -> np.ndarray:
    """Bit v set: vertex v is visited, so it is dropped."""
    dropped = hashed(VISITED, np.arange(FRONTIER_VERTICES)) % _U(1000) >= _U(kept_per_mille)
    return np.packbits(dropped, bitorder="little").view(np.int32)


@dataclass(frozen=True)
class Graph:
    """Edges by source (offsets, targets, weights) and by target (in_offsets, in_sources)."""

    nodes: int
    offsets: np.ndarray
    targets: np.ndarray
    in_offsets: np.ndarray
    in_sources: np.ndarray
    weights: np.ndarray


def _edges(name: str) -> tuple[int, np.ndarray, np.ndarray]:
    size = int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
    if name.startswith("uni"):
        nodes = 1 << size
        e = np.arange(8 * nodes)
        return nodes, e // 8, (hashed(UNIFORM, e) % _U(nodes)).astype(np.int64)
    if name.startswith("rmat"):
        nodes = 1 << size
        e = np.arange(8 * nodes)
        source, target = np.zeros(e.size, np.int64), np.zeros(e.size, np.int64)
        for level in range(size):
            r = (hashed(RMAT, e * 32 + level) >> _U(40)).astype(np.int64)
            quadrant = (r >= 9563013).astype(np.int64) + (r >= 12750684) + (r >= 15938355)
            source, target = source * 2 + (quadrant >> 1), target * 2 + (quadrant & 1)
        return nodes, source, target
    u = np.arange(size * size)
    x, y = u % size, u // size
    around = np.stack([u - 1, u + 1, u - size, u + size], 1)
    inside = np.stack([x > 0, x < size - 1, y > 0, y < size - 1], 1)
    return size * size, np.repeat(u, 4).reshape(-1, 4)[inside], around[inside]


def make_graph(name: str) -> Graph:
    nodes, source, target = _edges(name)
    by_source = np.argsort(source, kind="stable")
    source, target = source[by_source], target[by_source]
    by_target = np.argsort(target, kind="stable")

    def offsets(keys: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=nodes))]).astype(np.int32)

    weights = (1 + hashed(WEIGHTS, np.arange(source.size)) % _U(64)).astype(np.int32)
    return Graph(
        nodes,
        offsets(source),
        target.astype(np.int32),
        offsets(target),
        source[by_target].astype(np.int32),
        weights,
    )
