"""Ports and packets of the crossbar: how anybody sends a request to the L2 or a reply back.

There are two networks: 0 carries requests (inputs: SMs, then unit ports; outputs: L2 slices), 1 carries replies
(inputs: L2 slices; outputs: SMs, then unit ports). Every input has one queue, bounded in flits: the sender asks
`noc_room` before it injects, and waits when there is none (back-pressure). Where the machine has `virtual_outputs`, an
input keeps a queue per output within that bound. `crossbar.py` arbitrates.

A packet names its client by port and a token that only the client understands, so that any unit can read and write
through the same L2: send a packet with your port and token, get the same packet back as reply, once for each group
of sectors that became ready together.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import HOST_LINE_BYTES, Arena, S_t, accessor, component
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add, words_for
from warpsift.engine.core.settings import SETTING
from warpsift.engine.core.wheel import EV_NOC_DELIVER, EV_PORT_READY, wheel_push
from warpsift.engine.core.words import load, store
from warpsift.machines.spec import Machine

REQUESTS = 0
REPLIES = 1

# Kinds of packets. The reply has the kind of its request.
READ_CACHED = 0  # fill of an L1 line; token = L1 MSHR
READ = 1  # load that bypasses L1; token = memory instruction
WRITE = 2  # token = memory instruction
ATOMIC_OP = 3  # read-modify-write at L2; token = memory instruction
# Packets of special units carry the socket of theirs in `unit`, and a token that only the unit understands.
UNIT_READ = 4  # from a unit's own crossbar port
UNIT_WRITE = 5
UNIT_COMMAND = 6  # from an SM to a unit beside the L2 slices, through the request network
UNIT_ANSWER = 7  # from such a unit to an SM, through the reply network
# From a unit beside a slice to that slice and back, through no network: everything from here on.
SLICE_READ = 8
SLICE_WRITE = 9

ERROR_PACKETS_EXHAUSTED = 2

PACKET = np.dtype(
    [
        ("line", np.int64),  # address / 128
        ("ready", np.int64),  # core cycle from which it may move on
        ("sent", np.int64),  # core cycle of injection, for the latency counter
        ("token", np.int64),
        ("next", np.int32),  # link of the free list, or of whoever holds the packet
        (
            "partial",
            np.uint32,
        ),  # WRITE: mask of the words of the line that it covers; ATOMIC_OP: operations on one address
        ("port", np.int16),  # client
        ("destination", np.int16),  # output port in the present network
        ("flits", np.int16),  # still to be sent
        ("array", np.int16),  # index into the per-array counters
        ("kind", np.int8),
        ("sectors", np.uint8),  # mask of 32-byte sectors wanted, written, or brought back
        ("separate", np.int8),  # 1: every flit is a packet of its own and is arbitrated alone
        ("set_row", np.int32),  # first row of its set in the L2
        ("length", np.int16),  # flits at injection
        ("unit", np.int8),  # socket, of a unit's packets
        ("unused", np.uint8, 5),
    ],
    align=True,
)
assert PACKET.itemsize == HOST_LINE_BYTES
PACKET_SHIFT = 6  # log2 of its bytes
INPUT = np.dtype(
    [
        ("p_ring", np.int64),
        ("ring_mask", np.int64),
        ("head", np.int64),
        ("tail", np.int64),
        ("used_flits", np.int64),
        ("capacity_flits", np.int64),
    ],
    align=True,
)
LANE = np.dtype([("head", np.int32), ("tail", np.int32)], align=True)  # packets of an input for one output; -1: none
LANE_SHIFT = 16  # of the output in the second argument of EV_PORT_READY
OUTPUT = np.dtype(
    [
        ("p_requests", np.int64),  # mask of inputs whose first packet (with lanes: of theirs) wants this output
        ("pointer", np.int64),  # round-robin: the input with the highest priority
        ("locked", np.int64),  # input that is in the middle of a packet, or -1
        ("blocked_since", np.int64),  # network cycle in which its slice was found full
        ("p_ring", np.int64),  # packets that have crossed the switch and wait for the slice
        ("ring_mask", np.int64),
        ("head", np.int64),
        ("tail", np.int64),
        ("buffered_flits", np.int64),
        ("free_at", np.int64),  # network cycle from which the next packet may leave
    ],
    align=True,
)
NETWORK = np.dtype(
    [
        ("inputs", np.int64),
        ("outputs", np.int64),
        ("p_inputs", np.int64),
        ("p_outputs", np.int64),
        ("input_words", np.int64),  # words of a mask of inputs ...
        ("output_words", np.int64),  # ... and of outputs
        ("p_active", np.int64),  # masks: outputs with requests
        ("p_blocked", np.int64),  # outputs that wait for their slice
        ("p_draining", np.int64),  # outputs with packets in their buffer whose slice is not known to be full
        ("p_freed", np.int64),  # inputs that sent a flit since the main loop last looked
        ("p_advanced", np.int64),  # inputs whose first packet left in this cycle
        ("p_lanes", np.int64),  # rows of LANE, outputs of an input side by side; 0: one queue per input
        ("p_busy", np.int64),  # with lanes, masks: inputs that have sent in this cycle ...
        ("p_sending", np.int64),  # ... or are in the middle of a packet
    ],
    align=True,
)
COUNTERS = {
    "request_packets_sent": "packets from SMs and units to the L2",
    "request_flits_sent": "their flits",
    "reply_packets_sent": "packets from the L2 to SMs and units",
    "reply_flits_sent": "their flits",
    "request_latency_cycles": "sum over request packets, injection to delivery, core cycles",
    "reply_latency_cycles": "sum over reply packets, injection to delivery, core cycles",
    "request_blocked_cycles": "output ports of the request network held back by a full L2 slice, network cycles",
}
NOC = np.dtype(
    [
        ("p_networks", np.int64),
        ("p_packets", np.int64),
        ("free", np.int64),
        ("in_use", np.int64),
        ("cycle", np.int64),  # of the network's own clock
        ("khz", SETTING),
        ("core_khz", SETTING),
        ("flit_bytes", SETTING),
        ("header_bytes", SETTING),
        ("p_sector_flits", np.int64),  # flits of a packet by number of sectors, 0 to 4
        ("hop_latency", SETTING),
        ("output_flits", SETTING),
        ("speedup", SETTING),
        ("request_sectors", SETTING),
        ("reply_sectors", SETTING),
        ("ideal", SETTING),
        ("half_slices", SETTING),  # slices of the first half; those of clients with an even port
        ("far_latency", SETTING),  # 0: no halves
        ("sms", SETTING),
        ("p_takeable", np.int64),  # mask of inputs: what takeable_in_part answers
        ("held", np.int64),  # units that it has found full, by socket
        *[(name, np.int64) for name in COUNTERS],
    ],
    align=True,
)
noc = component("noc", NOC)
network = accessor(NETWORK)
input_port = accessor(INPUT)
output_port = accessor(OUTPUT)
packet = accessor(PACKET)
lane = accessor(LANE)


def packet_pool(machine: Machine) -> int:
    """Packets that the model keeps: in flight are at most the sum of all queues and MSHRs, some hundred per SM."""
    return 1 << (16 if machine.sm.count <= 64 else 18)


def allocate(arena: Arena, machine: Machine) -> None:
    N = arena.record("noc", NOC)
    spec = machine.noc
    N.khz, N.core_khz = round(machine.clocks.noc_mhz * 1000), round(machine.clocks.core_mhz * 1000)
    N.flit_bytes, N.header_bytes = spec.flit_bytes, spec.header_bytes
    flits = [-(-(spec.header_bytes + 32 * sectors) // spec.flit_bytes) for sectors in range(5)]
    N.p_sector_flits = arena.adopt("noc.sector_flits", np.array(flits, np.int64))
    N.hop_latency = spec.hop_latency_cycles
    N.half_slices, N.far_latency = (
        machine.l2.slices // 2,
        machine.l2.far_latency_cycles if machine.l2.halves == 2 else 0,
    )
    N.output_flits, N.speedup = spec.output_buffer_flits, spec.speedup
    N.request_sectors, N.reply_sectors = spec.request_sectors_per_packet, spec.reply_sectors_per_packet
    N.ideal, N.sms = machine.ideal.noc, machine.sm.count
    packets = packet_pool(machine)
    N.p_packets = arena.table("noc.packets", PACKET, packets)
    arena.arrays["noc.packets"]["next"] = np.append(np.arange(1, packets), -1)
    N.p_networks = arena.table("noc.networks", NETWORK, 2)
    clients = machine.sm.count + spec.unit_ports
    N.p_takeable = arena.table("noc.takeable", np.int64, words_for(max(clients, machine.l2.slices)))
    capacities = (spec.buffer_flits, spec.buffer_flits + machine.l2.reply_queue_entries)
    ring = 1 << (max(capacities) - 1).bit_length()
    for index, (inputs, outputs) in enumerate(((clients, machine.l2.slices), (machine.l2.slices, clients))):
        T = arena.arrays["noc.networks"][index]
        T.inputs, T.outputs = inputs, outputs
        T.p_inputs = arena.table(f"noc.inputs{index}", INPUT, inputs)
        T.p_outputs = arena.table(f"noc.outputs{index}", OUTPUT, outputs)
        T.input_words, T.output_words = words_for(inputs), words_for(outputs)
        for mask in ("active", "blocked", "draining"):
            T[f"p_{mask}"] = arena.table(f"noc.{mask}{index}", np.int64, words_for(outputs))
        for mask in ("freed", "advanced", "busy", "sending"):
            T[f"p_{mask}"] = arena.table(f"noc.{mask}{index}", np.int64, words_for(inputs))
        arena.arrays[f"noc.outputs{index}"]["locked"] = -1
        for port, row in enumerate(arena.arrays[f"noc.outputs{index}"]):
            row.p_requests = arena.table(f"noc.requests{index}.{port}", np.int64, words_for(inputs))
        if spec.virtual_outputs:
            T.p_lanes = arena.table(f"noc.lanes{index}", LANE, inputs * outputs)
            arena.arrays[f"noc.lanes{index}"][["head", "tail"]] = (-1, -1)
        if index == REQUESTS and spec.output_buffer_flits:
            size = 1 << (spec.output_buffer_flits + 3).bit_length()
            for port, row in enumerate(arena.arrays[f"noc.outputs{index}"]):
                row.p_ring, row.ring_mask = arena.table(f"noc.output{port}", np.int64, size), size - 1
        for port in range(inputs):
            row = arena.arrays[f"noc.inputs{index}"][port]
            row.p_ring = arena.table(f"noc.ring{index}.{port}", np.int64, ring)
            row.ring_mask, row.capacity_flits = ring - 1, capacities[index]


@compiled(i64, S_t)
def packet_new(S):
    """Take a packet from the pool; the caller fills in every field."""
    N = noc(S)
    index = N.free
    if index < 0:
        S.error = ERROR_PACKETS_EXHAUSTED
        return np.int64(0)
    N.free = packet(N.p_packets, index).next
    N.in_use += 1
    return index


@compiled(void, S_t, i64)
def packet_free(S, index):
    N = noc(S)
    packet(N.p_packets, index).next = N.free
    N.free = index
    N.in_use -= 1


@compiled(i64, S_t, i64)
def flits_of(S, data_bytes):
    """Flits of one packet that carries `data_bytes` beside its header."""
    N = noc(S)
    return (N.header_bytes + data_bytes + N.flit_bytes - 1) // N.flit_bytes


@compiled(i64, S_t, i64)
def sector_flits(S, sectors):
    """Flits of one packet that carries up to 4 sectors, without a division."""
    return load(noc(S).p_sector_flits, sectors)


@compiled(i64, S_t, i64, i64, i64)
def noc_room(S, net, port, flits):
    """1 if the queue of an input port can take a packet of so many flits."""
    N = noc(S)
    if N.ideal != 0:
        return np.int64(1)
    I = input_port(network(N.p_networks, net).p_inputs, port)
    if I.used_flits + flits <= I.capacity_flits:
        return np.int64(1)
    return np.int64(0)


@compiled(void, S_t, i64, i64, i64)
def lane_raise(S, net, port, output):
    """The first packet of a lane asks for its output, now or when it has come through the pipeline."""
    N = noc(S)
    T = network(N.p_networks, net)
    P = packet(N.p_packets, np.int64(lane(T.p_lanes, port * T.outputs + output).head))
    if P.ready <= S.now:
        mask_add(output_port(T.p_outputs, output).p_requests, port)
        mask_add(T.p_active, output)
    else:
        wheel_push(S, P.ready, EV_PORT_READY, net, (output << LANE_SHIFT) | port)


@compiled(void, S_t, i64, i64, i64)
def lane_append(S, net, port, index):
    """Put a packet into the lane of its output."""
    N = noc(S)
    T = network(N.p_networks, net)
    P = packet(N.p_packets, index)
    output = np.int64(P.destination)
    L = lane(T.p_lanes, port * T.outputs + output)
    P.next = -1
    if L.head >= 0:
        packet(N.p_packets, np.int64(L.tail)).next = index
        L.tail = index
        return
    L.head = index
    L.tail = index
    lane_raise(S, net, port, output)


@compiled(void, S_t, i64, i64)
def noc_raise(S, net, port):
    """The first packet of an input port asks for its output, now or when it has come through the pipeline."""
    N = noc(S)
    T = network(N.p_networks, net)
    if T.p_lanes != 0:
        lane_raise(S, net, port & ((1 << LANE_SHIFT) - 1), port >> LANE_SHIFT)
        return
    I = input_port(T.p_inputs, port)
    P = packet(N.p_packets, load(I.p_ring, I.head & I.ring_mask))
    if P.ready <= S.now:
        O = output_port(T.p_outputs, P.destination)
        mask_add(O.p_requests, port)
        mask_add(T.p_active, np.int64(P.destination))
    else:
        wheel_push(S, P.ready, EV_PORT_READY, net, port)


@compiled(i64, S_t, i64, i64, i64)
def far_way(S, net, port, output):
    """Cycles that a packet between a client and a slice of the other half takes longer."""
    N = noc(S)
    client, slice_index = (port, output) if net == REQUESTS else (output, port)
    far = (client & 1) != (1 if slice_index >= N.half_slices else 0)
    return N.far_latency if far else np.int64(0)


@compiled(void, S_t, i64, i64, i64)
def noc_inject(S, net, port, index):
    """Put a packet into the queue of an input port. The caller has asked noc_room."""
    N = noc(S)
    P = packet(N.p_packets, index)
    P.ready += N.hop_latency
    if N.far_latency != 0:
        P.ready += far_way(S, net, port, np.int64(P.destination))
    P.sent = S.now
    P.length = P.flits
    if net == REQUESTS:
        N.request_packets_sent += 1
        N.request_flits_sent += P.flits
    else:
        N.reply_packets_sent += P.flits if P.separate != 0 else 1
        N.reply_flits_sent += P.flits
    if N.ideal != 0:
        wheel_push(S, P.ready, EV_NOC_DELIVER, net, index)
        return
    T = network(N.p_networks, net)
    I = input_port(T.p_inputs, port)
    I.used_flits += P.flits
    if T.p_lanes != 0:
        lane_append(S, net, port, index)
        return
    store(I.p_ring, I.tail & I.ring_mask, index)
    I.tail += 1
    if I.tail - I.head == 1:
        noc_raise(S, net, port)
