"""What the engine calls in the parts of the IRU-enhanced SCU; its code is made of the SCU's sources too."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.masks import mask_any
from warpsift.engine.unit_socket import ACCEPT, PENDING, TICK, sockets, unit_calls, with_bit
from warpsift.units.scu.iscu.iscu_parts import packet_came, parts_tick
from warpsift.units.scu.iscu.iscu_state import SOCKET, iscu
from warpsift.units.scu.scu_state import SOCKET as UNIT


@unit_calls("the parts of the IRU-enhanced SCU", SOCKET, UNIT)
def iscu_calls(S, what, a, b):
    B = iscu(S)
    if what == PENDING:
        return B.active
    if what == TICK:
        parts_tick(S)
    elif what == ACCEPT:
        packet_came(S, b, a)
    X = sockets(S)
    X.awake = with_bit(X.awake, np.int64(SOCKET), mask_any(B.p_busy, B.words_of_mask))
    return np.int64(0)
