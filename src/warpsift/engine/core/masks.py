"""Sets of small numbers (SMs, L2 slices, ports) as bits of as many 64-bit words as the machine needs.

A mask is the address of its words, `words_for(count)` of them: one on a machine of up to 64, and then a loop over words
runs once. Members are visited in ascending order, a word at a time:

    for word in range(C.words):
        bits = load(C.p_active, word)
        while bits != 0:
            index = (word << WORD_SHIFT) | ctz(bits)
            bits &= bits - 1
            ...
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import ctz, load, store

WORD_SHIFT = 6
WORD_BITS = 1 << WORD_SHIFT
_WITHIN = WORD_BITS - 1


def words_for(count: int) -> int:
    """Words that a mask of so many members takes."""
    return -(-count // WORD_BITS)


def all_members(count: int) -> np.ndarray:
    """The words of a mask that holds every member."""
    words = [(1 << min(WORD_BITS, count - first)) - 1 for first in range(0, count, WORD_BITS)]
    return np.array(words, np.uint64).view(np.int64)


@compiled(void, i64, i64)
def mask_add(mask, member):
    word = member >> WORD_SHIFT
    store(mask, word, load(mask, word) | (np.int64(1) << (member & _WITHIN)))


@compiled(void, i64, i64)
def mask_remove(mask, member):
    word = member >> WORD_SHIFT
    store(mask, word, load(mask, word) & ((np.int64(1) << (member & _WITHIN)) ^ -1))


@compiled(i64, i64, i64)
def mask_has(mask, member):
    return (load(mask, member >> WORD_SHIFT) >> (member & _WITHIN)) & 1


@compiled(i64, i64, i64)
def mask_any(mask, words):
    """Not 0 if the mask has a member."""
    found = load(mask, np.int64(0))
    for word in range(1, words):
        found |= load(mask, word)
    return found


@compiled(void, i64, i64)
def mask_empty(mask, words):
    for word in range(words):
        store(mask, word, np.int64(0))


@compiled(i64, i64, i64, i64)
def mask_next(mask, words, first):
    """The first member from `first` on, around the end; -1 if there is none."""
    word = first >> WORD_SHIFT
    bits = load(mask, word) & (np.int64(-1) << (first & _WITHIN))
    if bits != 0:
        return (word << WORD_SHIFT) | ctz(bits)
    for _ in range(words):
        word += 1
        if word == words:
            word = np.int64(0)
        bits = load(mask, word)
        if bits != 0:
            return (word << WORD_SHIFT) | ctz(bits)
    return np.int64(-1)
