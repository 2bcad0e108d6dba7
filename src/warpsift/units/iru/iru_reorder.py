"""What the reordering hash does to a stream of indices: the order in which warps get them, and who is merged with whom.

An element's block is the 128-byte line that its index addresses in the target array. A block belongs to one part, and
there to one entry, which collects up to 32 elements. A full entry is a pack for one warp. An entry that another block
wants is emptied; what such entries held is collected into packs too, part by part. At the end all entries are emptied.
With a merge operation, an element whose index is in its entry already is merged with it and takes no place.

The hash is filled in the order of the index array. The unit's parts work side by side and need not keep that order; a
warp may take any pack, so the algorithm cannot tell. The engine times it: a pack is ready when all its elements have
come to the hash (iru_parts.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, WARP_SIZE

MERGES = ("none", "first", "min", "add")  # first: duplicates are dropped
NONE, FIRST, MIN, ADD = range(4)

# A traced element, low to high: its part (8 bits), whether it was merged (1), low bits of its entry's number, which say
# the bank (2), its pack (26), and 1 + the pack that its coming completes (26; 0: none).
MERGED_SHIFT, ENTRY_SHIFT, PACK_SHIFT, COMPLETES_SHIFT = 8, 9, 11, 37
PACK_MASK = (1 << 26) - 1
ENTRY_MASK = 3
MOST_ELEMENTS = WARP_SIZE * PACK_MASK


@dataclass(frozen=True)
class Reordered:
    """A stream in the order of the warps."""

    element: np.ndarray  # of each slot: its number in the index array; slot s is lane s % 32 of pack s // 32
    value: np.ndarray | None  # of each slot, merged
    trace: np.ndarray  # of each element of the index array, see above
    pack_part: np.ndarray  # the part at which a pack is made
    pack_elements: np.ndarray  # what must come before a pack is ready: its elements, merged ones too, and who completes
    flushed: int  # packs from here on are made at the end

    @property
    def packs(self) -> int:
        return len(self.pack_part)


@njit(cache=True)
def _close_pack(packs, part, pending, count, slots, state):
    """A pack of `count` elements; `state` counts slots and packs."""
    for k in range(count):
        slots[state[0]] = pending[k]
        state[0] += 1
    packs[state[1]] = part
    state[1] += 1


@njit(cache=True)
def _empty_entry(entry, at, held, counts, pending, waiting, packs, part, slots, state):
    """Empty an entry: a full one is a pack; the rest joins what waits at its part, which is a pack when it is 32."""
    made = False
    if counts[at] == WARP_SIZE:
        _close_pack(packs, part, held[at], WARP_SIZE, slots, state)
        made = True
    else:
        for k in range(counts[at]):
            pending[part, waiting[part]] = held[at, k]
            waiting[part] += 1
            if waiting[part] == WARP_SIZE:
                _close_pack(packs, part, pending[part], WARP_SIZE, slots, state)
                waiting[part] = 0
                made = True
    counts[at] = 0
    entry[at] = -1
    return made


@njit(cache=True)
def _reorder(index, value, merge, per_block, parts, entries, slots, packs, merged_with, completes):
    """Fill slots, packs, and for each element whom it was merged with (or -1) and which pack it completed (or -1)."""
    entry = np.full(parts * entries, -1, np.int64)  # the block that it holds
    counts = np.zeros(parts * entries, np.int64)
    held = np.zeros((parts * entries, WARP_SIZE), np.int64)
    pending = np.zeros((parts, WARP_SIZE), np.int64)
    waiting = np.zeros(parts, np.int64)
    state = np.zeros(2, np.int64)
    for k in range(index.size):
        block = np.int64(index[k]) // per_block
        part = block % parts
        at = part * entries + (block // parts) % entries
        merged_with[k] = -1
        completes[k] = -1
        if merge != NONE and entry[at] == block:
            for j in range(counts[at]):
                other = held[at, j]
                if index[other] == index[k]:
                    merged_with[k] = other
                    if merge == MIN:
                        value[other] = min(value[other], value[k])
                    elif merge == ADD:
                        value[other] += value[k]
                    break
            if merged_with[k] >= 0:
                continue
        wanted = entry[at] >= 0 and (entry[at] != block or counts[at] == WARP_SIZE)  # by another block, or full
        if wanted and _empty_entry(entry, at, held, counts, pending, waiting, packs, part, slots, state):
            completes[k] = state[1] - 1
        entry[at] = block
        held[at, counts[at]] = k
        counts[at] += 1
    flushed = state[1]
    for at in range(parts * entries):
        if counts[at] > 0:
            _empty_entry(entry, at, held, counts, pending, waiting, packs, at // entries, slots, state)
    _last_packs(pending, waiting, packs, slots, state)
    return state[0], state[1], flushed


@njit(cache=True)
def _last_packs(pending, waiting, packs, slots, state):
    """What is left at the parts, less than a pack at each, goes along the ring into packs; the last may be less."""
    left = np.zeros(WARP_SIZE, np.int64)
    count, first = 0, 0
    for part in range(waiting.size):
        for k in range(waiting[part]):
            if count == 0:
                first = part
            left[count] = pending[part, k]
            count += 1
            if count == WARP_SIZE:
                _close_pack(packs, first, left, count, slots, state)
                count = 0
    if count > 0:
        _close_pack(packs, first, left, count, slots, state)


@njit(cache=True)
def _trace(index, per_block, parts, entries, slots, merged_with, completes, pack_elements, trace):
    """The traced elements, and how many comings each pack waits for."""
    pack_of = np.zeros(index.size, np.int64)
    for slot in range(slots.size):
        pack_of[slots[slot]] = slot // WARP_SIZE
    for k in range(index.size):
        merged = merged_with[k] >= 0
        if merged:
            pack_of[k] = pack_of[merged_with[k]]
        block = np.int64(index[k]) // per_block
        entry = (block // parts) % entries & ENTRY_MASK
        word = block % parts | (np.int64(merged) << MERGED_SHIFT) | (entry << ENTRY_SHIFT) | (pack_of[k] << PACK_SHIFT)
        trace[k] = word | ((completes[k] + 1) << COMPLETES_SHIFT)
        pack_elements[pack_of[k]] += 1
        if completes[k] >= 0:
            pack_elements[completes[k]] += 1


def reorder(
    index: np.ndarray, value: np.ndarray | None, merge: str, target_bytes: int, parts: int, entries: int
) -> Reordered:
    """The stream as the unit hands it out."""
    n, per_block = index.size, LINE_BYTES // target_bytes
    slots, packs = np.zeros(n, np.int64), np.zeros(n // WARP_SIZE + 2, np.int64)
    merged_with, completes = np.empty(n, np.int64), np.empty(n, np.int64)
    merged_values = np.zeros(1, np.int32) if value is None else value.copy()
    used, made, flushed = _reorder(
        index, merged_values, MERGES.index(merge), per_block, parts, entries, slots, packs, merged_with, completes
    )
    slots, packs = slots[:used], packs[:made]
    trace, pack_elements = np.empty(n, np.int64), np.zeros(made, np.int64)
    _trace(index, per_block, parts, entries, slots, merged_with, completes, pack_elements, trace)
    return Reordered(slots, None if value is None else merged_values[slots], trace, packs, pack_elements, int(flushed))
