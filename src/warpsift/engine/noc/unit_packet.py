"""Packets between a special unit beside the L2 slices and its clients: SMs, or the unit's own crossbar ports."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import ARRAYS
from warpsift.engine.core.jit import compiled, i64
from warpsift.engine.noc.ports import REQUESTS, UNIT_ANSWER, UNIT_COMMAND, noc, packet, packet_new


@compiled(i64, S_t, i64, i64, i64, i64, i64)
def unit_packet(S, net, unit, client, slice_index, flits):
    """A new packet of the unit in socket `unit`: a client's command to it, or its answer, by the network.

    The caller writes its token (and what else is its own), asks `noc_room` before and `noc_inject`s it after.
    """
    index = packet_new(S)
    P = packet(noc(S).p_packets, index)
    P.kind = UNIT_COMMAND if net == REQUESTS else UNIT_ANSWER
    P.unit = unit
    P.line = 0
    P.sectors = 0
    P.partial = 0
    P.port = client
    P.token = 0
    P.destination = slice_index if net == REQUESTS else client
    P.flits = flits
    P.separate = 0
    P.ready = S.now + 1
    P.array = np.int64(ARRAYS - 1)
    return index
