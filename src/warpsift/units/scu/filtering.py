"""Filtering: a hash table in device memory that remembers elements and drops those it has seen (SCU paper, 4.1, 4.2).

A set is `ways` entries. Unique: the entry is the element's ID; a hit is dropped, a miss is kept and remembered, in a
free way or in place of the oldest. Unique-best-cost: each entry has a cost too; a hit is dropped only if the stored
cost is at least as good, otherwise the new cost is stored and the element kept. Forgetting lets duplicates through; a
new ID or a better cost is never dropped.

An entry's 32-bit word, low to high: ID + 1 (0 is empty); the epoch, in the bits that the IDs leave free; in way 0, in
its 4 highest bits, the set's FIFO pointer. With costs, the set's words come first and its costs behind them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from warpsift.errors import WarpsiftError
from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE
from warpsift.simt import DeviceArray, Gpu
from warpsift.units.scu.scu_spec import Life
from warpsift.units.scu.scu_trace import sectors_of

MULTIPLIER = 2654435761  # Knuth, The Art of Computer Programming 3, section 6.4: 2^32 / golden ratio
POINTER_SHIFT = 28
POINTER_MASK = 0xF << POINTER_SHIFT
WORD_BYTES = 4
UNIQUE_BITS, BEST_COST_BITS = 33, 96  # of an entry with its tag (table 2: 132 KB, 192 KB)

# outcomes
DROPPED, INSERTED, REPLACED, IMPROVED = 0, 1, 2, 3


class HashError(WarpsiftError):
    """A table that cannot be, or an element that it cannot hold."""


@njit(cache=True)
def set_of(key, sets):
    """Multiplicative hash; the product's high bits choose the set, so any number of sets will do."""
    return ((np.int64(key) * MULTIPLIER & 0xFFFFFFFF) * sets) >> 32


def entries_of(size_bytes: int, word_bytes: int, tagged_bits: int, tagged: bool) -> int:
    """Entries of a table of so many bytes: words alone, or with their tags, the power of two nearest to the bytes.

    The paper's sizes are such powers (table 2), rounded where it rounds: 1 MB is 262,144 x 33 bit, 1.2 MB is 32,768 x
    36 bytes. What lies in device memory is the words: an ID beside its cost needs no further tag there.
    """
    if not tagged:
        return size_bytes // word_bytes
    return 1 << round(math.log2(max(1.0, 8 * size_bytes / tagged_bits)))


def bits_for(count: int) -> int:
    """Bits of a word that can hold 0 .. count."""
    return max(1, int(count).bit_length())


class HashTable:
    """What filter and group tables share: geometry, life time, epochs, clearing."""

    word_bits = POINTER_SHIFT  # bits of a word that key and epoch share

    def __init__(self, name: str, sets: int, ways: int, keys: int, life: Life, fits: bool) -> None:
        if sets < 1 or ways not in (1, 2, 4, 8, 16):
            raise HashError(
                f"table '{name}': {sets} sets of {ways} ways; write 1 or more sets of 1, 2, 4, 8 or 16 ways"
            )
        self.name, self.most_sets, self.ways, self.life, self.fits = name, sets, ways, life, fits
        self.key_bits = bits_for(keys)
        if self.key_bits > self.word_bits:
            raise HashError(
                f"table '{name}': {keys} keys need {self.key_bits} bits of an entry, which has {self.word_bits}"
            )
        self.epoch_bits = self.word_bits - self.key_bits
        if life == "epoch" and self.epoch_bits < 1:
            raise HashError(f"table '{name}': {keys} keys leave no bit for an epoch; use life 'clear'")
        self.sets = sets  # in use by the present operation
        self.epoch = 0
        self.keys = keys
        self.probed = 0  # by the present operation
        self.last_probe = np.zeros(0, np.int64)  # of each set; -1: none yet

    def begin(self, elements: int) -> int:
        """Make the table ready for an operation on so many elements; gives the bytes that must be cleared."""
        if self.life == "clear" and self.fits:
            self.sets = max(1, min(self.most_sets, -(-2 * elements // self.ways)))
        self.probed, self.last_probe = 0, np.full(self.sets, -1, np.int64)
        if self.life == "persistent":
            return 0
        if self.life == "epoch":
            self.epoch = (self.epoch + 1) % (1 << self.epoch_bits)
            if self.epoch:
                return 0
        return self._clear()

    def _clear(self) -> int:
        raise NotImplementedError


class FilterTable(HashTable):
    """A table for unique (no cost) or unique-best-cost filtering."""

    def __init__(
        self,
        gpu: Gpu,
        name: str,
        size_bytes: int,
        keys: int,
        *,
        cost_dtype: np.dtype | None = None,
        ways: int = 16,
        life: Life = "clear",
        fits: bool = False,
        tagged: bool = False,
    ) -> None:
        entry = WORD_BYTES if cost_dtype is None else 2 * WORD_BYTES
        if cost_dtype is not None and np.dtype(cost_dtype).itemsize != WORD_BYTES:
            raise HashError(f"table '{name}': costs of {np.dtype(cost_dtype)} do not fit an entry's 4 bytes")
        entries = entries_of(size_bytes, entry, UNIQUE_BITS if cost_dtype is None else BEST_COST_BITS, tagged)
        super().__init__(name, entries // ways, ways, keys, life, fits)
        self.cost_dtype = None if cost_dtype is None else np.dtype(cost_dtype)
        self.words_per_set = ways * (entry // WORD_BYTES)
        self.array: DeviceArray = gpu.memory.empty(name, self.most_sets * self.words_per_set, np.uint32)

    @property
    def set_bytes(self) -> int:
        return self.words_per_set * WORD_BYTES

    def _clear(self) -> int:
        self.array.host[: self.sets * self.words_per_set] = 0
        return self.sets * self.set_bytes

    def probe(self, ids: np.ndarray, costs: np.ndarray | None, probes: np.ndarray) -> np.ndarray:
        """Filter elements in order; fills one PROBE per element and gives the outcomes."""
        outcome = np.empty(ids.size, np.uint8)
        geometry = np.array(
            [self.sets, self.ways, self.words_per_set, self.key_bits, self.epoch, self.array.address], np.int64
        )
        note_previous(ids, self.sets, self.last_probe, self.probed, probes)
        self.probed += ids.size
        if self.cost_dtype is None:
            filter_unique(self.array.host, ids, geometry, outcome, probes)
        else:
            assert costs is not None
            table = self.array.host
            filter_best(table, table.view(self.cost_dtype), ids, costs, geometry, outcome, probes)
        return outcome


@njit(cache=True)
def note_previous(keys, sets, last_probe, first, probes):
    """Which probe read the set of each key last; the probes are numbers `first` and up of the operation."""
    for k in range(keys.size):
        index = set_of(keys[k], sets)
        probes[k]["previous"] = last_probe[index]
        last_probe[index] = first + k


@njit(cache=True)
def _find(table, base, ways, wanted, key_bits, epoch):
    """(way of the ID or -1, first free way or -1)."""
    free = -1
    mask = (np.int64(1) << POINTER_SHIFT) - 1
    low = (np.int64(1) << key_bits) - 1
    for way in range(ways):
        word = np.int64(table[base + way]) & mask
        if word == wanted:
            return way, free
        if free < 0 and ((word & low) == 0 or (word >> key_bits) != epoch):
            free = way
    return -1, free


@njit(cache=True)
def _insert(table, base, ways, wanted, free):
    """Put a word into the free way, or in place of the oldest; gives the way, and whether the FIFO pointer moved.

    The pointer lies in way 0, so a move of it is a second word that changes.
    """
    old_pointer = np.int64(table[base]) >> POINTER_SHIFT
    pointer = old_pointer
    way = free
    if free < 0:
        way = pointer
        pointer = (pointer + 1) % ways
    elif free == 0:
        pointer = np.int64(0)  # a set that begins anew fills its ways in order
    table[base + way] = np.uint32(wanted)
    table[base] = np.uint32((np.int64(table[base]) & ((np.int64(1) << POINTER_SHIFT) - 1)) | (pointer << POINTER_SHIFT))
    return way, pointer != old_pointer


@njit(cache=True)
def _describe(probe, address, words, changed_words):
    """Line and sectors of a set (it lies in one line); the changed words (or -1) are written back."""
    probe["line"] = address // LINE_BYTES
    probe["sectors"] = sectors_of(address, words * WORD_BYTES)
    written = np.int64(0)
    for changed in changed_words:
        if changed >= 0:
            at = address + changed * WORD_BYTES
            written |= np.int64(1) << ((at // SECTOR_BYTES) % SECTORS_PER_LINE)
    probe["write_sectors"] = written
    probe["second_line"] = 0
    probe["second_sectors"] = 0
    probe["evict_line"] = 0
    probe["evict_sectors"] = 0


@njit(cache=True)
def filter_unique(table, ids, geometry, outcome, probes):
    sets, ways, words, key_bits, epoch, address = geometry
    for k in range(ids.size):
        wanted = (ids[k] + 1) | (epoch << key_bits)
        index = set_of(ids[k], sets)
        base = index * words
        hit, free = _find(table, base, ways, wanted, key_bits, epoch)
        changed, moved = np.int64(-1), False
        if hit >= 0:
            outcome[k] = DROPPED
        else:
            outcome[k] = INSERTED if free >= 0 else REPLACED
            changed, moved = _insert(table, base, ways, wanted, free)
        _describe(probes[k], address + base * WORD_BYTES, words, (changed, np.int64(0 if moved else -1)))


@njit(cache=True)
def filter_best(table, costs_of, ids, costs, geometry, outcome, probes):
    sets, ways, words, key_bits, epoch, address = geometry
    for k in range(ids.size):
        wanted = (ids[k] + 1) | (epoch << key_bits)
        base = set_of(ids[k], sets) * words
        hit, free = _find(table, base, ways, wanted, key_bits, epoch)
        changed, cost_changed, moved = np.int64(-1), np.int64(-1), False
        if hit >= 0:
            outcome[k] = DROPPED
            if costs[k] < costs_of[base + ways + hit]:
                outcome[k] = IMPROVED
                cost_changed = ways + hit
        else:
            outcome[k] = INSERTED if free >= 0 else REPLACED
            changed, moved = _insert(table, base, ways, wanted, free)
            cost_changed = ways + changed
        if cost_changed >= 0:
            costs_of[base + cost_changed] = costs[k]
        pointer = np.int64(0 if moved else -1)
        _describe(probes[k], address + base * WORD_BYTES, words, (changed, cost_changed, pointer))
