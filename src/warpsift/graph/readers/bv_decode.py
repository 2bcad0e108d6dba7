"""The bits of a WebGraph BV file, compiled: codes, references, intervals, residuals.

Boldi, Vigna, "The WebGraph framework I: compression techniques", WWW 2004. The successors of node x are: its
outdegree; if that is not 0, a reference r (copy from the list of x - r; 0 for none) with blocks that say which runs
of that list to copy and which to skip; then intervals of consecutive successors; then the residuals as gaps. Every
value read is checked before it is used: a damaged file ends with a status, never outside the arrays.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Numbered as in WebGraph's CompressionFlags; .properties files name them.
DELTA, GAMMA, GOLOMB, SKEWED_GOLOMB, UNARY, ZETA, NIBBLE = range(1, 8)
FINE, CUT_SHORT, TOO_MANY_ARCS, BAD_REFERENCE, BAD_BLOCKS, BAD_INTERVAL, BAD_SUCCESSOR = range(7)

_WORD_BITS = 64
_LONGEST = 58  # of a binary part: keeps every value below 2^59, far beyond 2^31 nodes, so sums cannot overflow


@njit(cache=True, error_model="numpy")
def _window(words, at):
    """The 64 bits from position `at`."""
    word = at >> 6
    shift = np.uint64(at & 63)
    if shift == 0:
        return words[word]
    return (words[word] << shift) | (words[word + 1] >> (np.uint64(_WORD_BITS) - shift))


@njit(cache=True, error_model="numpy")
def _leading_zeros(window):
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if window >> np.uint64(_WORD_BITS - step) == 0:
            zeros += step
            window <<= np.uint64(step)
    return zeros


@njit(cache=True, error_model="numpy")
def _unary(words, bits, at):
    """Zeros before the next one; -1 past the end."""
    value = 0
    while at < bits:
        window = _window(words, at)
        if window != 0:
            zeros = _leading_zeros(window)
            at += zeros + 1
            return (value + zeros, at) if at <= bits else (-1, at)
        value += _WORD_BITS
        at += _WORD_BITS
    return -1, at


@njit(cache=True, error_model="numpy")
def _binary(words, bits, at, width):
    if width == 0:
        return 0, at
    if width > _LONGEST or at + width > bits:
        return -1, at
    return np.int64(_window(words, at) >> np.uint64(_WORD_BITS - width)), at + width


@njit(cache=True, error_model="numpy")
def _gamma(words, bits, at):
    width, at = _unary(words, bits, at)
    if width < 0:
        return -1, at
    low, at = _binary(words, bits, at, width)
    return ((np.int64(1) << width) + low - 1, at) if low >= 0 else (-1, at)


@njit(cache=True, error_model="numpy")
def _delta(words, bits, at):
    width, at = _gamma(words, bits, at)
    if width < 0:
        return -1, at
    low, at = _binary(words, bits, at, width)
    return ((np.int64(1) << width) + low - 1, at) if low >= 0 else (-1, at)


@njit(cache=True, error_model="numpy")
def _zeta(words, bits, at, k):
    height, at = _unary(words, bits, at)
    if height < 0 or height * k + k > _LONGEST:
        return -1, at
    left = np.int64(1) << (height * k)
    value, at = _binary(words, bits, at, height * k + k - 1)
    if value < 0 or value < left:
        return (value + left - 1, at) if value >= 0 else (-1, at)
    low, at = _binary(words, bits, at, 1)
    return ((value << 1) + low - 1, at) if low >= 0 else (-1, at)


@njit(cache=True, error_model="numpy")
def _golomb(words, bits, at, modulus):
    quotient, at = _unary(words, bits, at)
    if quotient < 0:
        return -1, at
    width = 63 - _leading_zeros(np.uint64(modulus))
    short = (np.int64(1) << (width + 1)) - modulus
    value, at = _binary(words, bits, at, width)
    if value >= short:
        low, at = _binary(words, bits, at, 1)
        value = (value << 1) + low - short if low >= 0 else -1
    return (quotient * modulus + value, at) if value >= 0 else (-1, at)


@njit(cache=True, error_model="numpy")
def _nibble(words, bits, at):
    value = np.int64(0)
    while value < np.int64(1) << 55:
        piece, at = _binary(words, bits, at, 4)
        if piece < 0:
            return -1, at
        value = value << 3 | (piece & 7)
        if piece & 8:
            return value, at
    return -1, at


@njit(cache=True, error_model="numpy")
def read_code(words, bits, at, code, k):
    """The next value in this code and the position after it; -1 if the bits end or the value is absurd."""
    if code == GAMMA:
        return _gamma(words, bits, at)
    if code == ZETA:
        return _zeta(words, bits, at, k)
    if code == UNARY:
        return _unary(words, bits, at)
    if code == DELTA:
        return _delta(words, bits, at)
    if code == GOLOMB:
        return _golomb(words, bits, at, k)
    return _nibble(words, bits, at)


@njit(cache=True, error_model="numpy")
def _signed(natural):
    """0, -1, 1, -2, 2, ... for 0, 1, 2, 3, 4, ..."""
    return natural >> 1 if natural & 1 == 0 else -((natural + 1) >> 1)


@njit(cache=True, error_model="numpy")
def _copy_blocks(source, stream, codes, k, copied):
    """Copy the runs that the blocks select; returns (count copied, position), or (-1, _) / (-2, _)."""
    words, bits, at = stream
    block_count, at = read_code(words, bits, at, codes[3], k)
    if block_count < 0:
        return -1, at
    count = 0
    total = 0
    for block in range(block_count):
        length, at = read_code(words, bits, at, codes[1], k)
        if length < 0:
            return -1, at
        length += 1 if block else 0
        if length > source.size - total:
            return -2, at
        if block % 2 == 0:
            if count + length > copied.size:
                return -2, at
            copied[count : count + length] = source[total : total + length]
            count += length
        total += length
    if block_count % 2 == 0:
        length = source.size - total
        if count + length > copied.size:
            return -2, at
        copied[count : count + length] = source[total:]
        count += length
    return count, at


@njit(cache=True, error_model="numpy")
def _read_intervals(node, nodes, stream, coding, shortest, runs):
    """Fill `runs` with the members of all intervals; returns (count, position), or (-1, _) / (-2, _)."""
    words, bits, at = stream
    code, k = coding
    intervals, at = read_code(words, bits, at, code, k)
    if intervals < 0:
        return -1, at
    count = 0
    end = 0
    for interval in range(intervals):
        gap, at = read_code(words, bits, at, code, k)
        if gap < 0:
            return -1, at
        length, at = read_code(words, bits, at, code, k)
        if length < 0:
            return -1, at
        left = node + _signed(gap) if interval == 0 else end + 1 + gap
        length += shortest
        if left < 0 or length > nodes or left + length > nodes or count + length > runs.size:
            return -2, at
        for member in range(length):
            runs[count + member] = left + member
        count += length
        end = left + length
    return count, at


@njit(cache=True, error_model="numpy")
def _read_residuals(node, nodes, stream, code, k, residuals):
    """Fill all of `residuals`; returns (status, position)."""
    words, bits, at = stream
    successor = np.int64(0)
    for index in range(residuals.size):
        gap, at = read_code(words, bits, at, code, k)
        if gap < 0:
            return CUT_SHORT, at
        successor = node + _signed(gap) if index == 0 else successor + 1 + gap
        if successor < 0 or successor >= nodes:
            return BAD_SUCCESSOR, at
        residuals[index] = successor
    return FINE, at


@njit(cache=True, error_model="numpy")
def _merge(first, second, merged):
    i = 0
    j = 0
    for k in range(merged.size):
        if j >= second.size or (i < first.size and first[i] < second[j]):
            merged[k] = first[i]
            i += 1
        else:
            merged[k] = second[j]
            j += 1


@njit(cache=True, error_model="numpy")
def decode(words, bits, sizes, layout, codes):
    """All lists. sizes: nodes, arcs; layout: window, shortest interval (0: none), k of zeta and Golomb;
    codes: those of outdegrees, blocks, residuals, block counts, references, intervals.

    Returns (status, node, arcs read), offsets, targets.
    """
    nodes, arcs = sizes
    window, shortest, k = layout
    offsets = np.zeros(nodes + 1, np.int64)
    targets = np.empty(arcs, np.int32)
    copied = np.empty(16, np.int32)
    runs = np.empty(16, np.int32)
    extras = np.empty(16, np.int32)
    at = 0
    for node in range(nodes):
        start = offsets[node]
        degree, at = read_code(words, bits, at, codes[0], k)
        if degree < 0:
            return (CUT_SHORT, node, start), offsets, targets
        if degree > arcs - start:
            return (TOO_MANY_ARCS, node, start), offsets, targets
        offsets[node + 1] = start + degree
        if degree == 0:
            continue
        if degree > copied.size:
            room = min(2 * degree, arcs)
            copied = np.empty(room, np.int32)
            runs = np.empty(room, np.int32)
            extras = np.empty(room, np.int32)
        copies = 0
        if window > 0:
            reference, at = read_code(words, bits, at, codes[4], k)
            if reference < 0 or reference > node or reference > window:
                status = BAD_REFERENCE if reference >= 0 else CUT_SHORT
                return (status, node, start), offsets, targets
            if reference > 0:
                source = targets[offsets[node - reference] : offsets[node - reference + 1]]
                copies, at = _copy_blocks(source, (words, bits, at), codes, k, copied[:degree])
                if copies < 0:
                    return (CUT_SHORT if copies == -1 else BAD_BLOCKS, node, start), offsets, targets
        extra = degree - copies
        in_runs = 0
        if extra > 0 and shortest > 0:
            in_runs, at = _read_intervals(node, nodes, (words, bits, at), (codes[5], k), shortest, runs[:extra])
            if in_runs < 0:
                return (CUT_SHORT if in_runs == -1 else BAD_INTERVAL, node, start), offsets, targets
        row = targets[start : start + degree]
        residuals = row[: extra - in_runs]
        status, at = _read_residuals(node, nodes, (words, bits, at), codes[2], k, residuals)
        if status != FINE:
            return (status, node, start), offsets, targets
        if in_runs or copies:
            _merge(residuals, runs[:in_runs], extras[:extra])
            _merge(extras[:extra], copied[:copies], row)
    return (FINE, nodes, offsets[nodes]), offsets, targets
