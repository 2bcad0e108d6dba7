"""From a heap of arcs to sorted rows: a counting sort by target, then by source, in O(arcs + nodes).

Every row comes out sorted by target, parallel arcs by weight, so that the arrays are a function of the arcs alone
and not of the order in which a file lists them: equal graphs have equal hashes. Weights travel as int32 keys of the
same order as the weights, so that one compiled function serves integers, floats and no weights at all.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MAX_NODES = 2**31 - 1  # targets are int32, as on the GPU (4-byte elements, SCU paper, table 2)


def weight_keys(weights: np.ndarray | None) -> np.ndarray:
    """Int32 keys in the order of the weights (empty for no weights)."""
    if weights is None:
        return np.empty(0, np.int32)
    if weights.dtype == np.int32:
        return weights
    bits = np.ascontiguousarray(weights, np.float32).view(np.int32)
    return bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))  # IEEE 754: flip the magnitude of negatives


def weights_of_keys(keys: np.ndarray, dtype: np.dtype | None) -> np.ndarray | None:
    """The weights that `weight_keys` was given."""
    if dtype is None:
        return None
    if dtype == np.int32:
        return keys
    return (keys ^ ((keys >> 31) & np.int32(0x7FFFFFFF))).view(np.float32)


@njit(cache=True, error_model="numpy")
def _starts(ends_at, nodes):
    starts = np.zeros(nodes + 1, np.int64)
    for arc in range(ends_at.size):
        starts[ends_at[arc] + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    return starts


@njit(cache=True, error_model="numpy")
def sort_arcs(sources, targets, keys, nodes):
    """Offsets, targets and keys of the arcs in order of (source, target, key); `keys` may be empty."""
    arcs = sources.size
    weighted = keys.size > 0
    by_target = _starts(targets, nodes)
    cursor = by_target[:-1].copy()
    middle_sources = np.empty(arcs, np.int32)
    middle_keys = np.empty(keys.size, np.int32)
    for arc in range(arcs):
        place = cursor[targets[arc]]
        cursor[targets[arc]] = place + 1
        middle_sources[place] = sources[arc]
        if weighted:
            middle_keys[place] = keys[arc]
    offsets = _starts(sources, nodes)
    cursor = offsets[:-1].copy()
    sorted_targets = np.empty(arcs, np.int32)
    sorted_keys = np.empty(keys.size, np.int32)
    for target in range(nodes):
        for arc in range(by_target[target], by_target[target + 1]):
            source = middle_sources[arc]
            place = cursor[source]
            cursor[source] = place + 1
            if weighted:  # insertion among parallel arcs, which are few
                key = middle_keys[arc]
                first = offsets[source]
                while place > first and sorted_targets[place - 1] == target and sorted_keys[place - 1] > key:
                    sorted_targets[place] = target
                    sorted_keys[place] = sorted_keys[place - 1]
                    place -= 1
                sorted_keys[place] = key
                sorted_targets[cursor[source] - 1] = target
            else:
                sorted_targets[place] = target
    return offsets, sorted_targets, sorted_keys


@njit(cache=True, error_model="numpy")
def squeeze_rows(offsets, targets, keys, merge_duplicates, drop_self_loops):
    """Drop self-loops and all but the lightest of parallel arcs, in place; returns the new offsets."""
    weighted = keys.size > 0
    nodes = offsets.size - 1
    squeezed = np.zeros(nodes + 1, np.int64)
    kept = 0
    for node in range(nodes):
        row_first = kept
        for arc in range(offsets[node], offsets[node + 1]):
            target = targets[arc]
            if drop_self_loops and target == node:
                continue
            if merge_duplicates and kept > row_first and targets[kept - 1] == target:
                continue
            targets[kept] = target
            if weighted:
                keys[kept] = keys[arc]
            kept += 1
        squeezed[node + 1] = kept
    return squeezed


ROWS_SORTED, ROWS_UNSORTED, BAD_OFFSETS, BAD_TARGETS = range(4)


@njit(cache=True, error_model="numpy")
def check_rows(offsets, targets, keys):
    """Whether offsets rise, targets are nodes and rows are sorted; (finding, place)."""
    weighted = keys.size > 0
    nodes = offsets.size - 1
    finding = ROWS_SORTED
    for node in range(nodes):
        if offsets[node + 1] < offsets[node] or offsets[node + 1] > targets.size:
            return BAD_OFFSETS, node
        for arc in range(offsets[node], offsets[node + 1]):
            if targets[arc] < 0 or targets[arc] >= nodes:
                return BAD_TARGETS, arc
            if arc > offsets[node]:
                before = targets[arc - 1]
                if targets[arc] < before or (weighted and targets[arc] == before and keys[arc] < keys[arc - 1]):
                    finding = ROWS_UNSORTED
    return finding, 0


def csr_arrays(
    sources: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None,
    nodes: int,
    *,
    merge_duplicates: bool = False,
    drop_self_loops: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Offsets, targets and weights of sorted rows. The IDs must lie in 0..nodes-1 (the caller has checked)."""
    dtype = None if weights is None else weights.dtype
    keys = _writable_int32(weight_keys(weights))
    arcs = _writable_int32(sources), _writable_int32(targets)
    offsets, sorted_targets, sorted_keys = sort_arcs(*arcs, keys, nodes)
    del arcs, keys
    if merge_duplicates or drop_self_loops:
        offsets = squeeze_rows(offsets, sorted_targets, sorted_keys, merge_duplicates, drop_self_loops)
        kept = int(offsets[-1])
        sorted_targets = sorted_targets[:kept].copy()
        sorted_keys = sorted_keys[:kept].copy()
    sorted_weights = weights_of_keys(sorted_keys, dtype)
    for array in (offsets, sorted_targets, sorted_weights):
        if array is not None:
            array.flags.writeable = False  # so that CsrGraph need not copy
    return offsets, sorted_targets, sorted_weights


def _writable_int32(values: np.ndarray) -> np.ndarray:
    """Contiguous and writable, since Numba compiles anew for every other layout."""
    values = np.ascontiguousarray(values, np.int32)
    return values if values.flags.writeable else values.copy()
