"""The loop over cycles of an operation that a unit runs between launches: the GPU waits, memory and the unit work."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, S_t
from warpsift.engine.core.jit import compiled, i64
from warpsift.engine.dram.dram_controller import dram_tick
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.machine_cycle import (
    DONE,
    ERROR_DEADLOCK,
    FAILED,
    NEED_WORK,
    PAUSED,
    handle_events,
    memory_cycle,
    next_cycle,
)
from warpsift.engine.noc.ports import noc
from warpsift.engine.unit_socket import AWAKE, COMPLETE, CYCLE, HUNGRY, SKIPPED, call_unit


@compiled(i64, S_t, i64, i64)
def run_operation(S, socket, pause_at):
    """Simulate until the trace runs short (NEED_WORK), the operation is complete (DONE), or `pause_at`."""
    N = noc(S)
    while True:
        handle_events(S)
        dram_tick(S)
        memory_cycle(S)
        state = call_unit(S, socket, np.int64(CYCLE), np.int64(0), np.int64(0))
        if S.error != 0:
            return np.int64(FAILED)
        if state & COMPLETE != 0 and N.in_use == 0 and l2(S).fetching == 0:
            return np.int64(DONE)
        following = S.now + 1
        if state & AWAKE == 0:
            following = next_cycle(S)
            if following >= FOREVER:
                S.error = ERROR_DEADLOCK
                return np.int64(FAILED)
            call_unit(S, socket, np.int64(SKIPPED), following - S.now - 1, np.int64(0))
        S.now = following
        if state & HUNGRY != 0:
            return np.int64(NEED_WORK)
        if S.now >= pause_at:
            return np.int64(PAUSED)
