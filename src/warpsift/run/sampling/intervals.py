"""95 % intervals of every number of a sampled run, by a jackknife.

The run is estimated again with a tenth of its samples left out, ten times, and everything that follows from counters
(rates, energy, floors) is computed from each of the ten. How much they differ says how much a number depends on which
samples were taken; so numbers that depend on each other need no rules of their own (Efron and Stein, Ann. Statist.
9, 1981). What a leap itself does to the machine is not in that: `LEAP_ERROR` is added for it, also where one window is
all that there is, and leaving it out moves nothing. Exact is what a stretched estimate does not move either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warpsift.machines.spec import Machine
from warpsift.run.record import RunResult
from warpsift.run.request import Request
from warpsift.run.run_energy import add_energy
from warpsift.run.sampling.estimated_engine import EstimatedEngine
from warpsift.run.timing import add_floor, add_timing

T_95 = 2.262  # Student's t for 95 %, 9 degrees of freedom
EXACT = 1e-9  # rounding, where sums are made in another order
LEAP_ERROR = 0.04  # of a number that is estimated: docs/sampling.md says where it comes from

Tree = dict[str, Any]


def figures(result: RunResult, engine: Any, machine: Machine, request: Request) -> Tree:
    """All numbers of a run that follow from an engine's counters."""
    phases = [replace(phase, timing={}, energy=None) for phase in result.phases]
    own = replace(result, phases=phases, timing={}, energy={}, notes=dict(result.notes))
    add_timing(own, engine, machine, own.edges_reached)
    add_floor(own, engine, machine)
    add_energy(own, engine, machine, request)
    parts = [
        {**phase.timing, **({"energy_joules": phase.energy.energy_joules} if phase.energy else {})} for phase in phases
    ]
    return {**own.timing, **own.energy, "phases": dict(enumerate(parts))}


def add_intervals(
    result: RunResult, best: EstimatedEngine, others: Sequence[EstimatedEngine], machine: Machine, request: Request
) -> None:
    """Fill in `result.intervals`: the numbers of the result by name, [low, high] each."""
    found = figures(result, best, machine, request)
    replicates = [figures(result, other, machine, request) for other in others]
    result.intervals = _tree(found, replicates)
    result.intervals["phases"] = list(result.intervals["phases"].values())


def _tree(found: Tree, replicates: Sequence[Tree]) -> Tree:
    tree: Tree = {}
    for name, value in found.items():
        others = [other.get(name) for other in replicates]
        if isinstance(value, dict):
            tree[name] = _tree(value, [other or {} for other in others])
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            tree[name] = interval(value, [other if isinstance(other, (int, float)) else value for other in others])
    return tree


def interval(value: float, replicates: Sequence[float]) -> list[float]:
    """[low, high] of a number, from what it is with one group of samples left out each, and stretched."""
    *left_out, stretched = replicates
    groups = len(left_out)
    mean = sum(left_out) / groups
    variance = (groups - 1) / groups * sum((other - mean) ** 2 for other in left_out)
    if variance == 0 and math.isclose(stretched, mean, rel_tol=EXACT):
        return [value, value]
    half = math.hypot(T_95 * math.sqrt(variance), LEAP_ERROR * value)
    low = max(value - half, 0.0) if value >= 0 else value - half
    return [low, value + half]
