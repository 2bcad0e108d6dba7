"""The Address Generator's walk, common to all five operations.

Every operation visits its inputs in order and takes from each a list of elements of the data: one (data and access
compaction), `count` times the same (replication), or `count` neighbours (expansion). So one walk serves all; it stops
when a chunk is full and goes on from there. Beside the positions it tells how many *slots* of the Address Generator
were spent before each element: a cycle has `width` slots, an element takes one. Inputs without elements take one slot
each; dropped elements take one each too, or, when masks are skipped by words, make every 32-bit mask word cost at
least a cycle.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# cursor: where the walk stands
INPUT, WITHIN, OUTPUT, SURVIVOR, WORD, WORD_KEPT, SLOTS = range(7)
CURSOR_FIELDS = 7
# flags of a walk
HAS_MASK, HAS_INDEX, HAS_COUNT, REPEATS, HAS_FILTER, SKIPS = 1, 2, 4, 8, 16, 32


@njit(cache=True)
def walk(cursor, inputs, width, flags, mask, index, count, keep, chunk):
    """Fill `chunk` = (source, input, output, slots) from the cursor on; gives the number of elements."""
    source, which_input, which_output, slots = chunk
    i, within, o = cursor[INPUT], cursor[WITHIN], cursor[OUTPUT]
    word, kept, spent = cursor[WORD], cursor[WORD_KEPT], cursor[SLOTS]
    filtered = (flags & HAS_FILTER) != 0
    by_mask = (flags & HAS_MASK) != 0  # of mask and filter, the mask's words are what is skipped
    skips = (flags & SKIPS) != 0
    room = source.size
    n = 0
    while i < inputs:
        if by_mask and (i >> 5) != word:
            if skips and kept < width and word >= 0:
                spent += width - kept
            word, kept = i >> 5, 0
        if by_mask and ((mask[i >> 5] >> np.uint32(i & 31)) & np.uint32(1)) == 0:
            if not skips:
                spent += 1
            i += 1
            continue
        first = np.int64(index[i]) if (flags & HAS_INDEX) != 0 else np.int64(i)
        length = np.int64(count[i]) if (flags & HAS_COUNT) != 0 else np.int64(1)
        if length == 0:
            spent += 1
        step = 0 if (flags & REPEATS) != 0 else 1
        while within < length and n < room:
            if filtered:
                if not by_mask and (o >> 5) != word:
                    if skips and kept < width and word >= 0:
                        spent += width - kept
                    word, kept = o >> 5, 0
                if ((keep[o >> 5] >> np.uint32(o & 31)) & np.uint32(1)) == 0:
                    if not skips:
                        spent += 1
                    o += 1
                    within += 1
                    continue
            source[n] = first + step * within
            which_input[n] = i
            which_output[n] = o
            slots[n] = spent
            spent = 0
            kept += 1
            n += 1
            o += 1
            within += 1
        if within < length:
            break
        within = 0
        i += 1
        if n >= room:
            break
    cursor[INPUT], cursor[WITHIN], cursor[OUTPUT] = i, within, o
    cursor[WORD], cursor[WORD_KEPT], cursor[SLOTS] = word, kept, spent
    cursor[SURVIVOR] += n
    return n


@njit(cache=True)
def measure(inputs, flags, mask, index, count, data_length):
    """Elements before filtering, and the first input that reaches outside of the data (or has a bad count), or -1."""
    total = np.int64(0)
    for i in range(inputs):
        if (flags & HAS_MASK) != 0 and ((mask[i >> 5] >> np.uint32(i & 31)) & np.uint32(1)) == 0:
            continue
        first = np.int64(index[i]) if (flags & HAS_INDEX) != 0 else np.int64(i)
        length = np.int64(count[i]) if (flags & HAS_COUNT) != 0 else np.int64(1)
        if length < 0:
            return total, np.int64(i)
        last = first if (flags & REPEATS) != 0 else first + length - 1
        if length > 0 and (first < 0 or last >= data_length):
            return total, np.int64(i)
        total += length
    return total, np.int64(-1)


@njit(cache=True)
def count_bits(words, bits):
    """Set bits among the first `bits`."""
    total = np.int64(0)
    for i in range(bits):
        total += np.int64((words[i >> 5] >> np.uint32(i & 31)) & np.uint32(1))
    return total


@njit(cache=True)
def move(out, data, position, source, n):
    for k in range(n):
        out[position[k]] = data[source[k]]


@njit(cache=True)
def move_in_order(out, data, first, source, n):
    for k in range(n):
        out[first + k] = data[source[k]]


@njit(cache=True)
def accumulate(out, data, first, position, source, n):
    """Data Store's accumulate mode; positions in order from `first` where `position` is empty."""
    for k in range(n):
        at = position[k] if position.size else first + k
        out[at] += data[source[k]]


@njit(cache=True)
def set_bits(words, first, flags, n):
    """Write bits first .. first + n; bits above, in the last word touched, become 0 if not yet written."""
    for k in range(n):
        bit = first + k
        one = np.uint32(1) << np.uint32(bit & 31)
        if (bit & 31) == 0:
            words[bit >> 5] = np.uint32(0)
        if flags[k]:
            words[bit >> 5] |= one
        else:
            words[bit >> 5] &= ~one


@njit(cache=True)
def extremes(inputs, flags, mask, index, count, data):
    """Smallest and largest element that an operation touches; (0, -1) if none."""
    low, high = np.int64(0), np.int64(-1)
    first_seen = True
    for i in range(inputs):
        if (flags & HAS_MASK) != 0 and ((mask[i >> 5] >> np.uint32(i & 31)) & np.uint32(1)) == 0:
            continue
        first = np.int64(index[i]) if (flags & HAS_INDEX) != 0 else np.int64(i)
        length = np.int64(count[i]) if (flags & HAS_COUNT) != 0 else np.int64(1)
        if (flags & REPEATS) != 0:
            length = np.int64(1 if length > 0 else 0)
        for at in range(first, first + length):
            value = np.int64(data[at])
            if first_seen:
                low, high, first_seen = value, value, False
            elif value < low:
                low = value
            elif value > high:
                high = value
    return low, high
