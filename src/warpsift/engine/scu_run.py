"""The main loop while the SCU runs: the GPU waits, the memory system and the unit work."""

from __future__ import annotations

import numpy as np

from warpsift.engine.dram import dram_tick
from warpsift.engine.layout import FOREVER, S_t, entry, i64
from warpsift.engine.noc import noc
from warpsift.engine.run import DONE, ERROR_DEADLOCK, FAILED, NEED_WORK, PAUSED, handle_events, memory_cycle, next_cycle
from warpsift.engine.scu import count_stalls, scu_tick
from warpsift.engine.scu_state import scu


@entry("the stream compaction unit", i64, S_t, i64)
def run_scu(S, pause_at):
    """Simulate until the trace runs short (NEED_WORK), the operation is complete (DONE), or `pause_at`."""
    U = scu(S)
    N = noc(S)
    while True:
        if U.final == 0 and U.run_tail - U.address_run <= U.width:
            return np.int64(NEED_WORK)
        handle_events(S)
        dram_tick(S)
        memory_cycle(S)
        if U.awake != 0:
            scu_tick(S)
        else:
            count_stalls(S, np.int64(1))
        if S.error != 0:
            return np.int64(FAILED)
        if U.done != 0 and N.in_use == 0:
            return np.int64(DONE)
        following = S.now + 1
        if U.awake == 0:
            following = next_cycle(S)
            if following >= FOREVER:
                S.error = ERROR_DEADLOCK
                return np.int64(FAILED)
            count_stalls(S, following - S.now - 1)
        S.now = following
        if S.now >= pause_at:
            return np.int64(PAUSED)
