"""An estimate in the form of an engine that has timed everything: what the rest of `run` asks an engine for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsift.engine.counters import Counters, is_peak, total_of
from warpsift.engine.engine import LaunchResult, OperationResult
from warpsift.engine.leap.sampled_engine import SampledEngine
from warpsift.engine.leap.sampled_launch import SampledLaunch
from warpsift.run.sampling.estimate import GROUPS, Estimate, Known, known_stream
from warpsift.simt.stream import LaunchInfo
from warpsift.simt.stream_counter import LaunchRecord, OperationRecord


class EstimatedEngine:
    """Launches and operations with estimated counters; `merged`: those of a phase as one, for replicates."""

    def __init__(self, engine: SampledEngine, estimate: Estimate, merged: bool = False) -> None:
        self.machine, self.units = engine.machine, engine.units
        self.launches: list[LaunchResult] = []
        self.operations: list[OperationResult] = []
        rows = _by_phase(estimate) if merged else [[row] for row in range(len(estimate.sampled))]
        peaks = np.array([is_peak(name) for name in estimate.names], bool)
        scale = _array_scale(estimate)
        cycle = 0
        for members in rows:
            each, values = estimate.sampled[members[0]], estimate.values[members]
            summed = np.where(peaks, values.max(axis=0), values.sum(axis=0))
            numbers = np.rint(summed).astype(np.int64).tolist()
            counters = Counters(dict(zip(estimate.names, numbers, strict=True)))
            if isinstance(each.info, LaunchInfo):
                arrays = {} if merged else _scaled(each, scale.get(each.kind, 1.0))
                self.launches.append(LaunchResult(each.info, cycle, counters, (), arrays))
            else:
                self.operations.append(OperationResult(each.info, cycle, counters))
            cycle += counters.cycles
        self.total = total_of([*(r.counters for r in self.launches), *(r.counters for r in self.operations)])

    def seconds(self, cycles: float) -> float:
        return cycles / (self.machine.clocks.core_mhz * 1e6)


def _by_phase(estimate: Estimate) -> list[list[int]]:
    found: dict[tuple[object, ...], list[int]] = {}
    for row, each in enumerate(estimate.sampled):
        info = each.info
        own = ("", "") if isinstance(info, LaunchInfo) else (info.unit, info.operation)
        found.setdefault((info.phase, info.compaction, *own), []).append(row)
    return list(found.values())


def _array_scale(estimate: Estimate) -> dict[object, float]:
    """By kind of launch: transactions of all over transactions that were timed."""
    timed: dict[object, float] = {}
    every: dict[object, float] = {}
    for each, known in zip(estimate.sampled, estimate.known, strict=True):
        every[each.kind] = every.get(each.kind, 0.0) + known.work[1]
        seen = sum(counts["l1_transactions"] for counts in each.arrays.values())
        timed[each.kind] = timed.get(each.kind, 0.0) + seen
    return {kind: every[kind] / seen for kind, seen in timed.items() if seen}


def _scaled(each: SampledLaunch, scale: float) -> dict[str, dict[str, int]]:
    return {name: {key: round(value * scale) for key, value in counts.items()} for name, counts in each.arrays.items()}


def estimated(
    engine: SampledEngine, launches: Sequence[LaunchRecord], operations: Sequence[OperationRecord]
) -> tuple[EstimatedEngine, list[EstimatedEngine], list[Known]]:
    """The estimate; those with one group of samples left out each, and behind them the stretched one."""
    known = known_stream(engine.sampled, launches, operations)
    every = Estimate(engine.sampled, known)
    best = EstimatedEngine(engine, every)
    replicates = [Estimate(engine.sampled, known, group, every.features) for group in range(GROUPS)]
    replicates.append(Estimate(engine.sampled, known, features=every.features, stretched=True))
    others = [EstimatedEngine(engine, replicate, True) for replicate in replicates]
    return best, others, known
