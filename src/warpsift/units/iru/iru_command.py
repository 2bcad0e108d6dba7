"""The SM's side of the reorder unit: a warp's command out, its elements in."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.engine.l1.l1_state import NO_NETWORK
from warpsift.engine.noc.ports import REQUESTS, flits_of, noc, noc_inject, noc_room, packet
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.engine.sm.sm_state import MEMORY_OPS, memory_op, sms
from warpsift.engine.sm.warps import memory_op_check
from warpsift.hardware import WARP_SIZE
from warpsift.units.iru.iru_state import SOCKET, iru

COMMAND_BYTES = 4  # the number of the warp's pack
ERROR_NO_STREAM = 7


@compiled(i64, S_t, i64, i64)
def send_command(S, sm, op_index):
    """Send a warp's command; 0, or why it could not be sent. Commands are dealt to the parts by pack."""
    U = iru(S)
    E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index)
    flits = flits_of(S, np.int64(COMMAND_BYTES))
    if noc_room(S, REQUESTS, sm, flits) == 0:
        return np.int64(NO_NETWORK)
    if U.elements == 0:
        S.error = ERROR_NO_STREAM
        return np.int64(0)
    command = sm * MEMORY_OPS + op_index
    number = load(E.p_transactions, E.cursor)
    lanes = min(np.int64(WARP_SIZE), U.kept - WARP_SIZE * number)
    if number >= U.packs:
        lanes = np.int64(1)  # the message that there is nothing
    store(U.p_command_pack, command, number)
    store(U.p_command_lanes, command, (lanes << 8) | lanes)
    index = unit_packet(S, np.int64(REQUESTS), np.int64(SOCKET), sm, number % U.parts, flits)
    P = packet(noc(S).p_packets, index)
    P.token = command
    P.ready = S.now + sms(S).lsu_latency
    noc_inject(S, REQUESTS, sm, index)
    U.waiting += 1
    E.remaining += 1
    E.cursor = E.end
    return np.int64(0)


@compiled(void, S_t, i64)
def elements_came(S, index):
    """A packet of elements has reached its SM; the last one lets the warp go on."""
    U = iru(S)
    P = packet(noc(S).p_packets, index)
    command = P.token
    left = load(U.p_command_lanes, command) - np.int64(P.partial)
    store(U.p_command_lanes, command, left)
    if left != 0:
        return
    U.waiting -= 1
    sm = command // MEMORY_OPS
    E = memory_op(sms(S).p_memory_ops, command)
    E.remaining -= 1
    memory_op_check(S, sm, command - sm * MEMORY_OPS)
