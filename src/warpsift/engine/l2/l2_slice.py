"""L2 cache slices: shared, sectored, write-back, each in front of one DRAM channel.

Packets arrive from the crossbar, pass the slice's pipeline (`latency_cycles`, the raster operations unit) and then
wait in a short queue; the slice serves its queue in order, `port_bytes_per_cycle` per L2 clock. Tags are per 128-byte
line, valid and dirty bits per 32-byte sector. A read miss reserves a line and sends the missing sectors (or the
whole line: `fill_bytes`) to DRAM; later misses to a sector in flight merge with it. A write allocates without
fetching what it covers, or as `written_sectors` says. An evicted line sends its dirty sectors to DRAM. Atomics are
executed here, one operation on an address after the other. Nothing is dropped: when the slice lacks a line, an MSHR,
room towards DRAM or room in the reply network, its queue waits.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import count_array_l2
from warpsift.engine.core.cache_sets import ALL_SECTORS, find_row, line_row, victim_row
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_remove
from warpsift.engine.core.wheel import EV_L2_READY, wheel_push
from warpsift.engine.core.words import load, popcount, prefetch, store
from warpsift.engine.l2.l2_dram_queue import room_for_miss
from warpsift.engine.l2.l2_halves import drop_copy
from warpsift.engine.l2.l2_misses import l2_miss, l2_reserve
from warpsift.engine.l2.l2_queue import LACKS_REPLY_ROOM, LACKS_RESOURCE, output_unblock, slice_sleep
from warpsift.engine.l2.l2_replies import reply_flits, reply_now
from warpsift.engine.l2.l2_state import WORDS, l2, l2_slice
from warpsift.engine.l2.l2_tags import replace_line
from warpsift.engine.l2.l2_writeback import write_sectors
from warpsift.engine.noc.ports import (
    ATOMIC_OP,
    PACKET_SHIFT,
    REPLIES,
    SLICE_READ,
    SLICE_WRITE,
    UNIT_WRITE,
    WRITE,
    noc,
    noc_room,
    packet,
)
from warpsift.engine.unit_socket import sockets, tell_watchers


@compiled(i64, S_t, i64, i64)
def port_cycles(S, sectors, repeat):
    """L2 clocks that an access occupies the data port."""
    C = l2(S)
    cycles = load(C.p_port_cycles, popcount(sectors))
    if repeat * C.atomic_cycles > cycles:
        cycles = repeat * C.atomic_cycles
    return cycles


@compiled(i64, S_t, i64, i64)
def completed(S, row, index):
    """Note the words that a write covers; the sectors of it that are now wholly written."""
    C = l2(S)
    P = packet(noc(S).p_packets, index)
    words = np.int64(P.partial) if P.kind == WRITE else np.int64(WORDS)
    known = load(C.p_written_words, row)
    whole = np.int64(0)
    for sector in range(4):
        if (P.sectors >> sector) & 1:
            known |= words & (np.int64(255) << (8 * sector))
            if (known >> (8 * sector)) & 255 == 255:
                whole |= np.int64(1) << sector
    store(C.p_written_words, row, known)
    return whole


@compiled(i64, S_t, i64, i64, i64)
def l2_write_through(S, slice_index, index, row):
    """A write that misses, where such fetch their line: it goes on to DRAM, and the line will hold it, clean."""
    C = l2(S)
    P = packet(noc(S).p_packets, index)
    if l2_reserve(S, slice_index, index, row) < 0:
        return np.int64(-LACKS_RESOURCE)
    write_sectors(S, slice_index, np.int64(P.line), np.int64(P.sectors))
    count = popcount(P.sectors)
    C.l2_write_accesses += count
    C.l2_write_misses += count
    cycles = port_cycles(S, P.sectors, np.int64(0))
    count_array_l2(S, P.array, count, np.int64(0))
    reply_now(S, slice_index, index, P.sectors)
    return cycles


@compiled(i64, S_t, i64, i64)
def l2_write(S, slice_index, index):
    """Serve a write packet; L2 clocks taken, or what is lacking (negative)."""
    C = l2(S)
    N = noc(S)
    P = packet(N.p_packets, index)
    if noc_room(S, REPLIES, slice_index, reply_flits(S, P.kind, P.sectors)) == 0:
        return np.int64(-LACKS_REPLY_ROOM)
    if C.halves == 2:
        drop_copy(S, slice_index, P.line, np.int64(P.sectors))
    base = np.int64(P.set_row)
    row = find_row(C.p_tags, base, C.ways, P.line)
    if (
        C.fetch_written != 0
        and C.ideal_l2 == 0
        and (row < 0 or P.sectors & (line_row(C.p_lines, row).valid ^ ALL_SECTORS))
    ):
        return l2_write_through(S, slice_index, index, row)
    if row < 0 and C.ideal_l2 == 0:
        row = victim_row(C.p_lines, base, C.ways)
        if row < 0 or room_for_miss(S, slice_index, row, np.int64(8)) == 0:
            return np.int64(-LACKS_RESOURCE)
        replace_line(S, slice_index, row, P.line)
    count = popcount(P.sectors)
    C.l2_write_accesses += count
    if row >= 0:
        L = line_row(C.p_lines, row)
        found = popcount(P.sectors & (L.valid | L.dirty)) if C.words_kept != 0 else popcount(P.sectors & L.valid)
        C.l2_write_hits += found
        C.l2_write_misses += count - found
        C.stamp += 1
        L.used = C.stamp
        L.valid |= P.sectors if C.words_kept == 0 else completed(S, row, index)
        L.dirty |= P.sectors
    else:
        C.l2_write_hits += count
    cycles = port_cycles(S, P.sectors, np.int64(0))
    count_array_l2(S, P.array, count, np.int64(0))
    reply_now(S, slice_index, index, P.sectors)
    return cycles


@compiled(i64, S_t, i64, i64)
def l2_read(S, slice_index, index):
    """Serve a read or an atomic; L2 clocks taken, or what is lacking (negative)."""
    C = l2(S)
    N = noc(S)
    P = packet(N.p_packets, index)
    if noc_room(S, REPLIES, slice_index, reply_flits(S, P.kind, P.sectors)) == 0:
        return np.int64(-LACKS_REPLY_ROOM)
    repeat = np.int64(0)
    if P.kind == ATOMIC_OP:
        repeat = P.partial
        if C.halves == 2:
            drop_copy(S, slice_index, P.line, np.int64(P.sectors))
    row = np.int64(-1)
    if C.ideal_l2 == 0:
        row = find_row(C.p_tags, np.int64(P.set_row), C.ways, P.line)
        hit = row >= 0 and (P.sectors & (line_row(C.p_lines, row).valid ^ ALL_SECTORS)) == 0
    else:
        hit = True
    sectors = P.sectors
    line = P.line
    if not hit:
        if l2_miss(S, slice_index, index, row) == 0:
            return np.int64(-LACKS_RESOURCE)
    else:
        count = popcount(sectors)
        C.l2_read_accesses += count
        C.l2_read_hits += count
        count_array_l2(S, P.array, count, np.int64(0))
        if row >= 0:
            L = line_row(C.p_lines, row)
            C.stamp += 1
            L.used = C.stamp
            if repeat != 0:
                L.dirty |= sectors
        reply_now(S, slice_index, index, sectors)
    C.l2_atomic_operations += repeat
    if sockets(S).watches_l2 != 0 and P.kind < SLICE_READ:
        tell_watchers(S, slice_index, line, 0 if hit else 1)
    return port_cycles(S, sectors, repeat)


@compiled(void, S_t, i64)
def l2_tick(S, slice_index):
    """One L2 clock of an active slice: replies of fills first, then the first packet of the queue."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    N = noc(S)
    if L.next_cycle > C.cycle:
        return
    if L.reply_first >= 0:
        index = L.reply_first
        P = packet(N.p_packets, index)
        if noc_room(S, REPLIES, slice_index, reply_flits(S, P.kind, P.sectors)) == 0:
            slice_sleep(S, slice_index, np.int64(LACKS_REPLY_ROOM))
            return
        L.reply_first = P.next
        if L.reply_first < 0:
            L.reply_last = -1
        reply_now(S, slice_index, index, P.sectors)
        if C.fills_take_port != 0:
            L.next_cycle = C.cycle + 1
            C.l2_busy_cycles += 1
            return
    if L.head == L.tail:
        if L.reply_first < 0:
            mask_remove(C.p_active, slice_index)
        return
    index = load(L.p_ring, L.head & L.ring_mask)
    P = packet(N.p_packets, index)
    if P.ready > S.now:
        if L.reply_first < 0:
            mask_remove(C.p_active, slice_index)
        if L.waiting == 0:
            L.waiting = 1
            wheel_push(S, P.ready, EV_L2_READY, slice_index, 0)
        return
    sectors = popcount(P.sectors)
    if P.kind == WRITE or P.kind == UNIT_WRITE or P.kind == SLICE_WRITE:
        cycles = l2_write(S, slice_index, index)
    else:
        cycles = l2_read(S, slice_index, index)
    if cycles < 0:
        slice_sleep(S, slice_index, -cycles)
    else:
        if L.ready_tail > L.head:
            L.ready_sectors -= sectors
        else:
            L.ready_tail = L.head + 1
        L.head += 1
        prefetch(N.p_packets, load(L.p_ring, L.head & L.ring_mask) << PACKET_SHIFT)
        L.next_cycle = C.cycle + cycles
        C.l2_busy_cycles += cycles
        output_unblock(S, slice_index)
