"""Work registers of the memory fast-forward unit that have their data: from C to V state, words out, bits set.

A register in C state reads its C entry from Line Data, becomes V state and goes to the tag unit of the word wanted. In
V state a gather sends the word to the core, a scatter sets the bit in Line Data. The last word of a command is followed
by the completion message, and the job entry is free (MFF paper, section 5).
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, load32, store
from warpsift.engine.noc.ports import REPLIES, flits_of, noc, noc_inject, noc_room, packet
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.units.mff.mff_command import command_free
from warpsift.units.mff.mff_issue import end_job, queue_lookup
from warpsift.units.mff.mff_state import (
    C_STATE,
    NO_REPLY,
    SOCKET,
    V_STATE,
    command_row,
    mff,
    register_row,
    tag_row,
    unit_row,
)
from warpsift.units.mff.mff_tags import may_be_evicted, release_tag


@compiled(void, S_t, i64)
def chase(S, register):
    """C state to V state: the C entry says which word is wanted."""
    M = mff(S)
    R = register_row(M.p_registers, register)
    vertex = load32(M.memory + R.address)
    R.state = V_STATE
    R.next = -1
    R.last = register
    if command_row(M.p_commands, R.command).scatter == 0:
        R.address = M.vertex_values + 4 * vertex
    elif M.active_bits != 0:
        R.address = M.active_list + 4 * (vertex >> 5)
        R.bits = np.int64(1) << (vertex & 31)
    else:
        R.address = M.active_list + (vertex & -4)
        R.bits = np.int64(1) << (8 * (vertex & 3))
    queue_lookup(S, register)


@compiled(void, S_t, i64, i64)
def finish_word(S, unit, register):
    """A register's word is sent or its bit set: free it; the last one of a command ends the job."""
    M = mff(S)
    R = register_row(M.p_registers, register)
    command = R.command
    R.next = M.register_free
    M.register_free = register
    M.registers_used -= 1
    K = command_row(M.p_commands, command)
    K.words_left -= 1
    if K.words_left > 0:
        return
    if K.scatter != 0:
        end_job(S, command)
        command_free(S, command)
        return
    U = unit_row(M.p_units, unit)
    K.next = -1
    if U.message_last < 0:
        U.message_first = command
    else:
        command_row(M.p_commands, U.message_last).next = command
    U.message_last = command


@compiled(i64, S_t, i64)
def reply_size(S, words):
    """Flits of a reply: the words, and for each beyond the first its thread and number (5 + 5 bits); 0 = message."""
    if words == 0:
        return flits_of(S, np.int64(0))
    return flits_of(S, 4 * words + (10 * (words - 1) + 7) // 8)


@compiled(void, S_t, i64, i64, i64)
def send_reply(S, unit, command, words):
    """A packet of words, or (0 words) a completion message, enters the reply network at the unit's port with room."""
    M = mff(S)
    N = noc(S)
    K = command_row(M.p_commands, command)
    flits = reply_size(S, words)
    index = unit_packet(S, np.int64(REPLIES), np.int64(SOCKET), K.sm, unit, flits)
    P = packet(N.p_packets, index)
    P.partial = words
    P.token = command
    K.words_under_way += words
    M.mff_reply_flits += flits
    noc_inject(S, REPLIES, unit, index)


@compiled(void, S_t, i64)
def log_word(S, register):
    """Test mode: which word was sent, for whom."""
    M = mff(S)
    R = register_row(M.p_registers, register)
    if M.logged < M.log_rows:
        row = M.logged * 4
        store(M.p_log, row, command_row(M.p_commands, R.command).warp)
        store(M.p_log, row + 1, R.lane)
        store(M.p_log, row + 2, R.a_offset)
        store(M.p_log, row + 3, load32(M.memory + R.address))
    M.logged += 1


@compiled(i64, S_t, i64, i64)
def send_words(S, unit, tag):
    """Send the first word that waits for a tag, and others of its warp right behind it: how many, 0 = no room."""
    M = mff(S)
    T = tag_row(M.p_tags, tag)
    command = register_row(M.p_registers, T.first).command
    words = np.int64(1)
    following = register_row(M.p_registers, T.first).next
    while words < M.words_per_reply and following >= 0 and register_row(M.p_registers, following).command == command:
        following = register_row(M.p_registers, following).next
        words += 1
    if noc_room(S, REPLIES, unit, reply_size(S, words)) == 0:
        return np.int64(0)
    send_reply(S, unit, command, words)
    for _ in range(words):
        register = T.first
        T.first = register_row(M.p_registers, register).next
        if M.log_rows > 0:
            log_word(S, register)
        finish_word(S, unit, register)
    M.mff_words_sent += words
    M.mff_register_accesses += words
    M.mff_line_accesses += words
    return words


@compiled(i64, S_t, i64, i64)
def serve_register(S, unit, tag):
    """Update the first register that waits for a tag's data, C state or a bit to set."""
    M = mff(S)
    T = tag_row(M.p_tags, tag)
    register = T.first
    R = register_row(M.p_registers, register)
    following = R.next
    if R.state == C_STATE:
        chase(S, register)
    else:
        word = tag * 32 + ((R.address >> 2) & 31)
        store(M.p_line_bits, word, load(M.p_line_bits, word) | R.bits)
        T.dirty |= np.int64(1) << ((R.address >> 5) & 3)
        M.mff_scatter_bits += 1
        finish_word(S, unit, register)
    T.first = following
    M.mff_register_accesses += 1
    M.mff_line_accesses += 1
    return np.int64(1)


@compiled(i64, S_t, i64)
def serve(S, unit):
    """Register updates of one cycle; gives the replies that are left."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    updates = M.updates - U.updates_owed
    replies = M.replies
    while updates > 0 and U.serve_first >= 0:
        tag = U.serve_first
        T = tag_row(M.p_tags, tag)
        if T.arrived != T.requested:  # a sector was asked for meanwhile: its arrival queues the tag again
            T.queued = 0
            U.serve_first = T.serve_next
            if U.serve_first < 0:
                U.serve_last = -1
            continue
        R = register_row(M.p_registers, T.first)
        if R.state == C_STATE or command_row(M.p_commands, R.command).scatter != 0:
            updates -= serve_register(S, unit, tag)
        else:
            if replies == 0:
                break
            words = send_words(S, unit, tag)
            if words == 0:
                M.mff_stall_reply_cycles += 1
                U.stalled = NO_REPLY
                break
            replies -= 1
            updates -= words
        if T.first < 0:
            T.last = -1
            T.queued = 0
            U.serve_first = T.serve_next
            if U.serve_first < 0:
                U.serve_last = -1
            if T.dirty != 0:
                may_be_evicted(S, unit, tag)
            else:
                release_tag(S, unit, tag)
    U.updates_owed = -updates if updates < 0 else 0
    return replies


@compiled(void, S_t, i64, i64)
def send_messages(S, unit, replies):
    """Completion messages, with what is left of the reply port."""
    M = mff(S)
    U = unit_row(M.p_units, unit)
    while replies > 0 and U.message_first >= 0:
        if noc_room(S, REPLIES, unit, flits_of(S, np.int64(0))) == 0:
            U.stalled = NO_REPLY
            return
        command = U.message_first
        U.message_first = command_row(M.p_commands, command).next
        if U.message_first < 0:
            U.message_last = -1
        send_reply(S, unit, command, np.int64(0))
        M.mff_completion_messages += 1
        end_job(S, command)
        replies -= 1
