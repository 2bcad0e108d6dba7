"""What the parts at the L2 slices do to a stream of nodes: filter what has passed, merge what meets, group by block.

A block is the 128-byte line that 32 nodes of 4 bytes address. It belongs to one part, and there to one entry of hash
and filter each. An entry has a place for each node of its block: a bit that says it is there, and its value.

    filter   the node's bit is set: dropped. It forgets a block when another takes its entry, never the other way round.
    hash     the node's bit is set: merged (first: dropped; min; add). An entry that another block wants is emptied:
             its nodes go out together, in ascending order. At the end of an operation all entries are emptied.

A part sees its elements in the order of the stream, so what it does depends on that order alone. In which order the
groups of different parts come back does depend on time. Here it is the stream's; no algorithm can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from warpsift.units.scu.iscu.iscu_spec import IscuSpec

MERGES = ("first", "min", "add")
FIRST, MIN, ADD = range(3)
BLOCK_NODES = 32  # of 4 bytes in a line
WORD_NODES = 8  # values that the hash reads at once when it empties an entry: a word of 256 bits
EMPTY = -1

# A traced element, low to high: its part (8 bits), whether the hash merged it (1), whether the filter dropped it (1),
# elements of the entry that it empties (6), and words of the hash's values that are read for them (3).
MERGED_SHIFT, FILTERED_SHIFT, EMPTIED_SHIFT, WORDS_SHIFT = 8, 9, 10, 16
PART_MASK, EMPTIED_MASK = 255, 63


@njit(cache=True)
def _empty(at, block, bits, held, merge, out, made):
    """Hand out an entry; gives (elements, words of values that were read)."""
    nodes, values = out
    count = words = 0
    last_word = -1
    for place in range(BLOCK_NODES):
        if (bits >> place) & 1:
            nodes[made + count] = block * BLOCK_NODES + place
            values[made + count] = held[at, place]
            count += 1
            if merge != FIRST and place // WORD_NODES != last_word:
                last_word = place // WORD_NODES
                words += 1
    return count, words


@njit(cache=True)
def _take(ids, given, merge, filters, sizes, table, filter_table, trace, out):
    """Take elements in order; fills their trace and what emptied entries hand out, and gives how much that is."""
    parts, entries, filter_entries = sizes
    blocks, bits, held = table
    filter_blocks, filter_bits = filter_table
    made = 0
    for k in range(ids.size):
        block, place = ids[k] // BLOCK_NODES, ids[k] % BLOCK_NODES
        bit = np.int64(1) << place
        part, row = block % parts, block // parts
        if filters:
            at = part * filter_entries + row % filter_entries
            if filter_blocks[at] != block:
                filter_blocks[at], filter_bits[at] = block, 0
            if filter_bits[at] & bit:
                trace[k] = part | (1 << FILTERED_SHIFT)
                continue
            filter_bits[at] |= bit
        at = part * entries + row % entries
        count = words = 0
        if blocks[at] != block:
            if bits[at] != 0:
                count, words = _empty(at, blocks[at], bits[at], held, merge, out, made)
                made += count
            blocks[at], bits[at] = block, 0
        there = (bits[at] & bit) != 0
        if not there:
            bits[at] |= bit
            held[at, place] = given[k]
        elif merge == MIN:
            held[at, place] = min(held[at, place], given[k])
        elif merge == ADD:
            held[at, place] += given[k]
        trace[k] = part | (np.int64(there) << MERGED_SHIFT) | (count << EMPTIED_SHIFT) | (words << WORDS_SHIFT)
    return made


@njit(cache=True)
def _flush(merge, sizes, table, groups, first, out):
    """Empty all entries, part by part; `groups` of part p are first[p] .. first[p + 1], traced as above."""
    parts, entries, _ = sizes
    blocks, bits, held = table
    made = number = 0
    for at in range(parts * entries):
        if at % entries == 0:
            first[at // entries] = number
        if bits[at] != 0:
            count, words = _empty(at, blocks[at], bits[at], held, merge, out, made)
            groups[number] = (count << EMPTIED_SHIFT) | (words << WORDS_SHIFT)
            number += 1
            made += count
        blocks[at], bits[at] = EMPTY, 0
    first[parts] = number
    return made


@dataclass(frozen=True)
class Handed:
    """Nodes and values that the parts hand back, in the order of the stream, and how that came about."""

    nodes: np.ndarray
    values: np.ndarray
    trace: np.ndarray  # of the elements taken, or of the groups flushed
    first: np.ndarray | None = None  # of each part: its first group


class PartsHash:
    """Filters and hashes of all parts."""

    def __init__(self, spec: IscuSpec, parts: int) -> None:
        self.parts, self._entries = parts, parts * spec.hash_entries
        self._sizes = (parts, spec.hash_entries, spec.filter_entries)
        self._filter = (np.full(parts * spec.filter_entries, EMPTY), np.zeros(parts * spec.filter_entries, np.int64))
        self.begin("first", np.dtype(np.int32))

    def begin(self, merge: str, dtype: np.dtype) -> None:
        """Make the hash ready for an operation; the filter keeps what it knows."""
        self._merge, self._dtype = MERGES.index(merge), dtype
        held = np.zeros((self._entries, BLOCK_NODES), dtype)
        self._table = (np.full(self._entries, EMPTY), np.zeros(self._entries, np.int64), held)

    def forget(self) -> None:
        """Clear the filters: a valid bit of every entry."""
        self._filter[0][:] = EMPTY

    def take(self, ids: np.ndarray, values: np.ndarray, filters: bool) -> Handed:
        """Elements of the stream; what they push out."""
        trace = np.empty(ids.size, np.int64)
        out = self._room(min(ids.size, self._entries) * BLOCK_NODES + ids.size)
        made = _take(ids, values, self._merge, filters, self._sizes, self._table, self._filter, trace, out)
        return Handed(out[0][:made], out[1][:made], trace)

    def flush(self) -> Handed:
        """The end of the stream: everything that is left."""
        groups, first = np.empty(self._entries, np.int64), np.empty(self.parts + 1, np.int64)
        out = self._room(self._entries * BLOCK_NODES)
        made = _flush(self._merge, self._sizes, self._table, groups, first, out)
        return Handed(out[0][:made], out[1][:made], groups[: first[-1]], first)

    def _room(self, elements: int) -> tuple[np.ndarray, np.ndarray]:
        return np.empty(elements, np.int64), np.empty(elements, self._dtype)
