"""How long loads, commands to units and lines took in a window: what a leap behind it goes by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsift.engine.leap.leap_order import PACE_ONE
from warpsift.engine.sm.sm_state import MEMORY_OPS, WARPS
from warpsift.simt.stream import COMMAND


def loads_took(counters: Mapping[str, int]) -> int:
    """Cycles from issue to last data, in the mean."""
    loads = counters["loads_completed"]
    return max(1, counters["load_latency_cycles"] // loads) if loads else 1


def pace_of(counters: Mapping[str, int], lines: int) -> int:
    """Cycles of a load-store unit for a line, times PACE_ONE: more than one where caches or network refuse."""
    refused = counters["l1_reservation_fails"] + counters["l1_network_blocked_cycles"]
    return round(PACE_ONE * (1 + refused / max(lines, 1)))


def commands_in_flight(memory_ops: np.ndarray) -> np.ndarray:
    """Of each command to a unit that is waited for, on its way or in front of it: the row of its warp."""
    on_its_way = (memory_ops["remaining"] > 0) | (memory_ops["issued"] == 0)
    places = np.flatnonzero((memory_ops["kind"] == COMMAND) & on_its_way)
    return places // MEMORY_OPS * WARPS + memory_ops["warp"][places]


def commands_took(in_flight: float, cycles: int, commands: int, otherwise: int) -> int:
    """Cycles of a command, by Little's law: how many were in flight over how many there were per cycle."""
    return max(1, round(in_flight * cycles / commands)) if commands else otherwise
