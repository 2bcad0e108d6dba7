"""The SM's side of the memory fast-forward unit: commands out, words and completion messages in.

The load-store unit collects the calls of a warp's threads into one warp-level command and sends it through the request
network (MFF paper, section 5). Words come back one by one, each with its warp and thread number, and go to the target
in shared memory; the completion message lets the warp go on once they are all there.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.engine.l1.l1_state import NO_NETWORK
from warpsift.engine.noc.ports import REQUESTS, flits_of, noc, noc_inject, noc_room, packet
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.engine.sm.sm_state import MEMORY_OPS, WARPS, memory_op, sms
from warpsift.engine.sm.warps import memory_op_check
from warpsift.simt.stream import POST
from warpsift.units.mff.mff_state import SOCKET, THREADS, command_row, mff

ENTRY_BITS = 38  # C index (32) and size (6) of a thread
ERROR_COMMANDS_EXHAUSTED = 5
ERROR_NOTHING_BOUND = 6


@compiled(i64, S_t)
def command_new(S):
    M = mff(S)
    index = M.command_free
    if index < 0:
        S.error = ERROR_COMMANDS_EXHAUSTED
        return np.int64(0)
    M.command_free = command_row(M.p_commands, index).next
    M.commands_used += 1
    return index


@compiled(void, S_t, i64)
def command_free(S, index):
    M = mff(S)
    command_row(M.p_commands, index).next = M.command_free
    M.command_free = index
    M.commands_used -= 1


@compiled(i64, S_t, i64, i64)
def mff_write_command(S, sm, op_index):
    """Put the threads' C indices and sizes of a memory instruction into a command; gives the command."""
    M = mff(S)
    E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index)
    index = command_new(S)
    K = command_row(M.p_commands, index)
    K.scatter = 1 if E.kind == POST else 0
    K.sm = sm
    K.op = op_index
    K.warp = sm * WARPS + E.warp
    K.edges_address = M.in_edges if E.passes & 1 == 0 else M.out_edges  # OP.detail
    K.array = E.array
    K.entries = E.end - E.cursor
    K.entry = 0
    K.offset = 0
    K.words_left = 0
    K.words_under_way = 0
    K.completed = 0
    for k in range(K.entries):
        entry = load(E.p_transactions, E.cursor + k)
        store(M.p_entries, index * THREADS + k, entry)
        K.words_left += entry & 255
    if K.edges_address == 0 or (K.scatter == 0 and M.vertex_values == 0) or (K.scatter != 0 and M.active_list == 0):
        S.error = ERROR_NOTHING_BOUND
    return index


@compiled(i64, S_t, i64, i64)
def mff_send(S, sm, op_index):
    """Send a warp's command; 0, or why it could not be sent. Commands are dealt to the memory units' ports in turn."""
    M = mff(S)
    N = noc(S)
    E = memory_op(sms(S).p_memory_ops, sm * MEMORY_OPS + op_index)
    flits = flits_of(S, ((E.end - E.cursor) * ENTRY_BITS + 7) // 8)
    if noc_room(S, REQUESTS, sm, flits) == 0:
        return np.int64(NO_NETWORK)
    command = mff_write_command(S, sm, op_index)
    index = unit_packet(S, np.int64(REQUESTS), np.int64(SOCKET), sm, M.next_port, flits)
    P = packet(N.p_packets, index)
    P.token = command
    P.ready = S.now + sms(S).lsu_latency
    M.next_port = M.next_port + 1 if M.next_port + 1 < M.units else 0
    M.mff_command_flits += flits
    noc_inject(S, REQUESTS, sm, index)
    if E.kind != POST:
        E.remaining += 1
    E.cursor = E.end
    return np.int64(0)


@compiled(void, S_t, i64)
def mff_receive(S, index):
    """A word or a completion message has reached its SM."""
    M = mff(S)
    P = packet(noc(S).p_packets, index)
    command = P.token
    K = command_row(M.p_commands, command)
    if P.partial > 0:  # words
        K.words_under_way -= P.partial
        M.words_received += P.partial
    else:
        M.messages_received += 1
        K.completed = 1
    if K.completed != 0 and K.words_under_way == 0:
        E = memory_op(sms(S).p_memory_ops, K.sm * MEMORY_OPS + K.op)
        E.remaining -= 1
        memory_op_check(S, K.sm, K.op)
        command_free(S, command)
