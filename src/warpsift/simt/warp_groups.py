"""Threads as warps: a scope's active threads grouped by warp, and recorded instructions ordered by warp."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def group_by_warp(index, warp_numbers):
    """Split ascending thread positions into warps: (warp number, active lanes, first position) of each."""
    n = index.size
    warps = np.empty(n, np.int32)
    lanes = np.empty(n, np.uint8)
    first = np.empty(n + 1, np.int32)
    count = 0
    last = -1
    for k in range(n):
        warp = index[k] >> 5
        if warp != last:
            warps[count] = warp_numbers[warp]
            first[count] = k
            if count:
                lanes[count - 1] = k - first[count - 1]
            count += 1
            last = warp
    if count:
        lanes[count - 1] = n - first[count - 1]
    first[count] = n
    return warps[:count].copy(), lanes[:count].copy(), first[: count + 1].copy()


@njit(cache=True)
def group_scopes(scopes, index, warp_numbers):
    """`group_by_warp` of many scopes at once.

    A row of `scopes` is where a scope's threads end in `index` and where its batch begins in `warp_numbers`. Gives the
    warps of all scopes one after the other, and where those of each begin; `first` has one entry more per scope.
    """
    begins = np.empty(scopes.shape[0] + 1, np.int64)
    begins[0] = 0
    warps = np.empty(index.size, np.int32)  # at most
    lanes = np.empty(index.size, np.uint8)
    first = np.empty(index.size + scopes.shape[0], np.int32)
    count = 0
    begin = 0
    for s in range(scopes.shape[0]):
        k, end = begin, scopes[s, 0]
        while k < end:
            warp, started = index[k] >> 5, k
            k += 1
            while k < end and index[k] >> 5 == warp:
                k += 1
            warps[count] = warp_numbers[scopes[s, 1] + warp]
            lanes[count] = k - started
            first[count + s] = started - begin
            count += 1
        first[count + s] = end - begin
        begins[s + 1] = count
        begin = end
    return begins, (warps[:count].copy(), lanes[:count].copy(), first[: count + scopes.shape[0]].copy())


@njit(cache=True)
def order_by_warp(warp_buffer, op_buffer, used, warps):
    """Counting sort of the recorded instructions into one contiguous run per warp, program order kept."""
    first = np.zeros(warps + 1, np.int64)
    for k in range(used):
        first[warp_buffer[k] + 1] += 1
    for w in range(warps):
        first[w + 1] += first[w]
    at = first.copy()
    ops = np.empty((used, 2), np.int64)
    for k in range(used):
        w = warp_buffer[k]
        ops[at[w], 0] = op_buffer[k, 0]
        ops[at[w], 1] = op_buffer[k, 1]
        at[w] += 1
    return first, ops
