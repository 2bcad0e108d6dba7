"""Records of the SCU's stations at the L2 slices: probes that wait, sets that are held, answers that wait to be sent.

The probes themselves are rows of the SCU's trace (`scu_state`), known here by their number in the operation. Tables of
one word per probe link those that share a packet and those that wait for one set.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, unit_component
from warpsift.engine.core.masks import words_for
from warpsift.machines.spec import Machine
from warpsift.units.registry import socket_of
from warpsift.units.scu.scu_state import PROBES

SOCKET = socket_of("scu_slice")
NOBODY = -1  # in place of a probe's number

# What a set's present probe does: nothing, being decided, then its group is read and its element written.
IDLE, DECIDING, MUST_READ, MUST_WRITE = range(4)
# What an answer of the slice is for; the token is number << 2 | this
FOR_SET, FOR_GROUP, FOR_WRITE = 0, 1, 2

COUNTERS = {
    "scu_slice_probes": "probes decided at the slices",
    "scu_slice_packets": "packets of probes that reached a slice",
    "scu_slice_answers": "packets of probes answered",
    "scu_slice_set_reads": "sets read from a slice",
    "scu_slice_sets_found": "probes whose set the station held, or had asked for",
    "scu_slice_set_writes": "sets written back to a slice",
    "scu_slice_group_reads": "reads of evicted groups, in lines",
    "scu_slice_group_writes": "elements written to groups",
    "scu_slice_stall_sets_cycles": "L2 clocks in which a probe waited for room for its set, summed over slices",
    "scu_slice_stall_slice_cycles": "L2 clocks in which a station waited for its slice to take an access",
    "scu_slice_stall_answer_cycles": "L2 clocks in which an answer waited for room in the reply network",
}

SET = np.dtype(
    [
        (name, np.int64)
        for name in (
            "line",
            "sectors",
            "left",  # sectors that have not come
            "first",  # of the probes that wait for it
            "last",
            "present",  # the probe that is being decided
            "stage",
            "done_at",  # L2 clock
            "dirty",
        )
    ],
    align=True,
)
STATION = np.dtype(
    [
        (name, np.int64)
        for name in (
            "used",  # mask of sets asked for or held ...
            "here",  # ... and of those whose words have come
            "queue_head",
            "queue_tail",
            "p_queue",  # ring of probes whose set has not been looked for
            "answer_head",
            "answer_tail",
            "p_answers",  # ring of packets, by their first probe, of which all probes are decided
        )
    ],
    align=True,
)
SCU_SLICE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "probes_per_slice",
            "sets_per_slice",
            "decision",
            "ring_mask",
            "slices",
            "words",
            "p_active",  # mask of slices whose station may have something to do
            "p_stations",
            "p_sets",
            # the SCU's end
            "probe_bytes",  # of a probe in a packet
            "packet_probes",  # that fit one packet
            "answer_rows",  # probes, or groups, for which the SCU has room
            "rows_held",
            "p_credits",  # per slice: probes that may still be sent
            "p_open_at",  # per slice: core cycle of the packet that probes of the same cycle may join ...
            "p_open_first",  # ... its first probe ...
            "p_open_last",
            "p_open_probes",  # ... and how many it has
            # per probe
            "p_packet_next",  # the next one of its packet
            "p_packet_left",  # of a packet's first: probes not decided ...
            "p_packet_groups",  # ... and groups that the answer has still to bring
            "p_packet_first",
            "p_answered",
            "p_set_next",  # the next one that waits for its set
            "p_group_left",  # sectors of its group that have not come
            # in the order in which probes were decided: for tests
            "p_decided",
            "decided",
            "held",  # sets, over all stations
            *COUNTERS,
        )
    ],
    align=True,
)
scu_slice = unit_component(SOCKET, SCU_SLICE)
station_row = accessor(STATION)
set_row = accessor(SET)

_PER_PROBE = (
    "packet_next", "packet_left", "packet_groups", "packet_first", "answered", "set_next", "group_left", "decided",
)  # fmt: skip


def allocate(arena: Arena, machine: Machine) -> None:
    spec = machine.unit("scu_slice")
    B = arena.unit_record("scu_slice", SOCKET, SCU_SLICE)
    slices = machine.l2.slices
    B.probes_per_slice, B.sets_per_slice, B.decision = spec.probes_per_slice, spec.sets_per_slice, spec.decision_cycles
    B.slices, B.words = slices, words_for(slices)
    ring = 1 << int(spec.probes_per_slice - 1).bit_length()
    B.ring_mask = ring - 1
    B.p_active = arena.table("scu_slice.active", np.int64, B.words)
    B.p_stations = arena.table("scu_slice.stations", STATION, slices)
    B.p_sets = arena.table("scu_slice.sets", SET, slices * spec.sets_per_slice)
    for index, row in enumerate(arena.arrays["scu_slice.stations"]):
        row.p_queue = arena.table(f"scu_slice.queue{index}", np.int64, ring)
        row.p_answers = arena.table(f"scu_slice.answers{index}", np.int64, ring)
    B.p_credits = arena.adopt("scu_slice.credits", np.full(slices, spec.probes_per_slice, np.int64))
    for name in ("open_at", "open_first", "open_last", "open_probes"):
        B[f"p_{name}"] = arena.table(f"scu_slice.{name}", np.int64, slices)
    for name in _PER_PROBE:
        B[f"p_{name}"] = arena.table(f"scu_slice.{name}", np.int64, PROBES)
