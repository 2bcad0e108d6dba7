"""Grouping: a hash table that collects elements of one memory block, so that they are stored side by side (SCU 4.3).

The key is the block that the element's value addresses (128 bytes: 32 nodes of 4 bytes). An entry collects up to 8
elements. When it is full, when another block needs its way, and at the end of the operation, it is evicted: its
elements take the next places of the output, together. The result is a vector with the place of every element.

An entry is 32 bytes: the numbers of its elements, 4 bytes each. The paper does not say where the block number is kept;
here every set has one word per way in front of its entries: block + 1 and the epoch (24 bits), the number of elements
(4 bits) and, in way 0, the FIFO pointer (4 bits).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE
from warpsift.simt import DeviceArray, Gpu
from warpsift.units.scu.filtering import POINTER_SHIFT, WORD_BYTES, HashTable, entries_of, note_previous, set_of
from warpsift.units.scu.scu_spec import Life
from warpsift.units.scu.scu_trace import sectors_of

NODE_BYTES = 4
NODES_PER_BLOCK = LINE_BYTES // NODE_BYTES
COUNT_SHIFT = 24
SLOTS_PER_ENTRY = 8
ENTRY_BYTES = SLOTS_PER_ENTRY * WORD_BYTES
GROUP_BITS = 8 * (ENTRY_BYTES + WORD_BYTES)  # with its tag (table 2: 144 KB)

# state of a grouping operation
NEXT_PLACE, EVICTIONS, ASSIGNED, ELEMENT, FLUSHED_SETS = range(5)


class GroupTable(HashTable):
    """A table for grouping."""

    word_bits = COUNT_SHIFT

    def __init__(
        self,
        gpu: Gpu,
        name: str,
        size_bytes: int,
        keys: int,
        *,
        ways: int = 16,
        group: int = SLOTS_PER_ENTRY,
        life: Life = "clear",
        fits: bool = False,
        tagged: bool = False,
    ) -> None:
        sets = entries_of(size_bytes, ENTRY_BYTES, GROUP_BITS, tagged) // ways
        if life == "persistent":  # its entries are evicted at the end of every operation: nothing could persist
            life = "clear"
        super().__init__(name, sets, ways, -(-keys // NODES_PER_BLOCK), life, fits)
        self.group = group
        self.keys = keys
        self.tags: DeviceArray = gpu.memory.empty(f"{name}.tags", self.most_sets * ways, np.uint32)
        self.slots: DeviceArray = gpu.memory.empty(f"{name}.slots", self.most_sets * ways * SLOTS_PER_ENTRY, np.uint32)

    @property
    def set_bytes(self) -> int:
        """What a probe reads: the words of a set."""
        return self.ways * WORD_BYTES

    def _clear(self) -> int:
        """Only the words: an entry without a block holds no elements."""
        self.tags.host[: self.sets * self.ways] = 0
        return self.sets * self.ways * WORD_BYTES

    def _geometry(self) -> np.ndarray:
        return np.array(
            [self.sets, self.ways, self.key_bits, self.epoch, self.tags.address, self.slots.address, self.group],
            np.int64,
        )

    def probe(self, ids: np.ndarray, state: np.ndarray, out: tuple[np.ndarray, ...], probes: np.ndarray) -> None:
        """Group elements in order; `out` = (element, place, eviction) arrays for what evictions assign."""
        note_previous(ids // NODES_PER_BLOCK, self.sets, self.last_probe, self.probed, probes)
        self.probed += ids.size
        group_elements(self.tags.host, self.slots.host, ids, self._geometry(), state, out, probes)

    def flush(self, state: np.ndarray, out: tuple[np.ndarray, ...], probes: np.ndarray) -> int:
        """Evict what is left, from set `state[FLUSHED_SETS]` on, as far as `probes` and `out` have room."""
        made = flush_groups(self.tags.host, self.slots.host, self._geometry(), state, out, probes)
        own = probes["sectors"][:made] != 0  # the first probe of each set: those behind it use what it read
        first_set = int(state[FLUSHED_SETS]) - int(own.sum())
        probes["previous"][:made] = -1
        probes["previous"][:made][own] = self.last_probe[first_set : int(state[FLUSHED_SETS])]
        self.probed += made
        return made


@njit(cache=True)
def _evict(tags, slots, entry, state, out):
    """Give the entry's elements the next places; `state[EVICTIONS]` is the number of the read that brings them."""
    elements, places, evictions = out
    count = (np.int64(tags[entry]) >> COUNT_SHIFT) & 15
    for k in range(count):
        elements[state[ASSIGNED]] = slots[entry * SLOTS_PER_ENTRY + k]
        places[state[ASSIGNED]] = state[NEXT_PLACE]
        evictions[state[ASSIGNED]] = state[EVICTIONS]
        state[ASSIGNED] += 1
        state[NEXT_PLACE] += 1


@njit(cache=True)
def group_elements(tags, slots, ids, geometry, state, out, probes):
    sets, ways, key_bits, epoch, tag_address, slot_address, group = geometry
    low_bits = (np.int64(1) << COUNT_SHIFT) - 1
    key_mask = (np.int64(1) << key_bits) - 1
    for k in range(ids.size):
        block = ids[k] // NODES_PER_BLOCK
        wanted = (block + 1) | (epoch << key_bits)
        base = set_of(block, sets) * ways
        way, free = np.int64(-1), np.int64(-1)
        for candidate in range(ways):
            word = np.int64(tags[base + candidate]) & low_bits
            if word == wanted:
                way = np.int64(candidate)
                break
            if free < 0 and ((word & key_mask) == 0 or (word >> key_bits) != epoch):
                free = np.int64(candidate)
        old_pointer = np.int64(tags[base]) >> POINTER_SHIFT
        pointer = old_pointer
        evicted, count = np.int64(-1), np.int64(0)
        if way >= 0:
            count = (np.int64(tags[base + way]) >> COUNT_SHIFT) & 15
            if count >= group:  # full: these go out, a new group begins in their place
                evicted, count = way, np.int64(0)
        elif free >= 0:
            way = free
            if free == 0:
                pointer = np.int64(0)
        else:
            way = pointer
            pointer = (pointer + 1) % ways
            evicted = way
        if evicted >= 0:
            state[EVICTIONS] += 1
            _evict(tags, slots, base + evicted, state, out)
        slots[(base + way) * SLOTS_PER_ENTRY + count] = np.uint32(state[ELEMENT])
        state[ELEMENT] += 1
        tags[base + way] = np.uint32(wanted | ((count + 1) << COUNT_SHIFT))
        tags[base] = np.uint32(
            (np.int64(tags[base]) & ((np.int64(1) << POINTER_SHIFT) - 1)) | (pointer << POINTER_SHIFT)
        )
        probe = probes[k]
        address = tag_address + base * WORD_BYTES
        probe["line"] = address // LINE_BYTES
        probe["sectors"] = sectors_of(address, ways * WORD_BYTES)
        changed = address + way * WORD_BYTES
        probe["write_sectors"] = np.int64(1) << ((changed // SECTOR_BYTES) % SECTORS_PER_LINE)
        if pointer != old_pointer:  # it lies in way 0
            probe["write_sectors"] |= np.int64(1) << ((address // SECTOR_BYTES) % SECTORS_PER_LINE)
        entry = slot_address + (base + way) * ENTRY_BYTES
        probe["second_line"] = entry // LINE_BYTES
        probe["second_sectors"] = np.int64(1) << ((entry // SECTOR_BYTES) % SECTORS_PER_LINE)
        probe["evict_line"] = entry // LINE_BYTES
        probe["evict_sectors"] = probe["second_sectors"] if evicted >= 0 else 0


@njit(cache=True)
def flush_groups(tags, slots, geometry, state, out, probes):
    """Evict set by set, oldest way first; one PROBE per set, and one more for each further line of entries read."""
    sets, ways, key_bits, epoch, tag_address, slot_address, _ = geometry
    low_bits = (np.int64(1) << COUNT_SHIFT) - 1
    key_mask = (np.int64(1) << key_bits) - 1
    made = 0
    index = state[FLUSHED_SETS]
    while index < sets and made + ways < probes.size and state[ASSIGNED] + ways * SLOTS_PER_ENTRY < out[0].size:
        base = index * ways
        pointer = np.int64(tags[base]) >> POINTER_SHIFT
        address = tag_address + base * WORD_BYTES
        set_line = address // LINE_BYTES
        probe = probes[made]
        made += 1
        probe["line"] = set_line
        probe["sectors"] = sectors_of(address, ways * WORD_BYTES)
        probe["write_sectors"] = 0
        probe["second_line"] = 0
        probe["second_sectors"] = 0
        probe["evict_line"] = 0
        probe["evict_sectors"] = 0
        last_line = np.int64(-1)
        for step in range(ways):
            way = (pointer + step) % ways
            word = np.int64(tags[base + way]) & low_bits
            if (word & key_mask) == 0 or (word >> key_bits) != epoch:
                continue
            entry = slot_address + (base + way) * ENTRY_BYTES
            line = entry // LINE_BYTES
            if line != last_line and last_line >= 0:
                probe = probes[made]
                made += 1
                probe["line"] = set_line
                probe["sectors"] = 0  # the set has been read
                probe["write_sectors"] = 0
                probe["second_line"] = 0
                probe["second_sectors"] = 0
                probe["evict_sectors"] = 0
            if line != last_line:  # its groups' places are written when this line has been read
                state[EVICTIONS] += 1
            last_line = line
            probe["evict_line"] = line
            probe["evict_sectors"] |= np.int64(1) << ((entry // SECTOR_BYTES) % SECTORS_PER_LINE)
            _evict(tags, slots, base + way, state, out)
        index += 1
    state[FLUSHED_SETS] = index
    return made
