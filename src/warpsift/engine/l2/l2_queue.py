"""The queue in front of a slice: packets come through its pipeline, and a slice that lacks something sleeps.

A sleeping slice is not polled: whoever changes what it waits for wakes it, and its wait is counted then.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import prefetch_set
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import WORD_SHIFT, mask_add, mask_any, mask_has, mask_remove
from warpsift.engine.core.wheel import EV_L2_READY, wheel_push
from warpsift.engine.core.words import ctz, load, popcount, store
from warpsift.engine.l2.address_map import first_row
from warpsift.engine.l2.l2_state import l2, l2_slice
from warpsift.engine.noc.ports import REPLIES, REQUESTS, network, noc, output_port, packet

# Why the first packet of a slice cannot be served. The slice then sleeps until that may have changed.
LACKS_REPLY_ROOM, LACKS_RESOURCE = 1, 2


@compiled(i64, S_t, i64)
def l2_full(S, slice_index):
    """1 if the queue behind the pipeline cannot take a line, so that the crossbar must hold its packet."""
    C = l2(S)
    N = noc(S)
    L = l2_slice(C.p_slices, slice_index)
    while L.ready_tail < L.tail:
        P = packet(N.p_packets, load(L.p_ring, L.ready_tail & L.ring_mask))
        if P.ready > S.now:
            break
        L.ready_sectors += popcount(P.sectors)
        L.ready_tail += 1
    return np.int64(1) if L.ready_sectors + 4 > C.queue_entries else np.int64(0)


@compiled(void, S_t, i64, i64)
def l2_enqueue(S, slice_index, index):
    """A packet leaves the crossbar and enters the slice's pipeline."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    P = packet(noc(S).p_packets, index)
    P.ready = S.now + C.latency
    P.set_row = first_row(S, slice_index, P.line)
    prefetch_set(C.p_tags, C.p_lines, np.int64(P.set_row), C.ways)
    store(L.p_ring, L.tail & L.ring_mask, index)
    L.tail += 1
    if L.tail - L.head == 1 and L.waiting == 0:
        L.waiting = 1
        wheel_push(S, P.ready, EV_L2_READY, slice_index, 0)


@compiled(void, S_t, i64)
def l2_wake(S, slice_index):
    """EV_L2_READY: the first packet has come through the pipeline."""
    C = l2(S)
    l2_slice(C.p_slices, slice_index).waiting = 0
    mask_add(C.p_active, slice_index)


@compiled(void, S_t, i64, i64)
def slice_sleep(S, slice_index, lacks):
    """Nothing can be done until something changes: stop polling."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    L.lacks = lacks
    L.lacks_since = C.cycle
    mask_remove(C.p_active, slice_index)
    if lacks == LACKS_REPLY_ROOM:
        mask_add(C.p_lack_reply_room, slice_index)


@compiled(void, S_t, i64)
def slice_retry(S, slice_index):
    """A fill has come, or room has been made: a sleeping slice tries again; its wait is counted."""
    C = l2(S)
    L = l2_slice(C.p_slices, slice_index)
    if L.lacks == 0:
        return
    if L.lacks == LACKS_REPLY_ROOM:
        C.l2_reply_blocked_cycles += C.cycle - L.lacks_since
        mask_remove(C.p_lack_reply_room, slice_index)
    else:
        C.l2_reservation_fails += C.cycle - L.lacks_since
    L.lacks = 0
    mask_add(C.p_active, slice_index)


@compiled(void, S_t)
def replies_left(S):
    """Flits have left the reply network's inputs: wake the slices that waited for the room."""
    C = l2(S)
    T = network(noc(S).p_networks, REPLIES)
    for word in range(T.input_words):
        waiting = load(T.p_freed, word) & load(C.p_lack_reply_room, word)
        store(T.p_freed, word, np.int64(0))
        while waiting != 0:
            slice_retry(S, (word << WORD_SHIFT) | ctz(waiting))
            waiting &= waiting - 1


@compiled(void, S_t, i64)
def output_unblock(S, slice_index):
    """The slice has taken a packet from its queue: the crossbar may look at this output again."""
    N = noc(S)
    T = network(N.p_networks, REQUESTS)
    if mask_has(T.p_blocked, slice_index) == 0:
        return
    O = output_port(T.p_outputs, slice_index)
    N.request_blocked_cycles += N.cycle - O.blocked_since
    mask_remove(T.p_blocked, slice_index)
    if O.head != O.tail:
        mask_add(T.p_draining, slice_index)
    elif mask_any(O.p_requests, T.input_words) != 0:
        mask_add(T.p_active, slice_index)
