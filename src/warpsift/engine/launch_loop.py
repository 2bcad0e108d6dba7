"""The loop over cycles while a kernel runs."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER, S_t
from warpsift.engine.core.jit import compiled, i64
from warpsift.engine.core.masks import mask_any
from warpsift.engine.core.sampling import sample, sampler
from warpsift.engine.dram.dram_controller import dram_tick
from warpsift.engine.l2.l2_state import l2
from warpsift.engine.machine_cycle import (
    DONE,
    ERROR_DEADLOCK,
    FAILED,
    NEED_WORK,
    PAUSED,
    core_cycle,
    handle_events,
    memory_cycle,
    next_cycle,
)
from warpsift.engine.noc.ports import noc
from warpsift.engine.sm.dispatch import dispatch_tick
from warpsift.engine.sm.sm_state import sms
from warpsift.engine.unit_socket import units_drained, units_pending


@compiled(i64, S_t, i64, i64)
def run_launch(S, final, pause_at):
    """Simulate until the stream runs dry (NEED_WORK), all work is done (DONE, only if final), or `pause_at`."""
    C = sms(S)
    N = noc(S)
    Z = sampler(S)
    while True:
        dry = np.int64(0)
        if mask_any(C.p_room, C.words) != 0:
            dry = dispatch_tick(S)
        if dry != 0 and final == 0:
            return np.int64(NEED_WORK)
        idle = C.live_ctas == 0 and C.chunk_head == C.chunk_tail and N.in_use == 0 and l2(S).fetching == 0
        if final != 0 and idle and units_drained(S) != 0:  # asking sends what is left, so it comes last
            return np.int64(DONE)
        handle_events(S)
        dram_tick(S)
        memory_cycle(S)
        core_cycle(S)
        if S.error != 0:
            return np.int64(FAILED)
        following = next_cycle(S)
        if following >= FOREVER:
            idle = C.live_ctas == 0 and C.chunk_head == C.chunk_tail and N.in_use == 0 and l2(S).fetching == 0
            if idle and units_pending(S) == 0:
                continue
            S.error = ERROR_DEADLOCK
            return np.int64(FAILED)
        if Z.interval != 0:
            while Z.next_at <= following:
                sample(S)
        S.now = following
        if S.now >= pause_at:
            return np.int64(PAUSED)
