"""How a unit that sits beside an L2 slice reads and writes through it: no network, one packet per L2 clock and slice.

The answer comes back as the call ARRIVE (unit_socket.py) with the same packet, once for each group of sectors that
became ready together; the unit frees it.
"""

from __future__ import annotations

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.l2.l2_queue import l2_enqueue
from warpsift.engine.noc.ports import noc, packet, packet_new


@compiled(i64, S_t, i64, i64, i64)
def slice_packet(S, unit, kind, line):
    """A packet of a unit to the slice of a line, SLICE_READ or SLICE_WRITE; the unit fills in sectors and token."""
    index = packet_new(S)
    P = packet(noc(S).p_packets, index)
    P.kind = kind
    P.unit = unit
    P.line = line
    P.partial = 0
    P.port = -1
    P.flits = 0
    P.separate = 0
    return index


@compiled(void, S_t, i64, i64)
def to_slice(S, slice_index, index):
    """Hand a packet to the slice (its queue has room: `l2_full`)."""
    packet(noc(S).p_packets, index).destination = slice_index
    l2_enqueue(S, slice_index, index)
