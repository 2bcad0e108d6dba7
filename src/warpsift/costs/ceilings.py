"""Arithmetic limits to print beside a claimed saving or speedup. No model enters: only what must hold for any.

Power that is drawn by time shrinks only by the speedup; a GPU that waits still takes the watts that its table says;
work that a unit does not replace stays; a unit of a given width and clock cannot pass over its elements faster than one
element per lane and cycle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from warpsift.costs.coefficients import CostTable
from warpsift.costs.cost_errors import CostError
from warpsift.costs.design import Design
from warpsift.costs.energy import energy


def static_share_limit(energy_reduction: float, speedup: float) -> float:
    """The largest share of the baseline's energy that can be static if a claimed reduction is to hold.

    Static energy falls by the speedup alone: share / speedup <= 1 / reduction.
    """
    _positive(energy_reduction=energy_reduction, speedup=speedup)
    return min(1.0, speedup / energy_reduction)


def reduction_limit(static_share: float, speedup: float) -> float:
    """The largest energy reduction that a run with a given static share can show at a given speedup."""
    _positive(speedup=speedup)
    if not 0 < static_share <= 1:
        raise CostError(f"static_share = {static_share:g} must be a share, above 0 and at most 1.")
    return speedup / static_share


def least_joules(
    table: CostTable, seconds: float, design: Design | None, gpu_idle: str, overrides: Mapping[str, float] | None = None
) -> float:
    """What a GPU takes that only waits for so long, no SM with a warp and its memory powered down.

    No run of that length takes less, whatever unit does its work.
    """
    waiting = {"seconds": seconds, "gpu_waiting_seconds": seconds}
    memory = {"dram_row_open_clocks": 0.0, "dram_powered_down_clocks": math.inf}
    return energy(waiting | memory, table, gpu_idle=gpu_idle, overrides=overrides, design=design).energy_joules


def replaced_share_needed(energy_reduction: float) -> float:
    """The share of the baseline's energy that a unit must take over entirely, at no cost, to reach a reduction."""
    _positive(energy_reduction=energy_reduction)
    return 1.0 - 1.0 / energy_reduction


def unit_floor_seconds(elements: float, passes: float, width: int, clock_hz: float) -> float:
    """The least time in which a unit can pass over its elements."""
    _positive(width=width, clock_hz=clock_hz)
    return elements * passes / (width * clock_hz)


def in_flight_floor_seconds(requests: float, in_flight: float, latency_seconds: float) -> float:
    """Little's law: the least time for requests of a given latency with so many of them in flight."""
    _positive(in_flight=in_flight)
    return requests * latency_seconds / in_flight


def _positive(**values: float) -> None:
    for name, value in values.items():
        if value <= 0:
            raise CostError(f"{name} = {value:g} must be above 0.")
