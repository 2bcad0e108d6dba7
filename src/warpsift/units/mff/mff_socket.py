"""What the engine calls in the memory fast-forward unit."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.masks import mask_any
from warpsift.engine.unit_socket import (
    ACCEPT,
    ARRIVE,
    DRAINED,
    HELD,
    PENDING,
    RECEIVE,
    SEND,
    SKIP,
    TICK,
    sockets,
    unit_calls,
    with_bit,
)
from warpsift.units.mff.mff_command import mff_receive, mff_send
from warpsift.units.mff.mff_issue import mff_accept, mff_full
from warpsift.units.mff.mff_skip import mff_skip
from warpsift.units.mff.mff_state import SOCKET, mff
from warpsift.units.mff.mff_unit import mff_arrival, mff_drained, mff_tick


@unit_calls("the memory fast-forward unit", SOCKET)
def mff_calls(S, what, a, b):
    """Do what is asked; then say whether the unit wants the next L2 clock, and takes commands."""
    M = mff(S)
    if what == SEND:
        return mff_send(S, a, b)
    if what == RECEIVE:
        mff_receive(S, a)
        return np.int64(0)
    if what == SKIP:
        mff_skip(S, a, b)
        return np.int64(0)
    if what == HELD:
        M.mff_stall_job_cycles += 1
        return np.int64(0)
    if what == PENDING:
        return M.commands_used
    answer = np.int64(0)
    if what == TICK:
        mff_tick(S)
    elif what == ARRIVE:
        mff_arrival(S, a, b)
    elif what == ACCEPT:
        mff_accept(S, a)
    elif what == DRAINED:
        answer = mff_drained(S)
    X = sockets(S)
    X.awake = with_bit(X.awake, np.int64(SOCKET), mask_any(M.p_active, M.words) | M.engines_active)
    X.full = with_bit(X.full, np.int64(SOCKET), mff_full(S))
    return answer
