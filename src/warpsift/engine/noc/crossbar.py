"""The crossbar's arbitration: input queues, one packet per input and output at a time, round-robin outputs.

Each input has a single queue, so a packet whose output is taken holds back those behind it (head-of-line blocking; an
input-queued switch under uniform traffic then carries about 0.6 of its ports, less when packets come in trains: Karol,
Hluchyj and Morgan, IEEE Trans. Commun. 1987). Each output grants one of the inputs that ask for it, starting from
a pointer that moves past the granted one: iSLIP with one iteration (McKeown, IEEE/ACM Trans. Netw. 1999), which needs
no second iteration here because an input asks for one output only. A packet of several flits keeps its output until
it is through.

With `virtual_outputs` an input has a lane (a queue) per output, as iSLIP's switches have, so that nothing is held
back but by its own output. An input still sends one packet at a time: outputs grant in turn, the
first of them another one in every cycle, among the inputs that no other output has taken.

Where the machine has buffers behind the outputs of the request network (`output_buffer_flits`), a slice that is full
holds back its own packets for a while before it holds back those behind them.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import (
    WORD_BITS,
    WORD_SHIFT,
    mask_add,
    mask_any,
    mask_has,
    mask_next,
    mask_remove,
)
from warpsift.engine.core.words import ctz, load, prefetch, store
from warpsift.engine.l1.l1_misses import l1_fill
from warpsift.engine.l2.l2_queue import l2_enqueue, l2_full
from warpsift.engine.noc.ports import (
    PACKET_SHIFT,
    READ_CACHED,
    REQUESTS,
    UNIT_ANSWER,
    UNIT_COMMAND,
    input_port,
    lane,
    lane_raise,
    network,
    noc,
    noc_raise,
    output_port,
    packet,
    packet_free,
)
from warpsift.engine.sm.lsu import lsu_reply, lsu_unblock
from warpsift.engine.unit_socket import ACCEPT, HELD, RECEIVE, REPLY, call_unit, sockets


@compiled(void, S_t, i64, i64)
def deliver(S, net, index):
    """Hand a packet that has left the network to its slice or client."""
    N = noc(S)
    P = packet(N.p_packets, index)
    if net == REQUESTS:
        N.request_latency_cycles += S.now - P.sent
        if P.kind == UNIT_COMMAND:
            call_unit(S, P.unit, np.int64(ACCEPT), P.token, np.int64(P.destination))
            packet_free(S, index)
            return
        l2_enqueue(S, np.int64(P.destination), index)
        return
    N.reply_latency_cycles += S.now - P.sent
    port = np.int64(P.port)
    if port < N.sms:
        if P.kind == READ_CACHED:
            l1_fill(S, port, P.token, np.int64(P.sectors))
        elif P.kind == UNIT_ANSWER:
            call_unit(S, P.unit, np.int64(RECEIVE), index, np.int64(0))
        else:
            lsu_reply(S, port, P.token, np.int64(P.sectors))
        lsu_unblock(S, port)
    else:
        call_unit(S, P.unit, np.int64(REPLY), P.token, np.int64(P.sectors))
    packet_free(S, index)


@compiled(i64, S_t, i64, i64, i64)
def first_packet(S, net, port, output):
    """The packet in front of an input, or of its lane for an output."""
    T = network(noc(S).p_networks, net)
    if T.p_lanes != 0:
        return np.int64(lane(T.p_lanes, port * T.outputs + output).head)
    I = input_port(T.p_inputs, port)
    return load(I.p_ring, I.head & I.ring_mask)


@compiled(i64, S_t, i64, i64, i64)
def commands_among(S, output, word, requests):
    """Of these inputs, bits of one word, those whose first packet is a command to a unit."""
    N = noc(S)
    commands = np.int64(0)
    while requests != 0:
        bit = requests & -requests
        requests ^= bit
        index = first_packet(S, np.int64(REQUESTS), (word << WORD_SHIFT) | ctz(bit), output)
        if packet(N.p_packets, index).kind == UNIT_COMMAND:
            commands |= bit
    return commands


@compiled(i64, S_t, i64, i64, i64)
def accepted(S, output, word, commands):
    """Of these inputs, whose first packet is a command to a unit, those whose unit takes it; the others are noted."""
    N = noc(S)
    full = sockets(S).full
    taken = np.int64(0)
    while commands != 0:
        bit = commands & -commands
        commands ^= bit
        index = first_packet(S, np.int64(REQUESTS), (word << WORD_SHIFT) | ctz(bit), output)
        unit = np.int64(packet(N.p_packets, index).unit)
        if (full >> unit) & 1 == 0:
            taken |= bit
        else:
            N.held |= np.int64(1) << unit
    return taken


@compiled(i64, S_t, i64, i64)
def takeable_in_part(S, output, slice_full):
    """The inputs whose first packet can leave here although the slice, or a unit in front of it, is full: a mask."""
    N = noc(S)
    T = network(N.p_networks, REQUESTS)
    O = output_port(T.p_outputs, output)
    N.held = 0
    any_command = np.int64(0)
    any_other = np.int64(0)
    for word in range(T.input_words):
        requests = load(O.p_requests, word)
        commands = commands_among(S, output, word, requests)
        others = requests ^ commands
        any_command |= commands
        any_other |= others
        if slice_full != 0:
            others = np.int64(0)
        if sockets(S).full != 0:
            commands = accepted(S, output, word, commands)
        store(N.p_takeable, word, others | commands)
    if slice_full != 0:
        if any_other != 0 and mask_has(T.p_blocked, output) == 0:  # it says when it has room: l2_queue.output_unblock
            O.blocked_since = N.cycle
            mask_add(T.p_blocked, output)
        if any_command == 0:
            mask_remove(T.p_active, output)
    held = N.held
    while held != 0:
        call_unit(S, ctz(held), np.int64(HELD), np.int64(0), np.int64(0))
        held &= held - 1
    return N.p_takeable


@compiled(i64, S_t, i64)
def takeable(S, output):
    """The inputs whose first packet can leave the request network here, as a mask; 0: the output waits.

    A full slice holds back everything but commands, which go to the unit in front of it; a full unit holds back its
    commands alone. With a buffer behind the output, a full buffer holds back everything.
    """
    N = noc(S)
    T = network(N.p_networks, REQUESTS)
    O = output_port(T.p_outputs, output)
    if N.output_flits > 0:
        if O.buffered_flits < N.output_flits:
            return O.p_requests
        mask_remove(T.p_active, output)  # until drain_outputs has made room
        return np.int64(0)
    slice_full = l2_full(S, output)
    if slice_full == 0 and sockets(S).full == 0:
        return O.p_requests
    return takeable_in_part(S, output, slice_full)


@compiled(i64, S_t, i64, i64)
def receiver_full(S, output, index):
    """1 if a packet that has crossed the request network cannot be handed on now."""
    P = packet(noc(S).p_packets, index)
    if P.kind == UNIT_COMMAND:
        return (sockets(S).full >> P.unit) & 1
    return l2_full(S, output)


@compiled(void, S_t, i64, i64)
def to_receiver(S, output, index):
    """A packet has crossed the request network: hand it on, or let it wait in the output's buffer."""
    N = noc(S)
    T = network(N.p_networks, REQUESTS)
    O = output_port(T.p_outputs, output)
    length = np.int64(packet(N.p_packets, index).length)
    if O.head == O.tail and O.free_at <= N.cycle and receiver_full(S, output, index) == 0:
        O.free_at = N.cycle + length
        deliver(S, np.int64(REQUESTS), index)
        return
    store(O.p_ring, O.tail & O.ring_mask, index)
    O.tail += 1
    O.buffered_flits += length
    if mask_has(T.p_blocked, output) == 0:
        mask_add(T.p_draining, output)


@compiled(void, S_t, i64)
def drain_output(S, output):
    """The buffer behind one output hands on its first packet, if the slice has room."""
    N = noc(S)
    T = network(N.p_networks, REQUESTS)
    O = output_port(T.p_outputs, output)
    if O.free_at > N.cycle:
        return
    index = load(O.p_ring, O.head & O.ring_mask)
    if receiver_full(S, output, index) != 0:
        if packet(N.p_packets, index).kind != UNIT_COMMAND:  # the slice says when it has room: output_unblock
            O.blocked_since = N.cycle
            mask_add(T.p_blocked, output)
            mask_remove(T.p_draining, output)
        return
    length = np.int64(packet(N.p_packets, index).length)
    O.head += 1
    O.buffered_flits -= length
    O.free_at = N.cycle + length
    if O.head == O.tail:
        mask_remove(T.p_draining, output)
    if mask_any(O.p_requests, T.input_words) != 0:
        mask_add(T.p_active, output)
    deliver(S, np.int64(REQUESTS), index)


@compiled(void, S_t)
def drain_outputs(S):
    """One cycle of the buffers behind the request network."""
    T = network(noc(S).p_networks, REQUESTS)
    for word in range(T.output_words):
        outputs = load(T.p_draining, word)
        while outputs != 0:
            drain_output(S, (word << WORD_SHIFT) | ctz(outputs))
            outputs &= outputs - 1


@compiled(i64, S_t, i64, i64)
def grant(S, net, output):
    """The input that may send a flit to this output now, or -1."""
    N = noc(S)
    T = network(N.p_networks, net)
    O = output_port(T.p_outputs, output)
    if O.locked >= 0:
        return O.locked
    requests = takeable(S, output) if net == REQUESTS else O.p_requests
    if requests == 0:
        return np.int64(-1)
    if T.p_lanes != 0:
        for word in range(T.input_words):
            store(N.p_takeable, word, load(requests, word) & (load(T.p_busy, word) ^ -1))
        requests = N.p_takeable
    return mask_next(requests, T.input_words, O.pointer)


@compiled(void, S_t, i64, i64, i64)
def lane_sent(S, net, output, port):
    """The first packet of a lane has left: the next one asks from the next cycle on (its input is busy in this one)."""
    N = noc(S)
    T = network(N.p_networks, net)
    O = output_port(T.p_outputs, output)
    L = lane(T.p_lanes, port * T.outputs + output)
    mask_remove(T.p_sending, port)
    mask_remove(O.p_requests, port)
    L.head = packet(N.p_packets, np.int64(L.head)).next
    if L.head >= 0:
        lane_raise(S, net, port, output)
    if mask_any(O.p_requests, T.input_words) == 0:
        mask_remove(T.p_active, output)


@compiled(void, S_t, i64, i64, i64)
def send_flit(S, net, output, port):
    """A flit of the first packet of an input crosses to an output; its last one takes the packet along."""
    N = noc(S)
    T = network(N.p_networks, net)
    O = output_port(T.p_outputs, output)
    I = input_port(T.p_inputs, port)
    index = first_packet(S, net, port, output)
    P = packet(N.p_packets, index)
    taken = min(N.speedup, np.int64(P.flits)) if net == REQUESTS else np.int64(1)
    P.flits -= taken
    I.used_flits -= taken
    mask_add(T.p_freed, port)
    if T.p_lanes != 0:
        mask_add(T.p_busy, port)
    if P.flits > 0 and P.separate == 0:
        O.locked = port
        if T.p_lanes != 0:
            mask_add(T.p_sending, port)
        return
    O.locked = -1
    O.pointer = port + 1 if port + 1 < T.inputs else 0
    if P.flits > 0:
        return
    if T.p_lanes != 0:
        lane_sent(S, net, output, port)
    else:
        mask_remove(O.p_requests, port)
        if mask_any(O.p_requests, T.input_words) == 0:
            mask_remove(T.p_active, output)
        I.head += 1
        mask_add(T.p_advanced, port)
    if net == REQUESTS and N.output_flits > 0:
        to_receiver(S, output, index)
    else:
        deliver(S, net, index)


@compiled(void, S_t, i64, i64, i64)
def lanes_between(S, net, output, end):
    """Outputs from one on up to another grant in turn, also those that are first asked for meanwhile."""
    T = network(noc(S).p_networks, net)
    while output < end:
        bits = load(T.p_active, output >> WORD_SHIFT) >> (output & (WORD_BITS - 1))
        if bits == 0:
            output = ((output >> WORD_SHIFT) + 1) << WORD_SHIFT
            continue
        output += ctz(bits)
        if output >= end:
            return
        port = grant(S, net, output)
        if port >= 0:
            send_flit(S, net, output, port)
        output += 1


@compiled(void, S_t, i64)
def lanes_tick(S, net):
    """One network cycle of a direction with lanes: outputs grant in turn, from another one on in every cycle."""
    N = noc(S)
    T = network(N.p_networks, net)
    first = N.cycle % T.outputs
    lanes_between(S, net, first, T.outputs)
    lanes_between(S, net, np.int64(0), first)
    for word in range(T.input_words):
        store(T.p_busy, word, load(T.p_sending, word))


@compiled(void, S_t, i64)
def crossbar_tick(S, net):
    """One network cycle of one direction."""
    T = network(noc(S).p_networks, net)
    if T.p_lanes != 0:
        lanes_tick(S, net)
        return
    for word in range(T.output_words):
        outputs = load(T.p_active, word)
        while outputs != 0:
            output = (word << WORD_SHIFT) | ctz(outputs)
            outputs &= outputs - 1
            port = grant(S, net, output)
            if port >= 0:
                send_flit(S, net, output, port)
    for word in range(T.input_words):  # the next packet of an input whose first one left may ask from now on
        advanced = load(T.p_advanced, word)
        store(T.p_advanced, word, np.int64(0))
        while advanced != 0:
            port = (word << WORD_SHIFT) | ctz(advanced)
            advanced &= advanced - 1
            I = input_port(T.p_inputs, port)
            if I.head != I.tail:
                prefetch(noc(S).p_packets, load(I.p_ring, (I.head + 1) & I.ring_mask) << PACKET_SHIFT)
                noc_raise(S, net, port)


@compiled(void, S_t)
def wake_senders(S):
    """SMs whose request queue has got room try again (slices poll)."""
    N = noc(S)
    T = network(N.p_networks, REQUESTS)
    for word in range(T.input_words):
        freed = load(T.p_freed, word)
        store(T.p_freed, word, np.int64(0))
        while freed != 0:
            port = (word << WORD_SHIFT) | ctz(freed)
            freed &= freed - 1
            if port < N.sms:
                lsu_unblock(S, port)
