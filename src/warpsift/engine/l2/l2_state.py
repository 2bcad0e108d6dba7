"""What an L2 slice consists of: tags and line states, MSHRs, the queues in front of it and towards DRAM."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, component
from warpsift.engine.core.cache_sets import LINE
from warpsift.engine.core.division import shift_of
from warpsift.engine.core.masks import words_for
from warpsift.engine.core.settings import SETTING
from warpsift.engine.noc.ports import packet_pool
from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE
from warpsift.machines.rules import lines_of_rows, written_miss_requests
from warpsift.machines.spec import Machine

# How lines are dealt out to slices: address_map.
MODULO, HASHED, RANDOM = 0, 1, 2
MAPPINGS = {"modulo": MODULO, "hashed": HASHED, "random": RANDOM}

WORDS = 0xFFFFFFFF  # of a line, as a mask

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
        ("p_write_address", np.int64),  # with `row_writeback`: ring of writes towards DRAM, the other has reads ...
        ("write_head", np.int64),
        ("write_tail", np.int64),
        ("row_next", np.int64),  # ... and what of a DRAM row will follow: these lines of the channel
        ("row_end", np.int64),
        ("mshr_free", np.int64),
        ("fills_in_flight", np.int64),  # sectors, or lines when fill_bytes is 128
    ],
    align=True,
)
MSHR = np.dtype(
    [
        ("next", np.int32),  # free list
        ("row", np.int32),  # row of the tag table
        ("first", np.int32),  # waiting packets, in order of arrival
        ("last", np.int32),
        ("waiters", np.int32),
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
    "l2_row_writebacks": "of these, of lines that stay: their DRAM row was written for another line's sake",
    "l2_fills": "sectors that came from DRAM, or from the other half",
    "l2_far_fills": "of these, copied from the other half of the L2",
    "l2_reservation_fails": "slice-cycles in which the first packet lacked a line, an MSHR or DRAM queue room",
    "l2_reply_blocked_cycles": "slice-cycles in which a ready reply found no room in the reply network",
    "l2_busy_cycles": "slice-cycles of the data port in use",
}
L2 = np.dtype(
    [
        ("slices", SETTING),
        ("sets", SETTING),
        ("sets_shift", SETTING),  # division.shift_of
        ("ways", SETTING),
        ("whole_line", SETTING),
        ("read_sectors", SETTING),  # sectors that one DRAM read brings, and one DRAM write takes
        ("write_sectors", SETTING),
        ("mshrs", SETTING),
        ("merges", SETTING),
        ("latency", SETTING),
        ("queue_entries", SETTING),
        ("p_port_cycles", np.int64),  # clocks of the data port by number of sectors
        ("dram_ring_mask", SETTING),
        ("dram_queue", SETTING),
        ("interleave_lines", SETTING),
        ("interleave_shift", SETTING),
        ("channels", SETTING),
        ("channels_shift", SETTING),
        ("slices_per_channel", SETTING),
        ("slices_per_channel_shift", SETTING),
        ("mapping", SETTING),
        ("fills_take_port", SETTING),
        ("hashed_index", SETTING),
        ("words_kept", SETTING),  # 1: `p_written_words` holds the words of sectors that are written in part
        ("fetch_written", SETTING),  # 1: a write that misses fetches its line ...
        ("row_writeback", SETTING),  # 1: the written lines of a DRAM row leave together ...
        ("row_lines", SETTING),  # ... so many consecutive lines of a channel
        ("row_lines_shift", SETTING),
        ("miss_requests", SETTING),  # ... and asks DRAM so often at most: to evict, to write, to fetch
        ("atomic_cycles", SETTING),
        ("atomic_lanes", SETTING),
        ("repeats_as_packets", SETTING),
        ("ideal_l2", SETTING),
        ("ideal_dram", SETTING),
        ("ideal_dram_latency", SETTING),
        ("cycle", np.int64),  # of the L2 clock
        ("khz", SETTING),
        ("core_khz", SETTING),
        ("stamp", np.int64),
        ("fetching", np.int64),  # sectors on the way from DRAM; those of a written line have no packet that waits
        ("halves", SETTING),
        ("half_slices", SETTING),
        ("far_latency", SETTING),
        ("words", SETTING),  # of a mask of slices
        ("p_active", np.int64),  # masks: slices with something to do
        ("p_to_dram", np.int64),  # slices with requests for DRAM
        ("p_refused", np.int64),  # of these, those whose channel was full ...
        ("refused_at", np.int64),  # ... when DRAM had done so many commands
        ("p_lack_reply_room", np.int64),  # slices that sleep until a reply has left
        ("p_slices", np.int64),
        ("p_tags", np.int64),  # line numbers, -1 = empty
        ("p_lines", np.int64),
        ("p_written_words", np.int64),  # written words of each line's sectors that are not valid, as masks
        ("p_mshrs", np.int64),
        *[(name, np.int64) for name in COUNTERS],
        ("touched_sectors", np.int64),  # that touches without time (engine/leap) would have moved to and from DRAM
    ],
    align=True,
)
l2 = component("l2", L2)
l2_slice = accessor(SLICE)
l2_mshr = accessor(MSHR)


def allocate(arena: Arena, machine: Machine) -> None:
    spec, dram = machine.l2, machine.dram
    C = arena.record("l2", L2)
    C.slices, C.ways = spec.slices, spec.ways
    C.sets = spec.size_bytes // (spec.slices * spec.ways * LINE_BYTES)
    C.sets_shift = shift_of(int(C.sets))
    C.whole_line = spec.fill_bytes == LINE_BYTES
    C.read_sectors, C.write_sectors = (
        min(bytes_ // SECTOR_BYTES, SECTORS_PER_LINE) for bytes_ in (dram.request_bytes, dram.burst_bytes)
    )
    C.mshrs, C.merges = spec.mshrs, spec.mshr_merges
    C.miss_requests = written_miss_requests(dram)
    C.row_writeback, C.row_lines = spec.writeback == "row", lines_of_rows(dram)
    C.row_lines_shift = shift_of(int(C.row_lines))
    C.latency, C.queue_entries = spec.latency_cycles, spec.queue_entries
    clocks = [-(-sectors * SECTOR_BYTES // spec.port_bytes_per_cycle) for sectors in range(SECTORS_PER_LINE + 1)]
    C.p_port_cycles = arena.adopt("l2.port_cycles", np.array(clocks, np.int64))
    C.interleave_lines = spec.interleave_bytes // LINE_BYTES
    C.channels, C.slices_per_channel = dram.channels, spec.slices // dram.channels
    C.interleave_shift, C.channels_shift = shift_of(int(C.interleave_lines)), shift_of(dram.channels)
    C.slices_per_channel_shift = shift_of(int(C.slices_per_channel))
    C.fills_take_port = spec.fills_take_port
    C.mapping, C.hashed_index = MAPPINGS[spec.mapping], spec.hashed_index
    C.atomic_cycles, C.atomic_lanes = spec.atomic_cycles, spec.atomic_lanes
    C.repeats_as_packets = spec.atomic_repeats_as_packets
    C.ideal_l2, C.ideal_dram = machine.ideal.l2, machine.ideal.dram
    clocks_to_core = machine.clocks.core_mhz / dram.clock_mhz
    unloaded = (dram.timing.rcd_rd + dram.timing.cl + dram.burst_clocks) * clocks_to_core
    C.ideal_dram_latency = round(unloaded) + dram.front_latency_core_cycles + dram.back_latency_core_cycles
    C.khz, C.core_khz = round(machine.clocks.l2_mhz * 1000), round(machine.clocks.core_mhz * 1000)
    C.halves, C.half_slices, C.far_latency = spec.halves, spec.slices // 2, spec.far_latency_cycles
    C.words = words_for(spec.slices)
    for mask in ("active", "to_dram", "refused", "lack_reply_room"):
        C[f"p_{mask}"] = arena.table(f"l2.{mask}", np.int64, words_for(spec.slices))
    C.p_slices = arena.table("l2.slices", SLICE, spec.slices)
    rows = spec.slices * C.sets * spec.ways
    C.p_tags = arena.table("l2.tags", np.int64, rows)
    arena.arrays["l2.tags"][:] = -1
    C.p_lines = arena.table("l2.lines", LINE, rows)
    C.words_kept, C.fetch_written = spec.written_sectors == "masked", spec.written_sectors == "fetched"
    C.p_written_words = arena.table("l2.words", np.int64, rows if C.words_kept else 1)
    C.p_mshrs = arena.table("l2.mshrs", MSHR, spec.slices * spec.mshrs)
    C.dram_queue = spec.dram_queue_entries
    dram_ring = 1 << (spec.dram_queue_entries - 1).bit_length()
    C.dram_ring_mask = dram_ring - 1
    # The pipeline takes at most one packet per network cycle, so this ring cannot overflow; an ideal network
    # delivers any number at once.
    depth = spec.latency_cycles + spec.queue_entries + machine.noc.hop_latency_cycles + 64
    ring = packet_pool(machine) if machine.ideal.noc else 1 << (2 * depth - 1).bit_length()
    for index in range(spec.slices):
        row = arena.arrays["l2.slices"][index]
        row.p_ring, row.ring_mask = arena.table(f"l2.ring{index}", np.int64, ring), ring - 1
        row.p_dram_token = arena.table(f"l2.dram_token{index}", np.int64, dram_ring)
        row.p_dram_address = arena.table(f"l2.dram_address{index}", np.int64, dram_ring)
        row.p_write_address = arena.table(f"l2.write_address{index}", np.int64, dram_ring if C.row_writeback else 1)
        row.reply_first = row.reply_last = -1
        mshrs = arena.arrays["l2.mshrs"][index * spec.mshrs : (index + 1) * spec.mshrs]
        mshrs["next"] = np.append(np.arange(1, spec.mshrs), -1)
