"""Records of the reorder unit: its parts, the stream that they work on, and commands of warps that wait."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, unit_component
from warpsift.engine.core.masks import words_for
from warpsift.engine.sm.sm_state import MEMORY_OPS
from warpsift.hardware import LINE_BYTES
from warpsift.machines.spec import Machine
from warpsift.units.registry import socket_of

SOCKET = socket_of("iru")
NOBODY = -1
MOST_BANKS = 4

COUNTERS = {
    "iru_loads": "warps that asked for elements",
    "iru_elements": "elements that came to the reordering hash",
    "iru_merged": "of these, elements merged with one that was there",
    "iru_packs": "packs of elements sent to warps",
    "iru_lanes": "their elements",
    "iru_line_reads": "lines of index and value arrays read ahead",
    "iru_ring_hops": "elements times the parts that they passed on the ring",
    "iru_reply_flits": "flits of replies to warps",
    "iru_stall_full_cycles": "L2 clocks in which nothing was read ahead, since the hash and the packs were full",
    "iru_stall_ring_cycles": "L2 clocks in which a part could not send an element on, summed over parts",
    "iru_stall_reply_cycles": "L2 clocks in which a reply waited for room in the reply network, summed over parts",
}
PART = np.dtype(
    [
        (name, np.int64)
        for name in (
            "line_head",
            "line_tail",
            "p_lines",  # ring of lines, by number in the stream, that have come
            "element",  # of the first line: the next one to go
            "under_way",  # lines asked for and not yet sent on
            "asked_at",  # L2 clock of its last reads ahead, of indices ...
            "value_asked_at",  # ... and of values
            "reply_first",  # list of commands that can be answered
            "reply_last",
        )
    ],
    align=True,
)
IRU = np.dtype(
    [
        (name, np.int64)
        for name in (
            "parts",
            "words",
            "capacity",
            "prefetch_lines",
            "rate",
            "ring_queue",
            "hop",
            "line_mask",
            "step_mask",
            "bank_mask",
            "p_hash_free",  # per part, of up to four banks: L2 clock from which it takes another element
            "p_parts",
            "p_busy",  # mask of parts with lines or replies
            # per command (SM x memory instruction): its pack, lanes to come, and the next one of a list
            "p_command_pack",
            "p_command_lanes",
            "p_command_next",
            # lines under way, a ring by number: sectors to come and whether it is sent on, clock from which it is there
            "p_step_left",
            "p_step_ready",
            # the stream of the present launch
            "elements",  # 0: none
            "first_line",
            "value_line",  # 0: no values
            "last_sectors",  # of the last line
            "steps",  # lines
            "next_step",
            "started",  # elements of lines asked for
            "freed",  # elements that take no room any more
            "inserted",
            "packs",
            "flushed",  # first pack that is made at the end
            "kept",
            "lane_bytes",
            "packet_lanes",  # that fit one flit
            "reads",  # sectors that slices have still to bring
            "waiting",  # commands without an answer
            "none_first",  # list of commands that will get nothing
            "p_trace",
            "p_pack_part",
            "p_pack_left",  # comings that a pack still waits for; -1: it is ready
            "p_pack_ready",  # L2 clock
            "p_pack_command",
            *COUNTERS,
        )
    ],
    align=True,
)
iru = unit_component(SOCKET, IRU)
part_row = accessor(PART)
READY = -1


def allocate(arena: Arena, machine: Machine) -> None:
    spec = machine.unit("iru")
    U = arena.unit_record("iru", SOCKET, IRU)
    parts = machine.l2.slices
    U.parts, U.words, U.capacity = parts, words_for(parts), spec.capacity(parts)
    U.prefetch_lines, U.rate, U.ring_queue = spec.prefetch_lines, spec.classified_per_cycle, spec.ring_queue
    U.hop = spec.hop_cycles
    U.bank_mask = spec.hash_banks - 1
    U.p_hash_free = arena.table("iru.hash_free", np.int64, MOST_BANKS * parts)
    U.p_busy = arena.table("iru.busy", np.int64, U.words)
    U.p_parts = arena.table("iru.parts", PART, parts)
    ring = 1 << int(spec.prefetch_lines - 1).bit_length()
    for index, row in enumerate(arena.arrays["iru.parts"]):
        row.p_lines = arena.table(f"iru.lines{index}", np.int64, ring)
        row.reply_first = row.reply_last = NOBODY
    steps = 1 << int(parts * spec.prefetch_lines - 1).bit_length()
    U.line_mask, U.step_mask = ring - 1, steps - 1
    U.p_step_left = arena.table("iru.step_left", np.int64, steps)
    U.p_step_ready = arena.table("iru.step_ready", np.int64, steps)
    for name in ("pack", "lanes", "next"):
        U[f"p_command_{name}"] = arena.table(f"iru.command_{name}", np.int64, machine.sm.count * MEMORY_OPS)
    U.none_first = NOBODY


def begin_stream(arena: Arena, stream: Any, machine: Machine) -> None:
    """Take in the stream of a launch, or none."""
    U = arena.arrays["iru"][0]
    for name in ("trace", "pack_part", "pack_left", "pack_ready", "pack_command"):
        if f"iru.{name}" in arena.arrays:
            arena.release(f"iru.{name}")
    U.elements = 0 if stream is None else stream.count
    for name in ("next_step", "started", "freed", "inserted", "steps", "packs"):
        U[name] = 0
    if not U.elements:
        return
    order, parts = stream.order, arena.arrays["iru.parts"]
    parts["asked_at"] = parts["value_asked_at"] = -1
    arena.arrays["iru.hash_free"][:] = 0
    U.first_line = stream.index.address // LINE_BYTES
    U.value_line = 0 if stream.values is None else stream.values.address // LINE_BYTES
    U.steps = -(-stream.count * 4 // LINE_BYTES)
    last_bytes = stream.count * 4 - (int(U.steps) - 1) * LINE_BYTES
    U.last_sectors = (1 << -(-last_bytes // 32)) - 1
    U.packs, U.flushed, U.kept, U.lane_bytes = order.packs, order.flushed, stream.kept, stream.lane_bytes
    U.packet_lanes = max(1, (machine.noc.flit_bytes - machine.noc.header_bytes) // stream.lane_bytes)
    left = order.pack_elements.copy()
    left[order.flushed :] += 1  # the end of the stream
    U.p_trace = arena.adopt("iru.trace", order.trace)
    U.p_pack_part = arena.adopt("iru.pack_part", order.pack_part)
    U.p_pack_left = arena.adopt("iru.pack_left", left)
    U.p_pack_ready = arena.adopt("iru.pack_ready", np.zeros(order.packs, np.int64))
    U.p_pack_command = arena.adopt("iru.pack_command", np.full(order.packs, NOBODY, np.int64))
