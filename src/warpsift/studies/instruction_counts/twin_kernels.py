"""Thirteen programs of ours with CUDA twins: what both are run on, and what they must agree in.

Threads of a warp take the same way through a program, so that a thread's PTX instructions are its warp's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from warpsift.simt import Kernel, kernel

WARPS = 8
THREADS = 32 * WARPS
LENGTHS = np.array([0, 1, 2, 3, 5, 8, 13, 21], np.int32)  # of the lists of a warp's threads
FAR = 1 << 30
SPACE = 32


@dataclass(frozen=True)
class Twin:
    """A program: its kernel, arguments (arrays by name, then plain numbers) and what it writes."""

    kernel: Kernel
    arguments: Callable[[], dict[str, Any]]
    writes: tuple[str, ...]
    counts_threads: bool = True  # the CUDA kernel's last parameter is the number of threads

    @property
    def name(self) -> str:
        return self.kernel.name


def per_warp(values: ArrayLike) -> np.ndarray:
    """A value per warp, given to all its threads."""
    return np.repeat(np.asarray(values, np.int32), 32)


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Offsets of a thread's list and its entries; threads of a warp have lists of the same length."""
    offsets = np.concatenate([[0], np.cumsum(per_warp(LENGTHS))]).astype(np.int32)
    return offsets, np.random.default_rng(1).integers(0, THREADS, offsets[-1]).astype(np.int32)


@kernel
def relax(t, offsets, targets, weights, cost, update, active):
    t.exit_where(t.load(active, t.id) == 0)
    t.store(active, t.id, 0)
    mine = t.load(cost, t.id)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        t.atomic_min(update, t.load(targets, e), mine + t.load(weights, e), used=False)


@kernel(guard=False)
def stride_sum(t, a, out, n, stride):
    i, total = t.var(t.id), t.var(0.0)
    for _ in t.loop_while(lambda: i < n):
        total.set(total + t.load(a, i))
        i.set(i + stride)
    t.store(out, t.id, total)


@kernel
def lower_bound(t, keys, wanted, out, size):
    low, high, key = t.var(0), t.var(size), t.load(wanted, t.id)
    for _ in t.loop_while(lambda: low < high):
        middle = (low + high) >> 1
        less = t.load(keys, middle) < key
        low.set(t.select(less, middle + 1, low))
        high.set(t.select(less, high, middle))
    t.store(out, t.id, low)


@kernel
def bytes(t, mask, index, out):
    t.store(out, t.id, t.load(mask, t.load(index, t.id)))


@kernel
def jump(t, parent, root):
    p = t.var(t.id)
    q = t.var(t.load(parent, t.id))
    for _ in t.loop_while(lambda: q != p):
        p.set(q)
        q.set(t.load(parent, p))
    t.store(root, t.id, p)


@kernel
def scan_until(t, a, start, out, key):
    e = t.var(t.load(start, t.id))
    for _ in t.loop_while(lambda: t.load(a, e) != key):
        e.set(e + 1)
    t.store(out, t.id, e)


@kernel
def bfs_step(t, offsets, targets, levels, changed, current):
    t.exit_where(t.load(levels, t.id) != current)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        vertex = t.load(targets, e)
        with t.where(t.load(levels, vertex) == FAR):
            t.store(levels, vertex, current + 1)
            t.store(changed, 0, 1)


@kernel
def classify(t, text, classes, counts):
    symbol = t.load(text, t.id)
    t.exit_where(symbol == SPACE)
    t.atomic_add(counts, t.load(classes, symbol), 1, used=False)


@kernel
def probe(t, keys, table, values, found, mask):
    key = t.load(keys, t.id)
    place = t.var(key & mask)
    there = t.var(t.load(table, place))
    for _ in t.loop_while(lambda: (there != key) & (there != -1)):
        place.set((place + 1) & mask)
        there.set(t.load(table, place))
    with t.where(there == key):
        t.store(found, t.id, t.load(values, place))


@kernel
def common(t, sources, targets, offsets, lists, counts):
    u, v = t.load(sources, t.id), t.load(targets, t.id)
    a, a_end = t.var(t.load(offsets, u)), t.load(offsets, u, offset=1)
    b, b_end = t.var(t.load(offsets, v)), t.load(offsets, v, offset=1)
    count = t.var(0)
    for _ in t.loop_while(lambda: (a < a_end) & (b < b_end)):
        x, y = t.load(lists, a), t.load(lists, b)
        count.set(t.select(x == y, count + 1, count))
        a.set(t.select(x <= y, a + 1, a))
        b.set(t.select(y <= x, b + 1, b))
    t.store(counts, t.id, count)


@kernel
def scaled_rows(t, marked, offsets, columns, values, x, scale, y):
    t.exit_where(t.load(marked, t.id) == 0)
    total = t.var(0.0)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        total.set(t.fma(t.load(values, e), t.load(x, t.load(columns, e)), total))
    t.store(y, t.id, total * t.load(scale, t.id))


@kernel(guard=False)
def strided_bytes(t, text, counts, n, stride):
    i = t.var(t.id)
    for _ in t.loop_while(lambda: i < n):
        t.atomic_add(counts, t.load(text, i), 1, used=False)
        i.set(i + stride)


@kernel(guard=False)
def strided_axpy(t, x, y, a, n, stride):
    i = t.var(t.id)
    for _ in t.loop_while(lambda: i < n):
        t.store(y, i, t.fma(t.load(x, i), a, t.load(y, i)))
        i.set(i + stride)


def _relax() -> dict[str, Any]:
    offsets, targets = rows()
    edges = np.arange(targets.size, dtype=np.int32)
    own = np.arange(THREADS, dtype=np.int32)
    active = per_warp(np.arange(WARPS) % 3 != 1)
    return {
        "offsets": offsets,
        "targets": targets,
        "weights": edges % 7,
        "cost": own,
        "update": own + 100,
        "active": active,
    }


def _stride_sum() -> dict[str, Any]:
    n = 5 * THREADS + 3 * 32  # the first three warps have an element more
    return {
        "a": np.arange(n, dtype=np.float32) % 9,
        "out": np.zeros(THREADS, np.float32),
        "n": n,
        "stride": THREADS,
    }


def _lower_bound() -> dict[str, Any]:
    keys = np.arange(63, dtype=np.int32) * 2
    wanted = per_warp(np.arange(WARPS) * 17)
    return {"keys": keys, "wanted": wanted, "out": np.zeros(THREADS, np.int32), "size": 63}


def _bytes() -> dict[str, Any]:
    index = np.random.default_rng(2).integers(0, 999, THREADS).astype(np.int32)
    return {"mask": (np.arange(999) % 251).astype(np.uint8), "index": index, "out": np.zeros(THREADS, np.uint8)}


def _jump() -> dict[str, Any]:
    parent = np.maximum(np.arange(THREADS, dtype=np.int32) - 32, np.arange(THREADS, dtype=np.int32) % 32)
    return {"parent": parent, "root": np.zeros(THREADS, np.int32)}


def _scan_until() -> dict[str, Any]:
    a = np.ones(THREADS * 2, np.int32)
    a[::16] = 5
    start = per_warp(np.arange(WARPS) * 33 % 64)
    return {"a": a, "start": start, "out": np.zeros(THREADS, np.int32), "key": 5}


def _bfs_step() -> dict[str, Any]:
    offsets, _ = rows()
    edges = int(offsets[-1])
    own = np.where(np.arange(WARPS) % 3 == 1, 1, 3)
    slot = np.arange(edges) - np.repeat(offsets[:-1], np.diff(offsets))  # in its list: every other one is new
    levels = np.concatenate([per_warp(own), np.where(slot % 2 == 0, FAR, 2)]).astype(np.int32)
    targets = (THREADS + np.arange(edges)).astype(np.int32)
    return {
        "offsets": offsets,
        "targets": targets,
        "levels": levels,
        "changed": np.zeros(1, np.int32),
        "current": 3,
    }


def _classify() -> dict[str, Any]:
    text = per_warp(np.where(np.arange(WARPS) % 3 == 1, SPACE, 65 + np.arange(WARPS))).astype(np.uint8)
    classes = (np.arange(256) % 7).astype(np.uint8)
    return {"text": text, "classes": classes, "counts": np.zeros(7, np.int32)}


def _probe() -> dict[str, Any]:
    table = np.full(1024, -1, np.int32)
    for warp in range(WARPS):  # clusters of 0, 1, 2, ... keys, all of the cluster's first place
        table[64 * warp : 64 * warp + warp] = 64 * warp + 1024 * (1 + np.arange(warp))
    keys = per_warp([64 * w + 1024 * (w if w % 2 else 99) for w in range(WARPS)])
    found = np.zeros(THREADS, np.int32)
    return {"keys": keys, "table": table, "values": np.arange(1024, dtype=np.int32), "found": found, "mask": 1023}


def _common() -> dict[str, Any]:
    lists = np.concatenate([np.arange(20) * (step + 1) for step in range(WARPS)]).astype(np.int32)
    offsets = (20 * np.arange(WARPS + 1)).astype(np.int32)
    sources, targets = per_warp(np.arange(WARPS)), per_warp((np.arange(WARPS) * 3 + 1) % WARPS)
    counts = np.zeros(THREADS, np.int32)
    return {"sources": sources, "targets": targets, "offsets": offsets, "lists": lists, "counts": counts}


def _scaled_rows() -> dict[str, Any]:
    offsets, columns = rows()
    numbers = np.arange(columns.size, dtype=np.float32) % 5
    return {
        "marked": per_warp(np.arange(WARPS) % 4 != 2),
        "offsets": offsets,
        "columns": columns,
        "values": numbers,
        "x": np.arange(THREADS, dtype=np.float32) % 11,
        "scale": np.full(THREADS, 2, np.float32),
        "y": np.zeros(THREADS, np.float32),
    }


def _strided_bytes() -> dict[str, Any]:
    n = 4 * THREADS + 5 * 32
    return {"text": (np.arange(n) % 200).astype(np.uint8), "counts": np.zeros(256, np.int32), "n": n, "stride": THREADS}


def _strided_axpy() -> dict[str, Any]:
    n = 7 * THREADS + 2 * 32
    x, y = np.arange(n, dtype=np.float32) % 13, np.ones(n, np.float32)
    return {"x": x, "y": y, "a": np.float32(2), "n": n, "stride": THREADS}


TWINS = (
    Twin(relax, _relax, ("update", "active")),
    Twin(stride_sum, _stride_sum, ("out",), counts_threads=False),
    Twin(lower_bound, _lower_bound, ("out",)),
    Twin(bytes, _bytes, ("out",)),
    Twin(jump, _jump, ("root",)),
    Twin(scan_until, _scan_until, ("out",)),
    Twin(bfs_step, _bfs_step, ("levels", "changed")),
    Twin(classify, _classify, ("counts",)),
    Twin(probe, _probe, ("found",)),
    Twin(common, _common, ("counts",)),
    Twin(scaled_rows, _scaled_rows, ("y",)),
    Twin(strided_bytes, _strided_bytes, ("counts",), counts_threads=False),
    Twin(strided_axpy, _strided_axpy, ("y",), counts_threads=False),
)
