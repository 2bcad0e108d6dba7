"""Records of the parts at the L2 slices: elements on their way and waiting, groups that go back, and who has room.

A part has two ends. The SCU's knows the open packet and the elements that may still be sent; the slice's has a queue, a
hash and groups. Both are one row here, since what passes between them does so in order: the ring `p_queue` holds the
elements of the packets under way and those that have come.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, unit_component
from warpsift.engine.core.masks import words_for
from warpsift.machines.spec import Machine
from warpsift.units.registry import socket_of
from warpsift.units.scu.iscu.iscu_spec import WORD_BYTES, landing_elements
from warpsift.units.scu.scu_state import PROBES

SOCKET = socket_of("iscu")
NOBODY = -1

COUNTERS = {
    "iscu_elements": "elements that parts took",
    "iscu_filter_probes": "of these, elements that were looked up in a filter",
    "iscu_filtered": "elements that a filter dropped",
    "iscu_merged": "elements merged with one that was in the hash",
    "iscu_groups": "entries of the hash that were emptied",
    "iscu_returned": "their elements, sent back to the SCU",
    "iscu_packets": "packets from the SCU to parts that carry elements",
    "iscu_group_packets": "packets of groups from parts to the SCU",
    "iscu_credit_packets": "packets that say nothing but that there is room, or that the stream has ended, both ways",
    "iscu_stall_ready_cycles": "L2 clocks in which a part waited for room for an emptied entry, summed over parts",
    "iscu_stall_landing_cycles": "L2 clocks in which a group waited for room at the SCU, summed over parts",
    "iscu_stall_reply_cycles": "L2 clocks in which a group waited for room in the reply network, summed over parts",
}

# Set to 0 when an operation begins.
_PART_OPERATION = (
    # the SCU's end
    "open",  # elements in the packet that is being filled ...
    "opened_at",  # ... since this core cycle
    "sent",  # elements put into packets
    "ended",  # 1: told that the stream is at its end
    "credits",  # elements that may still be sent
    "owed",  # elements that the Data Store has taken, and of which the part has not been told
    "land_head",
    "land_tail",
    "land_left",  # elements left of the first packet that has landed
    # the slice's end
    "arrived",
    "taken",
    "told",  # elements taken of which the SCU has been told
    "hash_free_at",  # L2 clock
    "end_came",
    "flush_at",  # the next group of the flush ...
    "flush_end",
    "ready_head",
    "ready_tail",
    "group_left",  # elements left of the first group
    "landing",  # elements for which the SCU has room
)
PART = np.dtype([(name, np.int64) for name in ("p_queue", "p_ready", "p_landed", *_PART_OPERATION)], align=True)

_OPERATION = (
    "element_bytes",
    "columns",
    "packet_elements",  # that fit one flit
    "landing_share",
    "filters",
    "active",  # parts that have got elements and not emptied their hash
    "opened",  # packets that are being filled
    "returned",  # elements sent back
    "stored",  # elements that the Data Store has taken
    "words",  # columns of the present element that it has
    "taking",  # part whose group it takes; NOBODY: none
    "turn",  # part that may send first
)
ISCU = np.dtype(
    [
        (name, np.int64)
        for name in (
            "parts",
            "words_of_mask",
            "queue_elements",
            "queue_mask",
            "ready_groups",
            "ready_mask",
            "land_mask",
            "gather",
            "p_parts",
            "p_busy",  # mask of parts that may have something to do at their slice
            "p_landed",  # mask of parts of which something has landed
            "p_port_sent",  # per part, of which the first are used: core cycle in which a port last sent
            "p_trace",  # ring of elements, by their number
            "p_flush",  # groups of the flush, part by part
            *_OPERATION,
            *COUNTERS,
        )
    ],
    align=True,
)
iscu = unit_component(SOCKET, ISCU)
part_row = accessor(PART)


def _ring(entries: int) -> int:
    return 1 << int(max(entries, 1) - 1).bit_length()


def allocate(arena: Arena, machine: Machine) -> None:
    spec, parts = machine.unit("iscu"), machine.l2.slices
    B = arena.unit_record("iscu", SOCKET, ISCU)
    B.parts, B.words_of_mask = parts, words_for(parts)
    B.queue_elements, B.ready_groups, B.gather = spec.queue_elements, spec.ready_groups, spec.gather_cycles
    landing = landing_elements(machine.unit("scu"), parts, WORD_BYTES)
    sizes = {"queue": _ring(spec.queue_elements), "ready": _ring(spec.ready_groups), "landed": _ring(landing)}
    B.queue_mask, B.ready_mask, B.land_mask = (size - 1 for size in sizes.values())
    B.p_parts = arena.table("iscu.parts", PART, parts)
    for index, row in enumerate(arena.arrays["iscu.parts"]):
        for name, size in sizes.items():
            row[f"p_{name}"] = arena.table(f"iscu.{name}{index}", np.int64, size)
    B.p_busy = arena.table("iscu.busy", np.int64, B.words_of_mask)
    B.p_landed = arena.table("iscu.landed", np.int64, B.words_of_mask)
    B.p_port_sent = arena.table("iscu.port_sent", np.int64, machine.noc.unit_ports + 1)
    B.p_trace = arena.table("iscu.trace", np.int64, PROBES)


def begin(arrays: dict[str, np.ndarray], room: int, element_bytes: int, landing_share: int) -> None:
    """Make the parts ready for an operation; `room`: bytes of a flit behind its header."""
    B, parts = arrays["iscu"][0], arrays["iscu.parts"]
    for name in _PART_OPERATION:
        parts[name] = 0
    for name in _OPERATION:
        B[name] = 0
    B.element_bytes, B.columns = element_bytes, element_bytes // WORD_BYTES
    B.packet_elements = max(1, room // element_bytes) if element_bytes else 1
    B.landing_share, B.taking = landing_share, NOBODY
    parts["credits"], parts["landing"] = B.queue_elements, landing_share
    arrays["iscu.port_sent"][:] = -1
