"""Temporal coalescing: of so many consecutive warp-level loads of some arrays, each line is asked for once.

What a unit could save that merges a warp's requests over time, whatever that unit is (MFF paper, section 4 and Fig. 5).
A launch's stream passes through unchanged but for the line requests that a warp repeats inside a window; what is left
goes through L1, MSHRs, network, L2 and DRAM as always. A window of 1 is the plain GPU itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numba import njit

from warpsift.simt.gpu import Gpu
from warpsift.simt.stream import LINE_SHIFT, LOAD, Chunk, LaunchInfo, Sink, UnitOperation


@njit(cache=True)
def _coalesce(kind, array, first, count, transactions, warp_first, tags, window):
    """Drop requests for lines that the same warp has asked for in the same window; new first, count, transactions."""
    new_first = first.copy()
    new_count = count.copy()
    kept = np.empty(transactions.size, np.int64)
    used = 0
    seen = np.empty(window * 64, np.int64)
    for w in range(warp_first.size - 1):
        loads = 0
        known = 0
        for k in range(warp_first[w], warp_first[w + 1]):
            if count[k] == 0 or kind[k] > 3 or kind[k] == 0:  # no line transactions
                continue
            start = used
            mine = False
            if kind[k] == LOAD:
                for tag in tags:
                    mine = mine or array[k] == tag
            if mine and loads % window == 0:
                known = 0
            for j in range(first[k], first[k] + count[k]):
                line = transactions[j] >> LINE_SHIFT
                found = False
                if mine:
                    for n in range(known):
                        if seen[n] == line:
                            found = True
                            break
                    if not found:
                        seen[known] = line
                        known += 1
                if not found:
                    kept[used] = transactions[j]
                    used += 1
            if mine:
                loads += 1
            new_first[k] = start
            new_count[k] = used - start
    return new_first, new_count, kept[:used]


class Windowed:
    """A sink in front of another: coalesces the loads of some arrays over a window of warp-level operations."""

    def __init__(self, sink: Sink, window: int, arrays: Sequence[str]) -> None:
        if window < 1:
            raise ValueError(f"a window holds at least 1 operation, not {window}")
        self._sink = sink
        self._window = window
        self._arrays = arrays
        self._tags = np.empty(0, np.int64)

    def begin(self, launch: LaunchInfo) -> None:
        self._tags = np.array([launch.arrays.index(name) for name in self._arrays])
        self._sink.begin(launch)

    def chunk(self, chunk: Chunk) -> None:
        ops = chunk.ops.copy()
        kind, array, first, count = (ops[name] for name in ("kind", "array", "first", "transactions"))
        warps = (chunk.transactions, chunk.warp_first)
        first, count, kept = _coalesce(kind, array, first, count, *warps, self._tags, self._window)
        ops["first"], ops["transactions"] = first, count
        self._sink.chunk(replace(chunk, ops=ops, transactions=kept))

    def end(self) -> None:
        self._sink.end()

    def operation(self, operation: UnitOperation) -> None:
        self._sink.operation(operation)


@contextmanager
def coalescing_over(gpu: Gpu, window: int, arrays: Sequence[str]) -> Iterator[None]:
    """The launches inside merge their loads of these arrays over a window; 1: they stay as they are."""
    if window == 1:
        yield
        return
    sink = gpu.sink
    gpu.sink = Windowed(sink, window, arrays)
    try:
        yield
    finally:
        gpu.sink = sink
