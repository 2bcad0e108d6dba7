"""What the engine calls in the Stream Compaction Unit."""

from __future__ import annotations

import numpy as np

from warpsift.engine.unit_socket import AWAKE, COMPLETE, CYCLE, HUNGRY, REPLY, SKIPPED, unit_calls
from warpsift.units.scu.iscu.iscu_state import SOCKET as PARTS
from warpsift.units.scu.scu_memory import scu_reply
from warpsift.units.scu.scu_pipeline import count_stalls, scu_tick
from warpsift.units.scu.scu_state import SOCKET, scu
from warpsift.units.scu.slice_state import SOCKET as STATIONS


@unit_calls("the stream compaction unit", SOCKET, STATIONS, PARTS)
def scu_calls(S, what, a, b):
    U = scu(S)
    if what == REPLY:
        scu_reply(S, a, b)
    elif what == SKIPPED:
        count_stalls(S, a)
    elif what == CYCLE:
        if U.awake != 0:
            scu_tick(S)
        else:
            count_stalls(S, np.int64(1))
        state = np.int64(COMPLETE) if U.done != 0 else np.int64(0)
        if U.awake != 0:
            state |= AWAKE
        if U.final == 0 and U.run_tail - U.address_run <= U.width:
            state |= HUNGRY
        return state
    return np.int64(0)
