"""The timing wheel: everything that happens at a known later core cycle.

A ring of buckets, one per cycle modulo the ring's size; each bucket is a first-in, first-out list of event
nodes from a fixed pool, so that events of one cycle come out in the order in which they were put in
(determinism). A bitmap of non-empty buckets finds the next event without walking the ring. An event more than
one lap ahead stays in its bucket until its lap comes.

An event is (kind, a, b); `main_loop.py` hands it to the component that owns the kind:

    wheel_push(S, when, EV_DRAM_DONE, token, channel)       # any component, when > S.now

Kinds are the EV_ numbers below. `wheel_pop` and `wheel_next` belong to the main loop.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, Arena, S_t, accessor, component
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import ctz, load, store

EV_WARP_READY = 0  # a: SM, b: warp slot (its ALU chain is through)
EV_OP_DONE = 1  # a: SM, b: memory instruction (L1 hit latency or shared-memory latency is over)
EV_PORT_READY = 2  # a: network, b: input port (its first packet has come through the pipeline)
EV_NOC_DELIVER = 3  # a: network, b: packet (ideal network only)
EV_L2_READY = 4  # a: L2 slice (its first packet has come through the pipeline)
EV_DRAM_DONE = 5  # a: token given to dram_accept, b: channel
EV_DRAM_ARRIVE = 6  # a: channel, b: request index (end of the fixed latency in front of the controller)
EV_NOTHING = 7  # what had been asked for is no longer wanted (engine/leap)
EV_UNIT = 8  # a: own number << 4 | socket of a unit, b: that unit's own business
EV_UNIT_ARRIVE = 9  # a: L2 slice << 4 | socket, b: packet that the slice hands to the unit beside it

BUCKETS = 1024  # laps are rare: the longest latency of a machine is some hundred cycles
EVENTS = 1 << 16  # pool size; more in flight is an error that names the wheel

WHEEL = np.dtype(
    [
        ("p_buckets", np.int64),
        ("p_bitmap", np.int64),  # 64 buckets per word
        ("p_events", np.int64),
        ("free", np.int64),  # head of the free list, -1 = none
        ("pending", np.int64),
    ],
    align=True,
)
BUCKET = np.dtype([("first", np.int32), ("last", np.int32)], align=True)  # -1 = empty
EVENT = np.dtype(
    [("when", np.int64), ("a", np.int64), ("b", np.int32), ("next", np.int32), ("kind", np.int32)], align=True
)
wheel = component("wheel", WHEEL)
bucket_row = accessor(BUCKET)
event = accessor(EVENT)

ERROR_EVENTS_EXHAUSTED = 1


def allocate(arena: Arena) -> None:
    record = arena.record("wheel", WHEEL)
    record.p_buckets = arena.table("wheel.buckets", BUCKET, BUCKETS)
    arena.arrays["wheel.buckets"]["first"] = arena.arrays["wheel.buckets"]["last"] = -1
    record.p_bitmap = arena.table("wheel.bitmap", np.int64, BUCKETS // 64)
    record.p_events = arena.table("wheel.events", EVENT, EVENTS)
    events = arena.arrays["wheel.events"]
    events["next"] = np.arange(1, EVENTS + 1)
    events["next"][-1] = -1


@compiled(void, S_t, i64, i64, i64, i64)
def wheel_push(S, when, kind, a, b):
    """Deliver (kind, a, b) at core cycle `when`; a time not in the future means the next cycle."""
    W = wheel(S)
    index = W.free
    if index < 0:
        S.error = ERROR_EVENTS_EXHAUSTED
        return
    if when <= S.now:
        when = S.now + 1
    E = event(W.p_events, index)
    W.free = E.next
    W.pending += 1
    E.when = when
    E.next = -1
    E.kind = kind
    E.a = a
    E.b = b
    bucket = when & (BUCKETS - 1)
    B = bucket_row(W.p_buckets, bucket)
    if B.last < 0:
        B.first = index
        word = bucket >> 6
        store(W.p_bitmap, word, load(W.p_bitmap, word) | (np.int64(1) << (bucket & 63)))
    else:
        event(W.p_events, B.last).next = index
    B.last = index


@compiled(i64, S_t)
def wheel_pop(S):
    """Take the first event due at S.now; return its node (valid until the next push), or -1."""
    W = wheel(S)
    bucket = S.now & (BUCKETS - 1)
    B = bucket_row(W.p_buckets, bucket)
    index = np.int64(B.first)
    previous = np.int64(-1)
    while index >= 0 and event(W.p_events, index).when != S.now:  # a later lap
        previous = index
        index = np.int64(event(W.p_events, index).next)
    if index < 0:
        return np.int64(-1)
    E = event(W.p_events, index)
    following = E.next
    if previous < 0:
        B.first = following
    else:
        event(W.p_events, previous).next = following
    if following < 0:
        B.last = previous
        if previous < 0:
            word = bucket >> 6
            store(W.p_bitmap, word, load(W.p_bitmap, word) ^ (np.int64(1) << (bucket & 63)))
    E.next = W.free
    W.free = index
    W.pending -= 1
    return index


@compiled(i64, S_t)
def wheel_next(S):
    """The first cycle after S.now whose bucket is not empty (a later lap may be a false alarm)."""
    W = wheel(S)
    if W.pending == 0:
        return np.int64(FOREVER)
    start = (S.now + 1) & (BUCKETS - 1)
    word = start >> 6
    bits = load(W.p_bitmap, word) & ((np.int64(-1)) << (start & 63))
    steps = 0
    while bits == 0:
        word = (word + 1) & (BUCKETS // 64 - 1)
        bits = load(W.p_bitmap, word)
        steps += 1
        if steps > BUCKETS // 64:
            return np.int64(FOREVER)
    bucket = (word << 6) + ctz(bits)
    return S.now + 1 + ((bucket - start) & (BUCKETS - 1))
