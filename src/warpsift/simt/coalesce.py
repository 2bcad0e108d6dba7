"""Coalescing: from the addresses of a warp's lanes to line transactions (and shared-memory bank passes).

The unit sits in the SM's load/store path. Loads and stores: one transaction per distinct 128-byte line, carrying the
32-byte sectors that any lane touches. Atomics: one per distinct sector, and lanes on one address take turns. These
are the rules that GPGPU-Sim's counters obey, lane by lane: `warp_lines`, `warp_stores`, `warp_atomics` and
`warp_passes`. The other functions turn the log of a `Recorder` into its stream. All are compiled, since every memory
instruction of every warp passes here, and in one file, since Numba's cache looks at the file of a function only.

Where a stream grows it is four arrays, `buffers`: the records of all warps, warp after warp; of each warp the place of
its next record; transactions, and how many there are. `scratch` is what the rules need beside that (`new_scratch`).
The rules take arrays or bare cells (`cells.py`), which is what `replay` hands them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE, WARP_SIZE
from warpsift.simt.cells import cells, offset
from warpsift.simt.stream import LINE_SHIFT, REPEAT_SHIFT

LINE_BITS = LINE_BYTES.bit_length() - 1
SECTOR_BITS = SECTOR_BYTES.bit_length() - 1
WORDS = LINE_BYTES >> 2
ALL_BYTES = 15  # of a word of 4
HASHED = 256  # slots of the tables below: so many that lanes seldom share one
FEW_LANES = 10  # up to so many the lines are looked through one by one
WITHOUT_REPEAT = ~(np.int64(255) << REPEAT_SHIFT)
NOTHING = np.int64(-(1 << 63))  # no line, sector or word has this number
BANKS = 32  # shared memory: 32 banks of 4 bytes (CUDA C Programming Guide, compute capability 2.x and later)


@njit(cache=True, forceinline=True)
def _put(records, warp, low, high):
    """Append a record to those of a warp."""
    ops, place = records
    at = place[warp]
    ops[2 * at] = low
    ops[2 * at + 1] = high
    place[warp] = at + 1


@njit(cache=True, forceinline=True)
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


@njit(cache=True, forceinline=True)
def _few_lines(tx_buffer, start, address, begin, end):
    """`warp_lines` of so few lanes that looking through their lines is quicker than a table."""
    tx = start
    for k in range(begin, end):
        line = address[k] >> LINE_BITS
        found = start
        while found < tx and tx_buffer[found] >> LINE_SHIFT != line:
            found += 1
        if found == tx:
            tx_buffer[tx] = (line << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT)
            tx += 1
        tx_buffer[found] |= np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
    return tx


@njit(cache=True, forceinline=True)
def _clear(table):
    """table[:HASHED] = 0, which is slower."""
    for k in range(HASHED):
        table[k] = 0


@njit(cache=True, forceinline=True)
def warp_lines(tx_buffer, tx, address, begin, end, table):
    """Append the distinct lines of one warp's load from `tx` on, in order of the first lane that touches each.

    Gives where the next transaction goes. `table` is scratch, HASHED of it: of lines, 1 + the transaction.
    """
    other_lines = np.int64(0)
    sectors = np.int64(0)
    for k in range(begin, end):
        other_lines |= (address[k] ^ address[begin]) >> LINE_BITS
        sectors |= np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
    if other_lines == 0:
        tx_buffer[tx] = ((address[begin] >> LINE_BITS) << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT) | sectors
        return tx + 1
    return _distinct_lines(tx_buffer, tx, address, begin, end, table)


@njit(cache=True, forceinline=True)
def _distinct_lines(tx_buffer, tx, address, begin, end, table):
    """`warp_lines` of lanes that are not all on one line."""
    start = tx
    if end - begin <= FEW_LANES:
        return _few_lines(tx_buffer, start, address, begin, end)
    k = begin + 1
    while k < end and address[k] >= address[k - 1]:
        k += 1
    if k == end:  # no line comes again once another has come
        return _ascending_lines(tx_buffer, tx, address, begin, end)
    _clear(table)
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
def _cover(words, pieces, found, address, itemsize):
    """Mark what one element covers in the words of its line: whole words, or bytes of one."""
    first = (address & (LINE_BYTES - 1)) >> 2
    if itemsize >= 4:
        words[found] |= (((np.int64(1) << (itemsize >> 2)) - 1) << first) & ((np.int64(1) << WORDS) - 1)
        return
    if words[found] == 0:
        for word in range(WORDS):
            pieces[found * WORDS + word] = 0
        words[found] = -1  # until all lanes are through: the bytes say which words are whole
    pieces[found * WORDS + first] |= ((1 << itemsize) - 1) << (address & 3)


@njit(cache=True)
def _covered_words(words, pieces, found, itemsize):
    """The words of a line that are wholly covered, as a mask."""
    if itemsize >= 4:
        return words[found]
    mask = np.int64(0)
    for word in range(WORDS):
        if pieces[found * WORDS + word] == ALL_BYTES:
            mask |= np.int64(1) << word
    return mask


@njit(cache=True, forceinline=True)
def _partial_sectors(sectors, words):
    """Of the sectors that are touched, those whose words are not all covered."""
    partial = np.int64(0)
    for sector in range(SECTORS_PER_LINE):
        if (sectors >> sector) & 1 and (words >> (8 * sector)) & 255 != 255:
            partial |= np.int64(1) << sector
    return partial


@njit(cache=True, forceinline=True)
def _one_after_the_other(address, begin, end, itemsize):
    """Whether elements of one or two words follow each other from lane to lane: what most stores do."""
    even = (itemsize == 4 or itemsize == 8) and address[begin] & (itemsize - 1) == 0
    for k in range(begin + 1, end):
        even &= address[k] - address[k - 1] == itemsize
    return even


@njit(cache=True, forceinline=True)
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
    _clear(table)
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


@njit(cache=True, forceinline=True)
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
    return _with_covered_words(tx_buffer, start, tx, words), tx - start


@njit(cache=True, forceinline=True)
def _with_covered_words(tx_buffer, start, tx, words):
    """Say of the lines of a store which sectors are covered in part and, if any is, append the words of each line."""
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
    return tx


@njit(cache=True)
def store_scratch():
    """What `warp_stores` needs."""
    return np.empty(HASHED, np.uint8), np.empty(WARP_SIZE * WORDS, np.uint8), np.empty(WARP_SIZE, np.int64)


@njit(cache=True)
def warp_atomics(tx_buffer, tx, address, span, scratch):
    """Append one warp's atomic from `tx` on: a transaction per sector, repeated as often as its busiest address is hit.

    Gives where the next transaction goes. `scratch`: of sectors 1 + the transaction; addresses, and lanes on each.
    """
    begin, end = span
    table, addresses, hits = scratch
    start = tx
    _clear(table)
    _clear(hits)
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


@njit(cache=True, forceinline=True)
def warp_passes(address, begin, end, itemsize, scratch):
    """Passes of one warp through the banks: the most distinct words that one bank must deliver.

    `scratch`: words that have been seen, HASHED of them, and how many of each bank.
    """
    if _one_word_per_bank(address, begin, end, itemsize):
        return np.int64(1)
    words, per_bank = scratch
    for slot in range(HASHED):
        words[slot] = NOTHING
    for bank in range(BANKS):
        per_bank[bank] = 0
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


@njit(cache=True, forceinline=True)
def _one_word_per_bank(address, begin, end, itemsize):
    """Whether 4-byte words follow each other from lane to lane, or are all the same: the usual cases, one pass."""
    if itemsize != 4 or address[begin] & 3:
        return False
    step = address[min(begin + 1, end - 1)] - address[begin]
    even = step == 0 or step == 4
    for k in range(begin + 1, end):
        even &= address[k] - address[k - 1] == step
    return even


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


@njit(cache=True, forceinline=True)
def _look_at(elements, begin, lanes, itemsize, base, address):
    """Write the addresses of a warp's lanes down, and look at them in the same pass.

    Gives whether the elements follow each other from lane to lane, whether all lie on one line, and in which sectors.
    """
    first = elements[begin]
    line = (np.int64(first) * itemsize + base) >> LINE_BITS
    other, other_lines, sectors = np.int64(0), np.int64(0), np.int64(0)
    for k in range(lanes):
        element = elements[begin + k]
        place = np.int64(element) * itemsize + base
        address[k] = place
        other |= (np.int64(element) - np.int64(first)) ^ k
        other_lines |= (place >> LINE_BITS) ^ line
        sectors |= np.int64(1) << ((place >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
    return other == 0, other_lines == 0, sectors


@njit(cache=True, forceinline=True)
def _lines_from_to(tx_buffer, tx, first, last):
    """Append the lines of a load of all sectors from one to another."""
    line, end = first // SECTORS_PER_LINE, last // SECTORS_PER_LINE
    while line <= end:
        low, high = max(first - line * SECTORS_PER_LINE, 0), min(last - line * SECTORS_PER_LINE, SECTORS_PER_LINE - 1)
        sectors = (np.int64(2) << high) - (np.int64(1) << low)
        tx_buffer[tx] = (line << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT) | sectors
        tx += 1
        line += 1
    return tx


@njit(cache=True, forceinline=True)
def _row_of_lanes(tx_buffer, start, way, lanes, itemsize, scratch):
    """Append a load or store whose lanes are in a row; gives where the next transaction goes, and the lines.

    `lanes`: addresses, and how many.
    """
    address, count = lanes
    first, last = address[0], address[count - 1]
    if way == LINES:
        tx = _lines_from_to(tx_buffer, start, first >> SECTOR_BITS, last >> SECTOR_BITS)
        return tx, tx - start
    words = scratch[2]
    tx = _lines_in_a_row(tx_buffer, start, first >> 2, (last + itemsize - 4) >> 2, words)
    return _with_covered_words(tx_buffer, start, tx, words), tx - start


@njit(cache=True, forceinline=True)
def _lanes_anywhere(tx_buffer, start, way, lanes, itemsize, scratch):
    """The same for lanes anywhere, and for atomics."""
    address, count = lanes
    for_stores, for_atomics = scratch
    if way == LINES:
        tx = _distinct_lines(tx_buffer, start, address, 0, count, for_stores[0])
        return tx, tx - start
    if way == STORES:
        return warp_stores(tx_buffer, start, address, (0, count), itemsize, for_stores)
    tx = warp_atomics(tx_buffer, start, address, (0, count), for_atomics)
    return tx, tx - start


@njit(cache=True, forceinline=True)
def _memory_row(records, tx_buffer, tx, row, scope, elements, begin, scratch):
    """Append one memory instruction of the log for every warp of its scope; gives where the next transaction goes."""
    way, low, high, _, _, base, size = row
    warps, lanes, first, count = scope
    address, for_stores, for_atomics, for_banks = scratch
    even = way != ATOMICS and base & (size - 1) == 0 and (size == 4 or (size == 8 and way != SHARED_WORDS))
    for w in range(count):
        here, fields = first[w + 1] - first[w], low | (np.int64(lanes[w]) << 8)
        in_a_row, one_line, sectors = _look_at(elements, begin + first[w], here, size, base, address)
        if way == SHARED_WORDS:  # 32 words in a row lie in 32 banks
            passes = np.int64(1) if even and in_a_row else warp_passes(address, 0, here, size, for_banks)
            _put(records, warps[w], fields | passes << 48, high)
            continue
        start = tx
        if even and in_a_row:
            tx, lines = _row_of_lanes(tx_buffer, start, way, (address, here), size, for_stores)
        elif one_line and way == LINES:
            line = (address[0] >> LINE_BITS) << LINE_SHIFT
            tx_buffer[tx] = line | (np.int64(1) << REPEAT_SHIFT) | sectors
            tx, lines = tx + 1, np.int64(1)
        else:
            tx, lines = _lanes_anywhere(tx_buffer, start, way, (address, here), size, (for_stores, for_atomics))
        _put(records, warps[w], fields | lines << 24, high | start)
    return tx


@njit(cache=True, forceinline=True)
def _command_row(records, row, scope, elements, begin):
    """Append a command to a special unit: per warp the number and place of its threads' entries."""
    _, low, high, _, _, start, _ = row
    warps, lanes, _, count = scope
    for w in range(count):
        entries = np.int64(elements[begin + w])
        _put(records, warps[w], low | (np.int64(lanes[w]) << 8) | entries << 24, high | start)
        start += entries


@njit(cache=True)
def replay(buffers, log, begins, groups, elements, scratch):
    """Append the instructions of a log, in order, for every warp of their scopes."""
    space, (lines, pieces, words), (sectors, addresses, hits), (bank_words, per_bank) = scratch
    tables = (
        cells(space),
        (cells(lines), cells(pieces), cells(words)),
        (cells(sectors), cells(addresses), cells(hits)),
        (cells(bank_words), cells(per_bank)),
    )
    records, tx_buffer, used = (cells(buffers[0]), cells(buffers[1])), cells(buffers[2]), cells(buffers[3])
    numbers, rows = cells(elements), log.shape[0]
    columns, scopes = cells(log), cells(begins)
    warps, lanes, first = cells(groups[0]), cells(groups[1]), cells(groups[2])
    tx = used[0]
    for number in range(rows):
        at = number * LOG_COLUMNS
        row = (
            columns[at], columns[at + 1], columns[at + 2], columns[at + 3], columns[at + 4], columns[at + 5],
            columns[at + 6],
        )  # fmt: skip
        a = scopes[row[3]]
        count = scopes[row[3] + 1] - a
        if row[0] == PLAIN:
            for w in range(a, a + count):
                _put(records, warps[w], row[1] | (np.int64(lanes[w]) << 8), row[2])
            continue
        scope = (offset(warps, a), offset(lanes, a), offset(first, a + row[3]), count)
        if row[0] == COMMANDS:
            _command_row(records, row, scope, numbers, row[4] - count)
        else:
            begin = row[4] - first[a + row[3] + count]
            tx = _memory_row(records, tx_buffer, tx, row, scope, numbers, begin, tables)
    used[0] = tx
