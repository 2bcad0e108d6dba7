"""The reorder unit at the L2 slices, L2 clock by L2 clock: read ahead, classify, hash, reply.

    index array (and values) -> lines that have come -> ring -> reordering hash -> packs -> replies to warps

Lines are asked for in order, each at its own slice, as long as their elements have room. A part sends the elements of
its lines on to the parts that their blocks belong to; a bank of a hash takes one per clock. Which pack an element goes
to is known (iru_reorder.py); a pack is ready when all that it waits for has come.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.array_traffic import ARRAYS
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_add, mask_remove
from warpsift.engine.core.wheel import EV_UNIT, wheel_push
from warpsift.engine.core.words import ctz, load, popcount, store
from warpsift.engine.l2.address_map import slice_of
from warpsift.engine.l2.l2_queue import l2_full
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.l2.slice_client import slice_packet, to_slice
from warpsift.engine.noc.ports import (
    REPLIES,
    SLICE_READ,
    flits_of,
    noc,
    noc_inject,
    noc_room,
    packet,
    packet_free,
)
from warpsift.engine.noc.unit_packet import unit_packet
from warpsift.engine.sm.sm_state import MEMORY_OPS
from warpsift.engine.unit_socket import SOCKET_BITS
from warpsift.units.iru.iru_reorder import COMPLETES_SHIFT, ENTRY_SHIFT, MERGED_SHIFT, PACK_MASK, PACK_SHIFT
from warpsift.units.iru.iru_spec import LINE_ELEMENTS
from warpsift.units.iru.iru_state import MOST_BANKS, NOBODY, READY, SOCKET, iru, part_row

VALUE_SHIFT = 4  # of a line's sectors to come: those of its values lie above those of its indices ...
UNSENT = 1 << 8  # ... and above them, that its elements have not been sent on


# ---- reading ahead ----------------------------------------------------------------------------------------------
@compiled(void, S_t, i64, i64, i64, i64)
def read_line(S, index, line, sectors, token):
    made = slice_packet(S, np.int64(SOCKET), np.int64(SLICE_READ), line)
    P = packet(noc(S).p_packets, made)
    P.sectors = sectors
    P.token = token
    P.array = ARRAYS - 1
    to_slice(S, index, made)
    iru(S).reads += popcount(sectors)
    iru(S).iru_line_reads += 1


@compiled(i64, S_t)
def start_line(S):
    """Ask for the next line of the stream, with its values; 0 if that must wait."""
    U = iru(S)
    now = l2(S).cycle
    step = U.next_step
    elements = min(np.int64(LINE_ELEMENTS), U.elements - step * LINE_ELEMENTS)
    if U.started + elements - U.freed > U.capacity:
        U.iru_stall_full_cycles += 1
        return np.int64(0)
    owner = slice_of(S, U.first_line + step)
    Q = part_row(U.p_parts, owner)
    if load(U.p_step_left, step & U.step_mask) != 0:  # parts run apart no further than all may have under way
        return np.int64(0)
    if Q.under_way >= U.prefetch_lines or Q.asked_at == now or l2_full(S, owner) != 0:
        return np.int64(0)
    sectors = np.int64(ALL_SECTORS) if step + 1 < U.steps else U.last_sectors
    left = sectors | UNSENT
    if U.value_line != 0:
        other = slice_of(S, U.value_line + step)
        if part_row(U.p_parts, other).value_asked_at == now or l2_full(S, other) != 0:
            return np.int64(0)
        part_row(U.p_parts, other).value_asked_at = now
        left |= sectors << VALUE_SHIFT
        read_line(S, other, U.value_line + step, sectors, (step << 1) | 1)
    Q.asked_at = now
    Q.under_way += 1
    read_line(S, owner, U.first_line + step, sectors, step << 1)
    store(U.p_step_left, step & U.step_mask, left)
    store(U.p_step_ready, step & U.step_mask, now)
    U.started += elements
    U.next_step += 1
    return np.int64(1)


@compiled(i64, S_t, i64, i64)
def distance(S, one, other):
    """Parts between two on the ring, the shorter way."""
    U = iru(S)
    way = one - other if one > other else other - one
    return min(way, U.parts - way)


@compiled(void, S_t, i64, i64)
def line_came(S, index, which):
    """A slice brings sectors of a line; values go along the ring to their indices."""
    U = iru(S)
    P = packet(noc(S).p_packets, which)
    step = P.token >> 1
    at = step & U.step_mask
    owner = slice_of(S, U.first_line + step)
    bits = np.int64(P.sectors)
    U.reads -= popcount(bits)
    if P.token & 1 != 0:
        bits <<= VALUE_SHIFT
        ready = l2(S).cycle + U.hop * distance(S, index, owner)
        store(U.p_step_ready, at, max(ready, load(U.p_step_ready, at)))
    packet_free(S, which)
    left = load(U.p_step_left, at) & (bits ^ -1)
    store(U.p_step_left, at, left)
    if left == UNSENT:
        Q = part_row(U.p_parts, owner)
        store(Q.p_lines, Q.line_tail & U.line_mask, step)
        Q.line_tail += 1
        mask_add(U.p_busy, owner)


# ---- the hash ---------------------------------------------------------------------------------------------------
@compiled(void, S_t, i64, i64)
def pack_waits_less(S, number, at):
    """Something that a pack waits for comes at an L2 clock; the last one makes it ready then."""
    U = iru(S)
    C = l2(S)
    left = load(U.p_pack_left, number) - 1
    store(U.p_pack_left, number, left)
    store(U.p_pack_ready, number, max(at, load(U.p_pack_ready, number)))
    if left == 0:
        clocks = load(U.p_pack_ready, number) - C.cycle
        delay = max(np.int64(1), (clocks * C.core_khz + C.khz - 1) // C.khz)
        wheel_push(S, S.now + delay, np.int64(EV_UNIT), (number << SOCKET_BITS) | SOCKET, np.int64(0))


@compiled(void, S_t, i64, i64)
def insert(S, word, at):
    """An element comes to the hash of its part; the last of the stream lets the hash empty all its entries."""
    U = iru(S)
    U.inserted += 1
    U.iru_elements += 1
    merged = (word >> MERGED_SHIFT) & 1
    U.iru_merged += merged
    U.freed += merged
    pack_waits_less(S, (word >> PACK_SHIFT) & PACK_MASK, at)
    completed = (word >> COMPLETES_SHIFT) - 1
    if completed >= 0:
        pack_waits_less(S, completed, at + 1)
    if U.inserted == U.elements:
        for number in range(U.flushed, U.packs):  # each part empties one pack per clock
            pack_waits_less(S, number, at + 1 + (number - U.flushed) // U.parts)


@compiled(void, S_t, i64)
def classify(S, index):
    """Send elements of the first line of a part on to where their blocks belong."""
    U = iru(S)
    Q = part_row(U.p_parts, index)
    now = l2(S).cycle
    budget = U.rate
    while budget > 0 and Q.line_head < Q.line_tail:
        step = load(Q.p_lines, Q.line_head & U.line_mask)
        if load(U.p_step_ready, step & U.step_mask) > now:
            return
        number = step * LINE_ELEMENTS + Q.element
        word = load(U.p_trace, number)
        way = distance(S, index, word & 255)
        bank = (word & 255) * MOST_BANKS + ((word >> ENTRY_SHIFT) & U.bank_mask)
        soonest = now + 1 + U.hop * way
        at = max(soonest, load(U.p_hash_free, bank))
        if at - soonest >= U.ring_queue:
            U.iru_stall_ring_cycles += 1
            return
        store(U.p_hash_free, bank, at + 1)
        U.iru_ring_hops += way
        insert(S, word, at)
        Q.element += 1
        budget -= 1
        if Q.element == LINE_ELEMENTS or number + 1 == U.elements:
            store(U.p_step_left, step & U.step_mask, np.int64(0))
            Q.element = 0
            Q.line_head += 1
            Q.under_way -= 1


# ---- replies ----------------------------------------------------------------------------------------------------
@compiled(void, S_t, i64, i64)
def may_answer(S, index, command):
    """Put a command behind those that a part answers."""
    U = iru(S)
    Q = part_row(U.p_parts, index)
    store(U.p_command_next, command, np.int64(NOBODY))
    if Q.reply_first == NOBODY:
        Q.reply_first = command
    else:
        store(U.p_command_next, Q.reply_last, command)
    Q.reply_last = command
    mask_add(U.p_busy, index)


@compiled(void, S_t)
def answer_the_rest(S):
    """The stream has ended: commands for which there is no pack are told so."""
    U = iru(S)
    command = U.none_first
    U.none_first = NOBODY
    while command != NOBODY:
        following = load(U.p_command_next, command)
        may_answer(S, load(U.p_command_pack, command) % U.parts, command)
        command = following


@compiled(void, S_t, i64)
def pack_ready(S, number):
    """All elements of a pack are there: its warp can have it, if it has asked."""
    U = iru(S)
    store(U.p_pack_left, number, np.int64(READY))
    command = load(U.p_pack_command, number)
    if command != NOBODY:
        may_answer(S, load(U.p_pack_part, number), command)
    if U.inserted == U.elements:
        answer_the_rest(S)


@compiled(void, S_t, i64, i64)
def accept_command(S, command, port):
    """A warp's command has come to a part, which passes it to the part of its pack."""
    U = iru(S)
    U.iru_loads += 1
    number = load(U.p_command_pack, command)
    if number >= U.packs:
        if U.inserted == U.elements:
            may_answer(S, port, command)
        else:
            store(U.p_command_next, command, U.none_first)
            U.none_first = command
        return
    owner = load(U.p_pack_part, number)
    store(U.p_pack_command, number, command)
    came = l2(S).cycle + U.hop * distance(S, port, owner)
    store(U.p_pack_ready, number, max(came, load(U.p_pack_ready, number)))
    if load(U.p_pack_left, number) == READY:
        may_answer(S, owner, command)


@compiled(void, S_t, i64)
def reply(S, index):
    """One packet of the first command's pack enters the reply network, if it has room."""
    U = iru(S)
    Q = part_row(U.p_parts, index)
    command = Q.reply_first
    if command == NOBODY:
        return
    number = load(U.p_command_pack, command)
    exists = number < U.packs
    if exists and load(U.p_pack_ready, number) > l2(S).cycle:
        return
    left = load(U.p_command_lanes, command) >> 8  # lanes to be sent; below them those to arrive
    lanes = min(left, U.packet_lanes)
    flits = flits_of(S, lanes * U.lane_bytes if exists else np.int64(0))
    if noc_room(S, REPLIES, index, flits) == 0:
        U.iru_stall_reply_cycles += 1
        return
    made = unit_packet(S, np.int64(REPLIES), np.int64(SOCKET), command // MEMORY_OPS, index, flits)
    P = packet(noc(S).p_packets, made)
    P.partial = lanes
    P.token = command
    noc_inject(S, REPLIES, index, made)
    U.iru_reply_flits += flits
    store(U.p_command_lanes, command, load(U.p_command_lanes, command) - (lanes << 8))
    if exists:
        U.freed += lanes
        U.iru_lanes += lanes
    if left == lanes:
        U.iru_packs += 1 if exists else 0
        Q.reply_first = load(U.p_command_next, command)


@compiled(void, S_t)
def parts_tick(S):
    """One L2 clock: a line asked for at each slice, elements classified, a reply of each part."""
    U = iru(S)
    while U.next_step < U.steps:
        if start_line(S) == 0:
            break
    for word in range(U.words):
        busy = load(U.p_busy, word)
        while busy != 0:
            index = (word << WORD_SHIFT) | ctz(busy)
            busy &= busy - 1
            classify(S, index)
            reply(S, index)
            Q = part_row(U.p_parts, index)
            if Q.line_head == Q.line_tail and Q.reply_first == NOBODY:
                mask_remove(U.p_busy, index)
