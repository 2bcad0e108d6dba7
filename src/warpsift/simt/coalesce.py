"""Coalescing: from the addresses of a warp's lanes to line transactions (and shared-memory bank passes).

The unit sits in the SM's load/store path. Loads and stores: one transaction per distinct 128-byte line, carrying the
32-byte sectors that any lane touches. Atomics: one per distinct sector, and lanes on one address take turns. These
are the rules that GPGPU-Sim's counters obey, lane by lane: `warp_lines`, `warp_stores`, `warp_atomics` and
`warp_passes`. The other functions turn the log of a `Recorder` into its stream. All are compiled, since every memory
instruction of every warp passes here, and in one file, since Numba's cache looks at the file of a function only.

Where a stream grows it is four arrays, `buffers`: the records of all warps, warp after warp; of each warp the place of
its next record; transactions, and how many there are. `scratch` is what the rules need beside that (`new_scratch`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE, WARP_SIZE
from warpsift.simt.stream import LINE_SHIFT, REPEAT_SHIFT
from warpsift.simt.unowned import unowned

LINE_BITS = LINE_BYTES.bit_length() - 1
SECTOR_BITS = SECTOR_BYTES.bit_length() - 1
WORDS = LINE_BYTES >> 2
ALL_BYTES = 15  # of a word of 4
HASHED = 256  # slots of the tables below: so many that lanes seldom share one
WITHOUT_REPEAT = ~(np.int64(255) << REPEAT_SHIFT)
NOTHING = np.int64(-(1 << 63))  # no line, sector or word has this number
BANKS = 32  # shared memory: 32 banks of 4 bytes (CUDA C Programming Guide, compute capability 2.x and later)


@njit(cache=True)
def _put(buffers, warp, low, high):
    """Append a record to those of a warp."""
    ops, place, _, _ = buffers
    at = place[warp]
    ops[at, 0] = low
    ops[at, 1] = high
    place[warp] = at + 1


@njit(cache=True)
def emit(buffers, groups, low, high):
    """Append one instruction, without transactions, for every warp of a scope: its two halves, without the lanes."""
    warps, lanes, _ = groups
    for w in range(warps.size):
        _put(buffers, warps[w], low | (np.int64(lanes[w]) << 8), high)


@njit(cache=True)
def _ascending_lines(tx_buffer, tx, address, begin, end):
    """`warp_lines` of addresses none of which is below the one before."""
    transaction = NOTHING
    for k in range(begin, end):
        line = address[k] >> LINE_BITS
        if transaction >> LINE_SHIFT != line:
            transaction = (line << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT)
            tx += 1
        transaction |= np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
        tx_buffer[tx - 1] = transaction
    return tx


@njit(cache=True)
def warp_lines(tx_buffer, tx, address, begin, end, table):
    """Append the distinct lines of one warp's load from `tx` on, in order of the first lane that touches each.

    Gives where the next transaction goes. `table` is scratch, HASHED of it: of lines, 1 + the transaction.
    """
    start = tx
    other_lines = np.int64(0)
    sectors = np.int64(0)
    ascending = True
    for k in range(begin, end):
        other_lines |= (address[k] ^ address[begin]) >> LINE_BITS
        sectors |= np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
        ascending &= address[k] >= address[max(k - 1, begin)]
    if other_lines == 0:
        tx_buffer[tx] = ((address[begin] >> LINE_BITS) << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT) | sectors
        return tx + 1
    if ascending:  # no line comes again once another has come
        return _ascending_lines(tx_buffer, tx, address, begin, end)
    table[:HASHED] = 0
    for k in range(begin, end):
        line = address[k] >> LINE_BITS
        slot = (line ^ (line >> 8)) & (HASHED - 1)
        while table[slot] != 0 and (tx_buffer[start + table[slot] - 1] >> LINE_SHIFT) != line:
            slot = (slot + 1) & (HASHED - 1)
        if table[slot] == 0:
            tx_buffer[tx] = (line << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT)
            tx += 1
            table[slot] = tx - start
        sector = np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
        tx_buffer[start + table[slot] - 1] |= sector
    return tx


@njit(cache=True)
def emit_lines(buffers, groups, address, fields, table):
    """Append a load: per warp its distinct lines."""
    _, _, tx_buffer, used = buffers
    warps, lanes, first = groups
    low, high = fields
    tx = used[0]
    for w in range(first.size - 1):
        start = tx
        tx = warp_lines(tx_buffer, start, address, first[w], first[w + 1], table)
        _put(buffers, warps[w], low | (np.int64(lanes[w]) << 8) | ((tx - start) << 24), high | start)
    used[0] = tx


@njit(cache=True)
def _cover(words, pieces, found, address, itemsize):
    """Mark what one element covers in the words of its line: whole words, or bytes of one."""
    first = (address & (LINE_BYTES - 1)) >> 2
    if itemsize >= 4:
        words[found] |= (((np.int64(1) << (itemsize >> 2)) - 1) << first) & ((np.int64(1) << WORDS) - 1)
        return
    if words[found] == 0:
        pieces[found, :] = 0
        words[found] = -1  # until all lanes are through: the bytes say which words are whole
    pieces[found, first] |= ((1 << itemsize) - 1) << (address & 3)


@njit(cache=True)
def _covered_words(words, pieces, found, itemsize):
    """The words of a line that are wholly covered, as a mask."""
    if itemsize >= 4:
        return words[found]
    mask = np.int64(0)
    for word in range(WORDS):
        if pieces[found, word] == ALL_BYTES:
            mask |= np.int64(1) << word
    return mask


@njit(cache=True)
def _partial_sectors(sectors, words):
    """Of the sectors that are touched, those whose words are not all covered."""
    partial = np.int64(0)
    for sector in range(SECTORS_PER_LINE):
        if (sectors >> sector) & 1 and (words >> (8 * sector)) & 255 != 255:
            partial |= np.int64(1) << sector
    return partial


@njit(cache=True)
def _one_after_the_other(address, begin, end, itemsize):
    """Whether elements of one or two words follow each other from lane to lane: what most stores do."""
    even = (itemsize == 4 or itemsize == 8) and address[begin] & (itemsize - 1) == 0
    for k in range(begin + 1, end):
        even &= address[k] - address[k - 1] == itemsize
    return even


@njit(cache=True)
def _lines_in_a_row(tx_buffer, start, first, last, words):
    """Append the lines of a store to all words from one to another, and note the words of each line."""
    tx = start
    for line in range(first // WORDS, last // WORDS + 1):
        low, high = max(first - line * WORDS, 0), min(last - line * WORDS, WORDS - 1)
        words[tx - start] = (np.int64(2) << high) - (np.int64(1) << low)
        tx_buffer[tx] = (line << LINE_SHIFT) | ((np.int64(2) << (high >> 3)) - (np.int64(1) << (low >> 3)))
        tx += 1
    return tx


@njit(cache=True)
def _scattered_lines(tx_buffer, start, address, span, itemsize, scratch):
    """Append the distinct lines of a store, and note what is covered of each."""
    begin, end = span
    table, pieces, words = scratch
    tx = start
    table[:HASHED] = 0
    last_line, found = NOTHING, np.int64(0)
    for k in range(begin, end):
        line = address[k] >> LINE_BITS
        if line != last_line:  # neighbouring lanes mostly share a line
            last_line = line
            slot = (line ^ (line >> 8)) & (HASHED - 1)
            while table[slot] != 0 and (tx_buffer[start + table[slot] - 1] >> LINE_SHIFT) != line:
                slot = (slot + 1) & (HASHED - 1)
            if table[slot] == 0:
                words[tx - start] = 0
                tx_buffer[tx] = line << LINE_SHIFT
                tx += 1
                table[slot] = tx - start
            found = np.int64(table[slot]) - 1
        tx_buffer[start + found] |= np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
        _cover(words, pieces, found, address[k], itemsize)
    for k in range(tx - start):
        words[k] = _covered_words(words, pieces, k, itemsize)
    return tx


@njit(cache=True)
def warp_stores(tx_buffer, start, address, span, itemsize, scratch):
    """Append one warp's store from `start` on: lines as for a load, which sectors are covered in part, and their words.

    `span` is where its addresses begin and end. Gives where the next transaction goes, and the number of lines.
    `scratch`: a table as `warp_lines` has it; of each line the bytes of its words that are covered, and its words.
    """
    begin, end = span
    words = scratch[2]
    if _one_after_the_other(address, begin, end, itemsize):
        tx = _lines_in_a_row(tx_buffer, start, address[begin] >> 2, (address[end - 1] + itemsize - 4) >> 2, words)
    else:
        tx = _scattered_lines(tx_buffer, start, address, span, itemsize, scratch)
    lines = tx - start
    any_partial = np.int64(0)
    for k in range(lines):
        partial = _partial_sectors(tx_buffer[start + k], words[k])
        tx_buffer[start + k] |= partial << REPEAT_SHIFT
        any_partial |= partial
    if any_partial != 0:
        for back in range(0, lines, 2):
            earlier = words[lines - 2 - back] if back + 2 <= lines else np.int64(0)
            tx_buffer[tx] = words[lines - 1 - back] | (earlier << 32)
            tx += 1
    return tx, lines


@njit(cache=True)
def store_scratch():
    """What `warp_stores` needs."""
    return np.empty(HASHED, np.uint8), np.empty((WARP_SIZE, WORDS), np.uint8), np.empty(WARP_SIZE, np.int64)


@njit(cache=True)
def emit_stores(buffers, groups, elements, fields, scratch):
    """Append a store: lines as for a load, which sectors are covered in part, and then the words of each line."""
    _, _, tx_buffer, used = buffers
    warps, lanes, first = groups
    low, high = fields
    tx = used[0]
    address, itemsize = elements
    for w in range(first.size - 1):
        start = tx
        tx, lines = warp_stores(tx_buffer, start, address, (first[w], first[w + 1]), itemsize, scratch)
        _put(buffers, warps[w], low | (np.int64(lanes[w]) << 8) | (lines << 24), high | start)
    used[0] = tx


@njit(cache=True)
def warp_atomics(tx_buffer, tx, address, span, scratch):
    """Append one warp's atomic from `tx` on: a transaction per sector, repeated as often as its busiest address is hit.

    Gives where the next transaction goes. `scratch`: of sectors 1 + the transaction; addresses, and lanes on each.
    """
    begin, end = span
    table, addresses, hits = scratch
    start = tx
    table[:HASHED] = 0
    hits[:HASHED] = 0
    for k in range(begin, end):
        slot = ((address[k] >> 2) ^ (address[k] >> 10)) & (HASHED - 1)
        while hits[slot] > 0 and addresses[slot] != address[k]:
            slot = (slot + 1) & (HASHED - 1)
        addresses[slot] = address[k]
        hits[slot] += 1
        same = np.int64(hits[slot])
        sector_number = address[k] >> SECTOR_BITS
        key = ((sector_number >> 2) << LINE_SHIFT) | (np.int64(1) << (sector_number & (SECTORS_PER_LINE - 1)))
        slot = (sector_number ^ (sector_number >> 8)) & (HASHED - 1)
        while table[slot] != 0 and (tx_buffer[start + table[slot] - 1] & WITHOUT_REPEAT) != key:
            slot = (slot + 1) & (HASHED - 1)
        if table[slot] == 0:
            tx_buffer[tx] = key
            tx += 1
            table[slot] = tx - start
        found = start + table[slot] - 1
        if ((tx_buffer[found] >> REPEAT_SHIFT) & 255) < same:
            tx_buffer[found] = key | (same << REPEAT_SHIFT)
    return tx


@njit(cache=True)
def atomic_scratch():
    """What `warp_atomics` needs."""
    return np.empty(HASHED, np.uint8), np.empty(HASHED, np.int64), np.empty(HASHED, np.uint8)


@njit(cache=True)
def emit_atomics(buffers, groups, address, fields, scratch):
    """Append an atomic: per warp one transaction per sector, with its turns."""
    _, _, tx_buffer, used = buffers
    warps, lanes, first = groups
    low, high = fields
    tx = used[0]
    for w in range(first.size - 1):
        start = tx
        tx = warp_atomics(tx_buffer, start, address, (first[w], first[w + 1]), scratch)
        _put(buffers, warps[w], low | (np.int64(lanes[w]) << 8) | ((tx - start) << 24), high | start)
    used[0] = tx


@njit(cache=True)
def warp_passes(address, begin, end, itemsize, scratch):
    """Passes of one warp through the banks: the most distinct words that one bank must deliver.

    `scratch`: words that have been seen, HASHED of them, and how many of each bank.
    """
    if _one_word_per_bank(address, begin, end, itemsize):
        return np.int64(1)
    words, per_bank = scratch
    words[:HASHED] = NOTHING
    per_bank[:BANKS] = 0
    passes = np.int64(1)
    for k in range(begin, end):
        for word in range(address[k] >> 2, (address[k] + itemsize + 3) >> 2):
            slot = word & (HASHED - 1)
            while words[slot] != NOTHING and words[slot] != word:
                slot = (slot + 1) & (HASHED - 1)
            if words[slot] == NOTHING:
                words[slot] = word
                per_bank[word & (BANKS - 1)] += 1
                passes = max(passes, per_bank[word & (BANKS - 1)])
    return passes


@njit(cache=True)
def bank_scratch():
    """What `warp_passes` needs."""
    return np.empty(HASHED, np.int64), np.empty(BANKS, np.int64)


@njit(cache=True)
def emit_shared(buffers, groups, elements, fields, scratch):
    """Append a shared-memory access: `count` = passes."""
    warps, lanes, first = groups
    low, high = fields
    address, itemsize = elements
    for w in range(first.size - 1):
        passes = warp_passes(address, first[w], first[w + 1], itemsize, scratch)
        _put(buffers, warps[w], low | (np.int64(lanes[w]) << 8) | (passes << 48), high)


@njit(cache=True)
def _one_word_per_bank(address, begin, end, itemsize):
    """Whether 4-byte words follow each other from lane to lane, or are all the same: the usual cases, one pass."""
    if itemsize != 4 or address[begin] & 3:
        return False
    step = address[min(begin + 1, end - 1)] - address[begin]
    even = step == 0 or step == 4
    for k in range(begin + 1, end):
        even &= address[k] - address[k - 1] == step
    return even


@njit(cache=True)
def emit_commands(buffers, groups, counts, start, fields):
    """Append a command to the memory fast-forward unit: per warp the number and place of its threads' entries."""
    warps, lanes, _ = groups
    low, high = fields
    for w in range(warps.size):
        _put(buffers, warps[w], low | (np.int64(lanes[w]) << 8) | (counts[w] << 24), high | start)
        start += counts[w]


# How an instruction of the log becomes records.
PLAIN, LINES, STORES, ATOMICS, SHARED_WORDS, COMMANDS = range(6)
# A row of the log: one of the above, the record's two halves, the scope, where its elements end in the log of elements
# (element numbers of a memory instruction, entries per warp of a command), the address of element 0, bytes per element.
LOG_COLUMNS = 7


@njit(cache=True)
def count_records(counts, log, begins, warps):
    """Add to `counts` how many records the instructions of a log will be, by warp."""
    instructions = np.zeros(begins.size, np.int64)  # of each scope
    for row in range(log.shape[0]):
        instructions[log[row, 3]] += 1
    for scope in range(begins.size - 1):
        for k in range(begins[scope], begins[scope + 1]):
            counts[warps[k]] += instructions[scope]


def new_scratch(longest: int) -> tuple[Any, ...]:
    """What `replay` needs where no instruction has more than `longest` threads."""
    return np.empty(longest, np.int64), store_scratch(), atomic_scratch(), bank_scratch()


@njit(cache=True)
def _replay(buffers, log, begins, groups, elements, scratch):
    warps, lanes, first = groups
    space, for_stores, for_atomics, for_banks = scratch
    begin = 0
    for row in range(log.shape[0]):
        way, low, high, scope = log[row, 0], log[row, 1], log[row, 2], log[row, 3]
        end, base, size = log[row, 4], log[row, 5], log[row, 6]
        a, b = begins[scope], begins[scope + 1]
        mine = (warps[a:b], lanes[a:b], first[a + scope : b + scope + 1])
        if way == PLAIN:
            emit(buffers, mine, low, high)
            continue
        part = space[: end - begin]
        if way == COMMANDS:
            for k in range(part.size):
                part[k] = elements[begin + k]
            begin = end
            emit_commands(buffers, mine, part, base, (low, high))
            continue
        for k in range(part.size):
            part[k] = np.int64(elements[begin + k]) * size + base
        begin = end
        if way == LINES:
            emit_lines(buffers, mine, part, (low, high), for_stores[0])
        elif way == STORES:
            emit_stores(buffers, mine, (part, size), (low, high), for_stores)
        elif way == ATOMICS:
            emit_atomics(buffers, mine, part, (low, high), for_atomics)
        else:
            emit_shared(buffers, mine, (part, size), (low, high), for_banks)


@njit(cache=True)
def replay(buffers, log, begins, groups, elements, scratch):
    """Append the instructions of a log, in order, for every warp of their scopes."""
    ops, place, tx, used = buffers
    warps, lanes, first = groups
    space, (lines, pieces, words), (sectors, addresses, hits), (bank_words, per_bank) = scratch
    _replay(
        (unowned(ops), unowned(place), unowned(tx), unowned(used)),
        unowned(log),
        unowned(begins),
        (unowned(warps), unowned(lanes), unowned(first)),
        unowned(elements),
        (
            unowned(space),
            (unowned(lines), unowned(pieces), unowned(words)),
            (unowned(sectors), unowned(addresses), unowned(hits)),
            (unowned(bank_words), unowned(per_bank)),
        ),
    )
