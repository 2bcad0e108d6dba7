"""A sampled run's result: estimated figures in their usual places, their intervals, and how much was timed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpsift.engine.leap.sampled_engine import SampledEngine
from warpsift.machines.spec import Machine
from warpsift.run.record import RunResult
from warpsift.run.request import Request
from warpsift.run.run_energy import add_energy
from warpsift.run.sampling.estimate import Known
from warpsift.run.sampling.estimated_engine import EstimatedEngine, estimated
from warpsift.run.sampling.intervals import add_intervals
from warpsift.run.sinks import Observed
from warpsift.run.timing import add_floor, add_timing


def add_estimate(result: RunResult, engine: Any, machine: Machine, request: Request, sink: Observed) -> None:
    """Fill in what follows from a sampled run's estimate."""
    best, others, known = estimated(engine, sink.launches, sink.operations)
    timed: Any = best
    add_timing(result, timed, machine, result.edges_reached)
    add_floor(result, timed, machine)
    add_energy(result, timed, machine, request)
    add_intervals(result, best, others, machine, request)
    result.engine = None  # its counters are not those of the run
    result.sampling = {"sample": request.sample} | _shares(engine, best, known)


def _shares(engine: SampledEngine, best: EstimatedEngine, known: Sequence[Known]) -> dict[str, Any]:
    """How much of the run was timed."""
    timed = [each for each in engine.sampled if each.timed is not None]
    cycles = sum(each.timed.cycles for each in timed if each.timed is not None)
    return {
        "timed_share": round(cycles / max(best.total.cycles, 1), 4),
        "windows": sum(len(each.windows) for each in timed),
        "leaps": sum(len(each.leaps) for each in timed),
        "launches_timed": len(timed),
        "launches_left_out": len(known) - len(timed),
    }
