"""Replies of a slice: how many flits they take, and the way into the reply network."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add
from warpsift.engine.core.wheel import EV_UNIT_ARRIVE, wheel_push
from warpsift.engine.core.words import popcount
from warpsift.engine.l2.l2_queue import slice_retry
from warpsift.engine.l2.l2_state import l2, l2_slice
from warpsift.engine.noc.ports import REPLIES, SLICE_READ, UNIT_WRITE, WRITE, noc, noc_inject, packet, sector_flits
from warpsift.engine.unit_socket import SOCKET_BITS


@compiled(i64, S_t, i64, i64)
def reply_flits(S, kind, sectors):
    """Flits that the reply for some sectors will need."""
    N = noc(S)
    if kind >= SLICE_READ:
        return np.int64(0)
    # a unit's write is one packet, and so is its acknowledgement
    count = np.int64(1) if kind == UNIT_WRITE else popcount(sectors)
    writing = kind in (WRITE, UNIT_WRITE)
    if N.reply_sectors == 1:
        return count * sector_flits(S, np.int64(0) if writing else np.int64(1))
    return sector_flits(S, np.int64(0) if writing else count)


@compiled(void, S_t, i64, i64, i64)
def reply_now(S, slice_index, index, sectors):
    """Turn a request packet into its reply for `sectors` and inject it (room has been checked)."""
    N = noc(S)
    P = packet(N.p_packets, index)
    P.sectors = sectors
    if P.kind >= SLICE_READ:  # back to the unit beside the slice
        wheel_push(S, S.now + 1, EV_UNIT_ARRIVE, (slice_index << SOCKET_BITS) | P.unit, index)
        return
    P.flits = reply_flits(S, P.kind, sectors)
    P.separate = 1 if N.reply_sectors == 1 else 0
    P.destination = P.port
    P.ready = S.now + 1
    noc_inject(S, REPLIES, slice_index, index)


@compiled(void, S_t, i64, i64)
def queue_reply(S, slice_index, index):
    """Append a reply to the slice's list of replies made ready by fills."""
    C = l2(S)
    N = noc(S)
    mine = l2_slice(C.p_slices, slice_index)
    packet(N.p_packets, index).next = -1
    if mine.reply_last < 0:
        mine.reply_first = index
    else:
        packet(N.p_packets, mine.reply_last).next = index
    mine.reply_last = index
    mask_add(C.p_active, slice_index)
    slice_retry(S, slice_index)
