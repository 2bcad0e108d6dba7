"""L2 cache slices: shared, sectored, write-back, each in front of one DRAM channel.

Packets arrive from the crossbar, pass the slice's pipeline (`latency_cycles`, the raster operations unit) and then
wait in a short queue; the slice serves its queue in order, `port_bytes_per_cycle` per L2 clock. Tags are per 128-byte
line, valid and dirty bits per 32-byte sector. A read miss reserves a line and sends the missing sectors (or the
whole line: `fill_bytes`) to DRAM; later misses to a sector in flight merge with it. A write allocates without
fetching what it covers. An evicted line sends its dirty sectors to DRAM. Atomics are executed here, one operation
on an address after the other. Nothing is dropped: when the slice lacks a line, an MSHR, room towards DRAM or room
in the reply network, its queue waits.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.address_map import HASHED, MAPPINGS, RANDOM, mix_bits
from warpsift.engine.arrays import count_array_l2
from warpsift.engine.dram import dram_accept
from warpsift.engine.dram_state import dram
from warpsift.engine.layout import Arena, S_t, accessor, ctz, i64, kernel, load, popcount, store, void
from warpsift.engine.noc import (
    ATOMIC_OP,
    MFF_READ,
    MFF_WRITE,
    REPLIES,
    REQUESTS,
    UNIT_WRITE,
    WRITE,
    flits_of,
    network,
    noc,
    noc_inject,
    noc_room,
    output_port,
    packet,
    packet_new,
)
from warpsift.engine.wheel import EV_DRAM_DONE, EV_L2_READY, EV_MFF, wheel_push
from warpsift.machines.spec import LINE_BYTES, Machine

ALL_SECTORS = 15
# Why the first packet of a slice cannot be served. The slice then sleeps until that may have changed.
LACKS_REPLY_ROOM, LACKS_RESOURCE = 1, 2

SLICE = np.dtype(
    [
        ("p_ring", np.int64),  # incoming packets
        ("ring_mask", np.int64),
        ("head", np.int64),
        ("tail", np.int64),
        ("ready_tail", np.int64),  # packets before this position have come through the pipeline ...
        ("ready_sectors", np.int64),  # ... and hold so many sectors
        ("waiting", np.int64),  # 1: an EV_L2_READY is under way
        ("next_cycle", np.int64),  # L2 cycle from which the data port is free
        ("lacks", np.int64),  # what the first packet waits for (LACKS_...), 0 = nothing
        ("lacks_since", np.int64),  # L2 cycle
        ("reply_first", np.int64),  # packets that fills have made ready, not yet in the reply network
        ("reply_last", np.int64),
        ("p_dram_token", np.int64),  # ring of requests towards DRAM: token << 1 | is_write
        ("p_dram_address", np.int64),
        ("dram_head", np.int64),
        ("dram_tail", np.int64),
        ("mshr_free", np.int64),
        ("fills_in_flight", np.int64),  # sectors, or lines when fill_bytes is 128
    ],
    align=True,
)
MSHR = np.dtype(
    [
        ("next", np.int64),  # free list
        ("row", np.int64),  # row of the tag table
        ("first", np.int64),  # waiting packets, in order of arrival
        ("last", np.int64),
        ("waiters", np.int64),
    ],
    align=True,
)
# One row per line: state is one word so that a hit touches the tag and this.
LINE = np.dtype(
    [
        ("used", np.int64),  # time stamp of the last use
        ("valid", np.int64),  # sector masks
        ("dirty", np.int64),
        ("pending", np.int64),  # on the way from DRAM; a line with pending sectors cannot be evicted
        ("mshr", np.int64),
    ],
    align=True,
)
COUNTERS = {
    "l2_read_accesses": "sectors read (loads, atomics, unit reads)",
    "l2_read_hits": "of these, found valid",
    "l2_read_pending": "of these, merged with a fill in flight",
    "l2_read_misses": "of these, fetched from DRAM",
    "l2_write_accesses": "sectors written",
    "l2_write_hits": "of these, into a line that held the sector",
    "l2_write_misses": "of these, newly allocated",
    "l2_atomic_operations": "atomic sector operations, repeats on one address counted",
    "l2_evictions": "lines replaced",
    "l2_writebacks": "dirty sectors sent to DRAM",
    "l2_fills": "sectors that came from DRAM",
    "l2_reservation_fails": "slice-cycles in which the first packet lacked a line, an MSHR or DRAM queue room",
    "l2_reply_blocked_cycles": "slice-cycles in which a ready reply found no room in the reply network",
    "l2_busy_cycles": "slice-cycles of the data port in use",
}
L2 = np.dtype(
    [
        ("slices", np.int64),
        ("sets", np.int64),
        ("ways", np.int64),
        ("whole_line", np.int64),
        ("read_sectors", np.int64),  # sectors that one DRAM read brings, and one DRAM write takes
        ("write_sectors", np.int64),
        ("mshrs", np.int64),
        ("merges", np.int64),
        ("latency", np.int64),
        ("queue_entries", np.int64),
        ("port_bytes", np.int64),
        ("dram_ring_mask", np.int64),
        ("dram_queue", np.int64),
        ("interleave_lines", np.int64),
        ("channels", np.int64),
        ("slices_per_channel", np.int64),
        ("mapping", np.int64),
        ("hashed_index", np.int64),
        ("atomic_cycles", np.int64),
        ("repeats_as_packets", np.int64),
        ("ideal_l2", np.int64),
        ("ideal_dram", np.int64),
        ("ideal_dram_latency", np.int64),
        ("ideal_reads_pending", np.int64),
        ("cycle", np.int64),  # of the L2 clock
        ("khz", np.int64),
        ("core_khz", np.int64),
        ("stamp", np.int64),
        ("active", np.int64),  # slices with something to do
        ("to_dram", np.int64),  # slices with requests for DRAM
        ("refused", np.int64),  # of these, those whose channel was full ...
        ("refused_at", np.int64),  # ... when DRAM had done so many commands
        ("lack_reply_room", np.int64),  # slices that sleep until a reply has left
        ("p_slices", np.int64),
        ("p_tags", np.int64),  # line numbers, -1 = empty
        ("p_lines", np.int64),
        ("p_mshrs", np.int64),
        *[(name, np.int64) for name in COUNTERS],
    ],
    align=True,
)
l2 = accessor(L2)
l2_slice = accessor(SLICE)
l2_line = accessor(LINE)
l2_mshr = accessor(MSHR)


def allocate(S: object, arena: Arena, machine: Machine) -> None:
    spec, dram = machine.l2, machine.dram
    C, S.p_l2 = arena.record("l2", L2)  # type: ignore[attr-defined]
    C.slices, C.ways = spec.slices, spec.ways
    C.sets = spec.size_bytes // (spec.slices * spec.ways * LINE_BYTES)
    C.whole_line = spec.fill_bytes == LINE_BYTES
    C.read_sectors, C.write_sectors = min(dram.request_bytes // 32, 4), min(dram.burst_bytes // 32, 4)
    C.mshrs, C.merges = spec.mshrs, spec.mshr_merges
    C.latency, C.queue_entries, C.port_bytes = spec.latency_cycles, spec.queue_entries, spec.port_bytes_per_cycle
    C.interleave_lines = spec.interleave_bytes // LINE_BYTES
    C.channels, C.slices_per_channel = dram.channels, spec.slices // dram.channels
    C.mapping, C.hashed_index = MAPPINGS[spec.mapping], spec.hashed_index
    C.atomic_cycles, C.repeats_as_packets = spec.atomic_cycles, spec.atomic_repeats_as_packets
    C.ideal_l2, C.ideal_dram = machine.ideal.l2, machine.ideal.dram
    clocks_to_core = machine.clocks.core_mhz / dram.clock_mhz
    unloaded = (dram.timing.rcd_rd + dram.timing.cl + dram.burst_clocks) * clocks_to_core
    C.ideal_dram_latency = round(unloaded) + dram.front_latency_core_cycles + dram.back_latency_core_cycles
    C.khz, C.core_khz = round(machine.clocks.l2_mhz * 1000), round(machine.clocks.core_mhz * 1000)
    C.p_slices = arena.table("l2.slices", SLICE, spec.slices)
    rows = spec.slices * C.sets * spec.ways
    C.p_tags = arena.adopt("l2.tags", np.full(rows, -1, np.int64))
    C.p_lines = arena.table("l2.lines", LINE, rows)
    C.p_mshrs = arena.table("l2.mshrs", MSHR, spec.slices * spec.mshrs)
    C.dram_queue = spec.dram_queue_entries
    dram_ring = 1 << (spec.dram_queue_entries - 1).bit_length()
    C.dram_ring_mask = dram_ring - 1
    # The pipeline takes at most one packet per network cycle, so this ring cannot overflow.
    depth = spec.latency_cycles + spec.queue_entries + machine.noc.hop_latency_cycles + 64
    ring = 1 << (2 * depth - 1).bit_length()
    for index in range(spec.slices):
        row = arena.arrays["l2.slices"][index]
        row.p_ring, row.ring_mask = arena.table(f"l2.ring{index}", np.int64, ring), ring - 1
        row.p_dram_token = arena.table(f"l2.dram_token{index}", np.int64, dram_ring)
        row.p_dram_address = arena.table(f"l2.dram_address{index}", np.int64, dram_ring)
        row.reply_first = row.reply_last = -1
        mshrs = arena.arrays["l2.mshrs"][index * spec.mshrs : (index + 1) * spec.mshrs]
        mshrs["next"] = np.append(np.arange(1, spec.mshrs), -1)


@kernel(i64, S_t, i64)
def slice_of(S, line):
    """The slice that holds a line."""
    C = l2(S.p_l2, 0)
    chunk = line // C.interleave_lines
    if C.mapping == RANDOM:
        return mix_bits(chunk) % C.slices
    group = chunk // C.channels
    channel = chunk - group * C.channels
    if C.mapping == HASHED:
        channel = (channel + mix_bits(group)) % C.channels
    return channel * C.slices_per_channel + group % C.slices_per_channel


@kernel(i64, S_t, i64)
def local_line(S, line):
    """Line number inside the channel: the channel's part taken out of the address."""
    C = l2(S.p_l2, 0)
    chunk = line // C.interleave_lines
    within = line - chunk * C.interleave_lines
    return chunk // C.channels * C.interleave_lines + within


@kernel(i64, S_t, i64, i64)
def first_row(S, slice_index, line):
    """Row of the first way of the set that a line belongs to."""
    C = l2(S.p_l2, 0)
    inner = local_line(S, line)
    if C.mapping != RANDOM:  # slices of a channel take turns chunk by chunk: take that out as well
        chunk = inner // C.interleave_lines
        inner = chunk // C.slices_per_channel * C.interleave_lines + (inner - chunk * C.interleave_lines)
    if C.hashed_index != 0:
        inner += mix_bits(inner // C.sets)
    return (slice_index * C.sets + inner % C.sets) * C.ways


@kernel(i64, S_t, i64, i64)
def find_row(S, base, line):
    """Row of a line inside its set, or -1."""
    C = l2(S.p_l2, 0)
    for row in range(base, base + C.ways):
        if load(C.p_tags, row) == line:
            return row
    return np.int64(-1)


@kernel(i64, S_t, i64)
def victim_row(S, base):
    """Least recently used line of a set that is not being filled, or -1."""
    C = l2(S.p_l2, 0)
    best = np.int64(-1)
    oldest = np.int64(0)
    for row in range(base, base + C.ways):
        L = l2_line(C.p_lines, row)
        if L.pending == 0 and (best < 0 or L.used < oldest):
            best = np.int64(row)
            oldest = L.used
    return best


@kernel(i64, S_t, i64)
def dram_queue_room(S, slice_index):
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    return C.dram_queue - (L.dram_tail - L.dram_head)


@kernel(void, S_t, i64, i64, i64)
def send_to_dram(S, slice_index, address, word):
    """Queue one sector request (word = token << 1 | is_write) towards the channel. Room has been checked."""
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    store(L.p_dram_token, L.dram_tail & C.dram_ring_mask, word)
    store(L.p_dram_address, L.dram_tail & C.dram_ring_mask, address)
    L.dram_tail += 1
    C.to_dram |= np.int64(1) << slice_index


@kernel(void, S_t, i64, i64, i64)
def replace_line(S, slice_index, row, line):
    """Give a row to a new line; the dirty sectors of the old one go to DRAM."""
    C = l2(S.p_l2, 0)
    L = l2_line(C.p_lines, row)
    old = load(C.p_tags, row)
    if old >= 0:
        C.l2_evictions += 1
        base = local_line(S, old) * LINE_BYTES
        C.l2_writebacks += popcount(L.dirty)
        burst = (np.int64(1) << C.write_sectors) - 1
        for sector in range(0, 4, C.write_sectors):  # sectors that share a burst are written together
            if (L.dirty >> sector) & burst:
                send_to_dram(S, slice_index, base + sector * 32, np.int64(1))
    store(C.p_tags, row, line)
    L.valid = 0
    L.dirty = 0
    L.pending = 0


@kernel(void, S_t, i64, i64, i64)
def reply_now(S, slice_index, index, sectors):
    """Turn a request packet into its reply for `sectors` and inject it (room has been checked)."""
    N = noc(S.p_noc, 0)
    P = packet(N.p_packets, index)
    P.sectors = sectors
    if P.kind >= MFF_READ:  # back to the unit in front of the slice
        wheel_push(S, S.now + 1, EV_MFF, slice_index, index)
        return
    count = popcount(sectors)
    if P.kind == UNIT_WRITE:  # a unit's write is one packet, and so is its acknowledgement
        count = np.int64(1)
    writing = P.kind == WRITE or P.kind == UNIT_WRITE
    if N.reply_sectors == 1:
        P.flits = count * flits_of(S, np.int64(0) if writing else np.int64(32))
        P.separate = 1
    else:
        P.flits = flits_of(S, np.int64(0) if writing else 32 * count)
        P.separate = 0
    P.destination = P.port
    P.ready = S.now + 1
    noc_inject(S, REPLIES, slice_index, index)


@kernel(i64, S_t, i64, i64)
def reply_flits(S, kind, sectors):
    """Flits that the reply for some sectors will need."""
    N = noc(S.p_noc, 0)
    if kind >= MFF_READ:
        return np.int64(0)
    count = np.int64(1) if kind == UNIT_WRITE else popcount(sectors)
    writing = kind in (WRITE, UNIT_WRITE)
    if N.reply_sectors == 1:
        return count * flits_of(S, np.int64(0) if writing else np.int64(32))
    return flits_of(S, np.int64(0) if writing else 32 * count)


@kernel(i64, S_t, i64, i64)
def port_cycles(S, sectors, repeat):
    """L2 clocks that an access occupies the data port."""
    C = l2(S.p_l2, 0)
    cycles = (popcount(sectors) * 32 + C.port_bytes - 1) // C.port_bytes
    if repeat * C.atomic_cycles > cycles:
        cycles = repeat * C.atomic_cycles
    return cycles


@kernel(i64, S_t, i64, i64)
def l2_write(S, slice_index, index):
    """Serve a write packet; L2 clocks taken, or what is lacking (negative)."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    P = packet(N.p_packets, index)
    if noc_room(S, REPLIES, slice_index, reply_flits(S, P.kind, P.sectors)) == 0:
        return np.int64(-LACKS_REPLY_ROOM)
    base = first_row(S, slice_index, P.line)
    row = find_row(S, base, P.line)
    if row < 0 and C.ideal_l2 == 0:
        row = victim_row(S, base)
        if row < 0 or dram_queue_room(S, slice_index) < 8:
            return np.int64(-LACKS_RESOURCE)
        replace_line(S, slice_index, row, P.line)
    count = popcount(P.sectors)
    C.l2_write_accesses += count
    if row >= 0:
        L = l2_line(C.p_lines, row)
        found = popcount(P.sectors & L.valid)
        C.l2_write_hits += found
        C.l2_write_misses += count - found
        C.stamp += 1
        L.used = C.stamp
        L.valid |= P.sectors
        L.dirty |= P.sectors
    else:
        C.l2_write_hits += count
    cycles = port_cycles(S, P.sectors, np.int64(0))
    count_array_l2(S, P.array, count, np.int64(0))
    reply_now(S, slice_index, index, P.sectors)
    return cycles


@kernel(i64, S_t, i64)
def widened(S, sectors):
    """The sectors that DRAM brings when these are asked for."""
    C = l2(S.p_l2, 0)
    if C.read_sectors == 4:
        return np.int64(ALL_SECTORS) if sectors != 0 else np.int64(0)
    if C.read_sectors == 2:
        both = (sectors | (sectors >> 1)) & 5
        return both | (both << 1)
    return sectors


@kernel(void, S_t, i64, i64, i64)
def l2_fetch(S, slice_index, row, missing):
    """Send the sectors of a miss to DRAM; the line's MSHR is set."""
    C = l2(S.p_l2, 0)
    L = l2_line(C.p_lines, row)
    L.pending |= missing
    mine = l2_slice(C.p_slices, slice_index)
    mine.fills_in_flight += 1 if C.whole_line != 0 else popcount(missing)
    base = local_line(S, load(C.p_tags, row)) * LINE_BYTES
    for sector in range(0, 4, C.read_sectors):
        if (missing >> sector) & 1:
            token = (((slice_index * C.mshrs) + L.mshr) << 2) | sector
            send_to_dram(S, slice_index, base + sector * 32, token << 1)


@kernel(void, S_t, i64, i64, i64, i64)
def l2_wait(S, slice_index, index, row, missing):
    """Append a packet to the line's MSHR, reply for the sectors that are valid, and count."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    P = packet(N.p_packets, index)
    L = l2_line(C.p_lines, row)
    hits = P.sectors & L.valid
    misses = popcount(P.sectors & missing)
    C.l2_read_accesses += popcount(P.sectors)
    C.l2_read_hits += popcount(hits)
    C.l2_read_misses += misses
    C.l2_read_pending += popcount(P.sectors) - popcount(hits) - misses
    count_array_l2(S, P.array, popcount(P.sectors), misses)
    if hits != 0:
        copy = packet_new(S)
        Q = packet(N.p_packets, copy)
        Q.kind, Q.line, Q.port, Q.token, Q.array = P.kind, P.line, P.port, P.token, P.array
        Q.partial = P.partial
        reply_now(S, slice_index, copy, hits)
    P.sectors ^= hits
    M = l2_mshr(C.p_mshrs, slice_index * C.mshrs + L.mshr)
    P.next = -1
    if M.last < 0:
        M.first = index
    else:
        packet(N.p_packets, M.last).next = index
    M.last = index
    M.waiters += 1
    if P.kind == ATOMIC_OP:
        L.dirty |= P.sectors


@kernel(i64, S_t, i64, i64, i64)
def l2_miss(S, slice_index, index, row):
    """A read that needs sectors which are not valid; `row` as found or -1. 1, or 0 if something is lacking."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    P = packet(N.p_packets, index)
    mine = l2_slice(C.p_slices, slice_index)
    wanted = np.int64(ALL_SECTORS) if C.whole_line != 0 else widened(S, P.sectors)
    fresh = row < 0
    if fresh:
        row = victim_row(S, first_row(S, slice_index, P.line))
        if row < 0:
            return np.int64(0)
    L = l2_line(C.p_lines, row)
    valid = np.int64(0) if fresh else L.valid
    pending = np.int64(0) if fresh else L.pending
    missing = widened(S, wanted & (valid ^ ALL_SECTORS) & (pending ^ ALL_SECTORS))
    new_fills = np.int64(0)
    if missing != 0:
        new_fills = np.int64(1) if C.whole_line != 0 else popcount(missing)
    lacking = mine.fills_in_flight + new_fills > C.mshrs or (missing != 0 and dram_queue_room(S, slice_index) < 8)
    if pending != 0:
        lacking = lacking or l2_mshr(C.p_mshrs, slice_index * C.mshrs + L.mshr).waiters >= C.merges
    else:
        lacking = lacking or mine.mshr_free < 0
    if lacking:
        return np.int64(0)
    if fresh:
        replace_line(S, slice_index, row, P.line)
    if pending == 0:
        L.mshr = mine.mshr_free
        M = l2_mshr(C.p_mshrs, slice_index * C.mshrs + L.mshr)
        mine.mshr_free = M.next
        M.row = row
        M.first = -1
        M.last = -1
        M.waiters = 0
    if missing != 0:
        l2_fetch(S, slice_index, row, missing)
    C.stamp += 1
    L.used = C.stamp
    l2_wait(S, slice_index, index, row, missing)
    return np.int64(1)


@kernel(i64, S_t, i64, i64)
def l2_read(S, slice_index, index):
    """Serve a read or an atomic; L2 clocks taken, or what is lacking (negative)."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    P = packet(N.p_packets, index)
    if noc_room(S, REPLIES, slice_index, reply_flits(S, P.kind, P.sectors)) == 0:
        return np.int64(-LACKS_REPLY_ROOM)
    repeat = np.int64(0)
    if P.kind == ATOMIC_OP:
        repeat = P.partial
    row = np.int64(-1)
    if C.ideal_l2 == 0:
        row = find_row(S, first_row(S, slice_index, P.line), P.line)
        hit = row >= 0 and (P.sectors & (l2_line(C.p_lines, row).valid ^ ALL_SECTORS)) == 0
    else:
        hit = True
    sectors = P.sectors
    if not hit:
        if l2_miss(S, slice_index, index, row) == 0:
            return np.int64(-LACKS_RESOURCE)
    else:
        count = popcount(sectors)
        C.l2_read_accesses += count
        C.l2_read_hits += count
        count_array_l2(S, P.array, count, np.int64(0))
        if row >= 0:
            L = l2_line(C.p_lines, row)
            C.stamp += 1
            L.used = C.stamp
            if repeat != 0:
                L.dirty |= sectors
        reply_now(S, slice_index, index, sectors)
    C.l2_atomic_operations += repeat
    return port_cycles(S, sectors, repeat)


@kernel(i64, S_t, i64)
def l2_full(S, slice_index):
    """1 if the queue behind the pipeline cannot take a line, so that the crossbar must hold its packet."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    L = l2_slice(C.p_slices, slice_index)
    while L.ready_tail < L.tail:
        P = packet(N.p_packets, load(L.p_ring, L.ready_tail & L.ring_mask))
        if P.ready > S.now:
            break
        L.ready_sectors += popcount(P.sectors)
        L.ready_tail += 1
    return np.int64(1) if L.ready_sectors + 4 > C.queue_entries else np.int64(0)


@kernel(void, S_t, i64, i64)
def l2_enqueue(S, slice_index, index):
    """A packet leaves the crossbar and enters the slice's pipeline."""
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    P = packet(noc(S.p_noc, 0).p_packets, index)
    P.ready = S.now + C.latency
    store(L.p_ring, L.tail & L.ring_mask, index)
    L.tail += 1
    if L.tail - L.head == 1 and L.waiting == 0:
        L.waiting = 1
        wheel_push(S, P.ready, EV_L2_READY, slice_index, 0)


@kernel(void, S_t, i64)
def l2_wake(S, slice_index):
    """EV_L2_READY: the first packet has come through the pipeline."""
    C = l2(S.p_l2, 0)
    l2_slice(C.p_slices, slice_index).waiting = 0
    C.active |= np.int64(1) << slice_index


@kernel(void, S_t, i64, i64)
def slice_sleep(S, slice_index, lacks):
    """Nothing can be done until something changes: stop polling."""
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    bit = np.int64(1) << slice_index
    L.lacks = lacks
    L.lacks_since = C.cycle
    C.active ^= bit
    if lacks == LACKS_REPLY_ROOM:
        C.lack_reply_room |= bit


@kernel(void, S_t, i64)
def slice_retry(S, slice_index):
    """A fill has come, or room has been made: a sleeping slice tries again; its wait is counted."""
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    if L.lacks == 0:
        return
    if L.lacks == LACKS_REPLY_ROOM:
        C.l2_reply_blocked_cycles += C.cycle - L.lacks_since
        C.lack_reply_room ^= np.int64(1) << slice_index
    else:
        C.l2_reservation_fails += C.cycle - L.lacks_since
    L.lacks = 0
    C.active |= np.int64(1) << slice_index


@kernel(void, S_t)
def replies_left(S):
    """Flits have left the reply network's inputs: wake the slices that waited for the room."""
    C = l2(S.p_l2, 0)
    T = network(noc(S.p_noc, 0).p_networks, REPLIES)
    mask = T.freed & C.lack_reply_room
    T.freed = 0
    while mask != 0:
        slice_retry(S, ctz(mask))
        mask &= mask - 1


@kernel(void, S_t, i64)
def output_unblock(S, slice_index):
    """The slice has taken a packet from its queue: the crossbar may look at this output again."""
    N = noc(S.p_noc, 0)
    T = network(N.p_networks, REQUESTS)
    bit = np.int64(1) << slice_index
    if (T.blocked & bit) == 0:
        return
    O = output_port(T.p_outputs, slice_index)
    N.request_blocked_cycles += N.cycle - O.blocked_since
    T.blocked ^= bit
    if O.requests != 0:
        T.active |= bit


@kernel(void, S_t, i64)
def l2_tick(S, slice_index):
    """One L2 clock of an active slice: replies of fills first, then the first packet of the queue."""
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    N = noc(S.p_noc, 0)
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
        L.next_cycle = C.cycle + 1
        C.l2_busy_cycles += 1
        return
    if L.head == L.tail:
        C.active ^= np.int64(1) << slice_index
        return
    index = load(L.p_ring, L.head & L.ring_mask)
    P = packet(N.p_packets, index)
    if P.ready > S.now:
        C.active ^= np.int64(1) << slice_index
        if L.waiting == 0:
            L.waiting = 1
            wheel_push(S, P.ready, EV_L2_READY, slice_index, 0)
        return
    sectors = popcount(P.sectors)
    if P.kind == WRITE or P.kind == UNIT_WRITE or P.kind == MFF_WRITE:
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
        L.next_cycle = C.cycle + cycles
        C.l2_busy_cycles += cycles
        output_unblock(S, slice_index)


@kernel(i64, S_t)
def dram_candidates(S):
    """Slices whose next request DRAM might take: not those it has refused and done nothing since."""
    C = l2(S.p_l2, 0)
    if C.refused != 0:
        D = dram(S.p_dram, 0)
        done = D.dram_reads + D.dram_writes + D.dram_forwarded_reads + D.dram_merged_writes
        if done != C.refused_at:
            C.refused = 0
            C.refused_at = done
    return C.to_dram & (C.refused ^ -1)


@kernel(void, S_t, i64)
def l2_to_dram(S, slice_index):
    """Offer the first request of a slice to its channel."""
    C = l2(S.p_l2, 0)
    L = l2_slice(C.p_slices, slice_index)
    word = load(L.p_dram_token, L.dram_head & C.dram_ring_mask)
    address = load(L.p_dram_address, L.dram_head & C.dram_ring_mask)
    if C.ideal_dram != 0:
        if word & 1 == 0:
            wheel_push(S, S.now + C.ideal_dram_latency, EV_DRAM_DONE, word >> 1, slice_index // C.slices_per_channel)
    elif dram_accept(S, slice_index // C.slices_per_channel, address, word & 1, word >> 1) == 0:
        C.refused |= np.int64(1) << slice_index
        return
    L.dram_head += 1
    slice_retry(S, slice_index)
    if L.dram_head == L.dram_tail:
        C.to_dram ^= np.int64(1) << slice_index


@kernel(void, S_t, i64, i64)
def queue_reply(S, slice_index, index):
    """Append a reply to the slice's list of replies made ready by fills."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    mine = l2_slice(C.p_slices, slice_index)
    packet(N.p_packets, index).next = -1
    if mine.reply_last < 0:
        mine.reply_first = index
    else:
        packet(N.p_packets, mine.reply_last).next = index
    mine.reply_last = index
    C.active |= np.int64(1) << slice_index
    slice_retry(S, slice_index)


@kernel(void, S_t, i64)
def l2_fill(S, token):
    """EV_DRAM_DONE: a sector is here; every packet that waits for it gets a reply."""
    C = l2(S.p_l2, 0)
    N = noc(S.p_noc, 0)
    sector = ((np.int64(1) << C.read_sectors) - 1) << (token & 3)
    mshr_index = token >> 2
    slice_index = mshr_index // C.mshrs
    mine = l2_slice(C.p_slices, slice_index)
    M = l2_mshr(C.p_mshrs, mshr_index)
    L = l2_line(C.p_lines, M.row)
    slice_retry(S, slice_index)
    C.l2_fills += C.read_sectors
    L.valid |= sector
    L.pending ^= sector
    if C.whole_line == 0:
        mine.fills_in_flight -= C.read_sectors
    elif L.pending == 0:
        mine.fills_in_flight -= 1
    if C.whole_line != 0 and L.pending != 0:
        return  # replies leave when the line is complete
    done = np.int64(ALL_SECTORS) if C.whole_line != 0 else sector
    previous = np.int64(-1)
    index = M.first
    while index >= 0:
        P = packet(N.p_packets, index)
        following = P.next
        ready = P.sectors & done
        if ready != 0:
            if ready == P.sectors:  # all of it: the packet itself becomes the reply
                if previous < 0:
                    M.first = following
                else:
                    packet(N.p_packets, previous).next = following
                if following < 0:
                    M.last = previous
                M.waiters -= 1
                reply = index
            else:
                reply = packet_new(S)
                Q = packet(N.p_packets, reply)
                Q.kind, Q.line, Q.port, Q.token, Q.array = P.kind, P.line, P.port, P.token, P.array
                Q.partial = P.partial
                Q.sectors = ready
                P.sectors ^= ready
                previous = index
            queue_reply(S, slice_index, reply)
        else:
            previous = index
        index = following
    if L.pending == 0:
        M.next = mine.mshr_free
        mine.mshr_free = mshr_index - slice_index * C.mshrs
