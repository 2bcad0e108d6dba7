"""What the engine calls in the reorder unit."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.masks import mask_any
from warpsift.engine.unit_socket import (
    ACCEPT,
    ARRIVE,
    DRAINED,
    EVENT,
    PENDING,
    RECEIVE,
    SEND,
    TICK,
    sockets,
    unit_calls,
    with_bit,
)
from warpsift.units.iru.iru_command import elements_came, send_command
from warpsift.units.iru.iru_parts import accept_command, line_came, pack_ready, parts_tick
from warpsift.units.iru.iru_state import SOCKET, iru


@unit_calls("the irregular accesses reorder unit", SOCKET)
def iru_calls(S, what, a, b):
    """Do what is asked; then say whether the unit wants the next L2 clock."""
    U = iru(S)
    if what == SEND:
        return send_command(S, a, b)
    if what == PENDING:
        return U.waiting
    if what == DRAINED:
        return np.int64(1) if U.reads == 0 and U.inserted == U.elements else np.int64(0)
    if what == RECEIVE:
        elements_came(S, a)
    elif what == TICK:
        parts_tick(S)
    elif what == ARRIVE:
        line_came(S, a, b)
    elif what == ACCEPT:
        accept_command(S, a, b)
    elif what == EVENT:
        pack_ready(S, a)
    X = sockets(S)
    unread = np.int64(1) if U.next_step < U.steps else np.int64(0)
    X.awake = with_bit(X.awake, np.int64(SOCKET), mask_any(U.p_busy, U.words) | unread)
    return np.int64(0)
