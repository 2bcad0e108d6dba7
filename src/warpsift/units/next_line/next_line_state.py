"""State of the next-line prefetcher: per slice a queue of lines to ask for, and tags of lines not yet used."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, unit_component
from warpsift.engine.core.masks import words_for
from warpsift.hardware import LINE_BYTES
from warpsift.machines.spec import Machine
from warpsift.units.registry import socket_of

SOCKET = socket_of("next_line")
NO_LINE = -1

COUNTERS = {
    "next_line_triggers": "reads that missed, or that first used a prefetched line",
    "next_line_prefetches": "lines asked of the L2 slices",
    "next_line_useful": "prefetched lines that a read then wanted",
    "next_line_dropped": "lines not asked for, since the queue of their slice was full",
    "next_line_known": "lines not asked for, since they had been prefetched and not yet used",
    "next_line_lookups": "tag lookups",
    "next_line_arrivals": "answers of the slices",
}
SLICE = np.dtype([(name, np.int64) for name in ("head", "tail", "p_lines", "p_ready", "p_tags")], align=True)
NEXT_LINE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "degree",
            "queue_entries",
            "tag_entries",
            "crossing",
            "page_lines",
            "ring_mask",
            "p_slices",
            "p_waiting",  # mask of slices with lines in their queue
            "in_flight",
            *COUNTERS,
        )
    ],
    align=True,
)
next_line = unit_component(SOCKET, NEXT_LINE)
slice_row = accessor(SLICE)


def allocate(arena: Arena, machine: Machine) -> None:
    spec = machine.unit("next_line")
    U = arena.unit_record("next_line", SOCKET, NEXT_LINE)
    U.degree, U.queue_entries, U.tag_entries = spec.degree, spec.queue_entries, spec.tag_entries
    U.crossing, U.page_lines = spec.crossing_cycles, spec.page_bytes // LINE_BYTES
    ring = 1 << int(spec.queue_entries - 1).bit_length()
    U.ring_mask = ring - 1
    U.p_waiting = arena.table("next_line.waiting", np.int64, words_for(machine.l2.slices))
    U.p_slices = arena.table("next_line.slices", SLICE, machine.l2.slices)
    for index, row in enumerate(arena.arrays["next_line.slices"]):
        row.p_lines = arena.table(f"next_line.lines{index}", np.int64, ring)
        row.p_ready = arena.table(f"next_line.ready{index}", np.int64, ring)
        row.p_tags = arena.adopt(f"next_line.tags{index}", np.full(spec.tag_entries, NO_LINE, np.int64))
