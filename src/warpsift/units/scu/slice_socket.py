"""What the engine calls in the SCU's stations at the L2 slices: packets of probes, L2 clocks, answers of the slice."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.masks import mask_any
from warpsift.engine.unit_socket import ACCEPT, ARRIVE, PENDING, TICK, sockets, unit_calls, with_bit
from warpsift.units.scu.scu_state import SOCKET as UNIT
from warpsift.units.scu.slice_state import SOCKET, scu_slice
from warpsift.units.scu.slice_station import accept_probes, slice_answers, stations_tick


@unit_calls("filtering at the L2 slices", SOCKET, UNIT)
def slice_calls(S, what, a, b):
    B = scu_slice(S)
    if what == PENDING:
        return B.held
    if what == TICK:
        stations_tick(S)
    elif what == ACCEPT:
        accept_probes(S, b, a)
    elif what == ARRIVE:
        slice_answers(S, a, b)
    X = sockets(S)
    X.awake = with_bit(X.awake, np.int64(SOCKET), mask_any(B.p_active, B.words))
    return np.int64(0)
