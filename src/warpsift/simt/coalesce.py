"""Coalescing: from the addresses of a warp's lanes to line transactions (and shared-memory bank passes).

The unit sits in the SM's load/store path. Loads and stores: one transaction per distinct 128-byte line, carrying the
32-byte sectors that any lane touches. Atomics: one per distinct sector, and lanes on one address take turns. These
are the rules that GPGPU-Sim's counters obey, lane by lane. The functions append to a `Recorder`'s buffers; they are
compiled, since every memory instruction of every warp passes here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE, WARP_SIZE
from warpsift.simt.stream import LINE_SHIFT, REPEAT_SHIFT

LINE_BITS = LINE_BYTES.bit_length() - 1
SECTOR_BITS = SECTOR_BYTES.bit_length() - 1
ALL_BYTES = 15  # of a word of 4
BANKS = 32  # shared memory: 32 banks of 4 bytes (CUDA C Programming Guide, compute capability 2.x and later)


@njit(cache=True)
def group_by_warp(index, warp_numbers):
    """Split ascending thread positions into warps: (warp number, active lanes, first position) of each."""
    n = index.size
    warps = np.empty(n, np.int32)
    lanes = np.empty(n, np.uint8)
    first = np.empty(n + 1, np.int32)
    count = 0
    last = -1
    for k in range(n):
        warp = index[k] >> 5
        if warp != last:
            warps[count] = warp_numbers[warp]
            first[count] = k
            if count:
                lanes[count - 1] = k - first[count - 1]
            count += 1
            last = warp
    if count:
        lanes[count - 1] = n - first[count - 1]
    first[count] = n
    return warps[:count].copy(), lanes[:count].copy(), first[: count + 1].copy()


@njit(cache=True)
def _append(buffers, groups, w, low, high):
    """Append one instruction of the scope's warp number `w`: the two halves of its record, without the lanes."""
    warp_buffer, op_buffer, _, used = buffers
    warps, lanes, _ = groups
    at = used[0]
    warp_buffer[at] = warps[w]
    op_buffer[at, 0] = low | (np.int64(lanes[w]) << 8)
    op_buffer[at, 1] = high
    used[0] = at + 1


@njit(cache=True)
def emit(buffers, groups, low, high):
    """Append one instruction, without transactions, for every warp of a scope."""
    for w in range(groups[0].size):
        _append(buffers, groups, w, low, high)


@njit(cache=True)
def emit_lines(buffers, groups, address, itemsize, fields):
    """Append a load: per warp its distinct lines, in order of the first lane that touches each."""
    _, _, tx_buffer, used = buffers
    first = groups[2]
    low, high = fields
    tx = used[1]
    for w in range(first.size - 1):
        start = tx
        for k in range(first[w], first[w + 1]):
            line = address[k] >> LINE_BITS
            sector = np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
            found = tx - 1
            while found >= start and (tx_buffer[found] >> LINE_SHIFT) != line:
                found -= 1
            if found >= start:
                tx_buffer[found] |= sector
            else:
                tx_buffer[tx] = (line << LINE_SHIFT) | (np.int64(1) << REPEAT_SHIFT) | sector
                tx += 1
        _append(buffers, groups, w, low | ((tx - start) << 24), high | start)
    used[1] = tx


@njit(cache=True)
def _cover(pieces, found, address, itemsize):
    """Mark the bytes of one element in the words of its line."""
    first = (address & (LINE_BYTES - 1)) >> 2
    if itemsize < 4:
        pieces[found, first] |= ((1 << itemsize) - 1) << (address & 3)
        return
    for word in range(first, min(first + (itemsize >> 2), LINE_BYTES >> 2)):
        pieces[found, word] = ALL_BYTES


@njit(cache=True)
def _covered_words(pieces, found):
    """The words of a line that are wholly covered, as a mask."""
    mask = np.int64(0)
    for word in range(LINE_BYTES >> 2):
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
def emit_stores(buffers, groups, address, itemsize, fields):
    """Append a store: lines as for a load, which sectors are covered in part, and then the words of each line."""
    _, _, tx_buffer, used = buffers
    first = groups[2]
    low, high = fields
    tx = used[1]
    pieces = np.zeros((WARP_SIZE, LINE_BYTES >> 2), np.uint8)  # of each line and word: its bytes that are covered
    words = np.zeros(WARP_SIZE, np.int64)
    for w in range(first.size - 1):
        start = tx
        for k in range(first[w], first[w + 1]):
            line = address[k] >> LINE_BITS
            sector = np.int64(1) << ((address[k] >> SECTOR_BITS) & (SECTORS_PER_LINE - 1))
            found = tx - 1
            while found >= start and (tx_buffer[found] >> LINE_SHIFT) != line:
                found -= 1
            if found >= start:
                tx_buffer[found] |= sector
            else:
                found = tx
                pieces[found - start, :] = 0
                tx_buffer[tx] = (line << LINE_SHIFT) | sector
                tx += 1
            _cover(pieces, found - start, address[k], itemsize)
        any_partial = np.int64(0)
        for k in range(tx - start):
            words[k] = _covered_words(pieces, k)
            partial = _partial_sectors(tx_buffer[start + k], words[k])
            tx_buffer[start + k] |= partial << REPEAT_SHIFT
            any_partial |= partial
        _append(buffers, groups, w, low | ((tx - start) << 24), high | start)
        if any_partial != 0:
            lines = tx - start
            for back in range(0, lines, 2):
                earlier = words[lines - 2 - back] if back + 2 <= lines else np.int64(0)
                tx_buffer[tx] = words[lines - 1 - back] | (earlier << 32)
                tx += 1
    used[1] = tx


@njit(cache=True)
def emit_atomics(buffers, groups, address, itemsize, fields):
    """Append an atomic: per warp one transaction per sector, repeated as often as its busiest address is hit."""
    _, _, tx_buffer, used = buffers
    first = groups[2]
    low, high = fields
    tx = used[1]
    for w in range(first.size - 1):
        start = tx
        for k in range(first[w], first[w + 1]):
            sector_number = address[k] >> SECTOR_BITS
            same = 0  # lanes up to this one on the same address
            for j in range(first[w], k + 1):
                if address[j] == address[k]:
                    same += 1
            line = sector_number >> 2
            key = (line << LINE_SHIFT) | (np.int64(1) << (sector_number & (SECTORS_PER_LINE - 1)))
            found = tx - 1
            while found >= start and (tx_buffer[found] & ~(np.int64(255) << REPEAT_SHIFT)) != key:
                found -= 1
            if found < start:
                found = tx
                tx_buffer[tx] = key
                tx += 1
            if ((tx_buffer[found] >> REPEAT_SHIFT) & 255) < same:
                tx_buffer[found] = key | (np.int64(same) << REPEAT_SHIFT)
        _append(buffers, groups, w, low | ((tx - start) << 24), high | start)
    used[1] = tx


@njit(cache=True)
def emit_shared(buffers, groups, address, itemsize, fields):
    """Append a shared-memory access: `count` = passes, the most distinct words that one bank must deliver."""
    first = groups[2]
    low, high = fields
    words = np.empty(2 * BANKS, np.int64)
    per_bank = np.empty(BANKS, np.int64)
    for w in range(first.size - 1):
        per_bank[:] = 0
        distinct = 0
        for k in range(first[w], first[w + 1]):
            for word in range(address[k] >> 2, (address[k] + itemsize + 3) >> 2):
                seen = False
                for j in range(distinct):
                    if words[j] == word:
                        seen = True
                        break
                if not seen:
                    words[distinct] = word
                    distinct += 1
                    per_bank[word & (BANKS - 1)] += 1
        _append(buffers, groups, w, low | (max(per_bank.max(), 1) << 48), high)


@njit(cache=True)
def emit_commands(buffers, groups, counts, start, fields):
    """Append a command to the memory fast-forward unit: per warp the number and place of its threads' entries."""
    low, high = fields
    for w in range(groups[0].size):
        _append(buffers, groups, w, low | (counts[w] << 24), high | start)
        start += counts[w]


@njit(cache=True)
def order_by_warp(warp_buffer, op_buffer, used, warps):
    """Counting sort of the recorded instructions into one contiguous run per warp, program order kept."""
    first = np.zeros(warps + 1, np.int64)
    for k in range(used):
        first[warp_buffer[k] + 1] += 1
    for w in range(warps):
        first[w + 1] += first[w]
    at = first.copy()
    ops = np.empty((used, 2), np.int64)
    for k in range(used):
        w = warp_buffer[k]
        ops[at[w], 0] = op_buffer[k, 0]
        ops[at[w], 1] = op_buffer[k, 1]
        at[w] += 1
    return first, ops
