"""From a sampled run to the counters of every launch and operation.

Two kinds of gaps are filled. A leap's cycles follow from its work: a sum of costs of its features,
none negative, fitted to the windows of its launch (of its kind, if those are few) and then brought to what
the windows around it took. A launch that was left out follows in the same way from the timed launches of its kind, by
features of the stream. Counters of work grow with transactions, those of L2 misses and DRAM with the sectors that its
touches say would have moved, those of time with cycles; what the stream says exactly (instructions, CTAs) is not
estimated.

Leaving out every tenth window and every tenth timed launch gives another estimate: `group` says which tenth. From ten
such follow the intervals (`intervals.py`). One more, `stretched`, has a little more of all that was not timed: numbers
that do not move with it are exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.optimize import nnls

from warpsift.engine.counters import is_peak
from warpsift.engine.leap.sampled_launch import (
    DRAM_SECTORS,
    INSTRUCTIONS,
    LEAP_TIME,
    TRANSACTIONS,
    Leap,
    SampledLaunch,
    Window,
)
from warpsift.simt.stream import LaunchInfo
from warpsift.simt.stream_counter import LaunchRecord, OperationRecord, StreamCounters

GROUPS = 10
OWN_WINDOWS = 12  # a launch with as many windows needs none of its kind's
AROUND = 2  # windows on each side of a leap that say how fast it was
TIME, WORK, SECTORS = range(3)
STRETCH = (1.01, 1.02, 1.03)  # by which counters of each are more in a stretched estimate: whatever it moves is no fact
NEAREST = 3  # timed launches that say how fast a launch is that was left out, and how it divides its time
ALIKE = 8  # timed launches nearest to it that costs are fitted to
# Features that costs may be fitted to; the first that predicts best is taken.
SUBSETS = (range(4), (LEAP_TIME,), (TRANSACTIONS,), (INSTRUCTIONS,), (TRANSACTIONS, DRAM_SECTORS))


MISSES = ("l2_read_misses", "l2_fills", "l2_writebacks", "l2_evictions")


def grows_with(name: str) -> int:
    """What a counter grows with: TIME, WORK, or the SECTORS of DRAM."""
    if name.endswith(("cycles", "clocks")):
        return TIME
    return SECTORS if name in MISSES or name.startswith("dram_") else WORK


def fitted(work: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """Costs per unit of work, none negative, with the least relative error."""
    scale = np.maximum(cycles, 1.0)
    size = np.maximum(np.abs(work / scale[:, None]).max(axis=0), 1e-30)
    costs, _ = nnls(work / scale[:, None] / size, cycles / scale)
    return costs / size


def chosen_features(work: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """Which features tell best how long windows take that the costs were not fitted to (ten-fold cross-validation)."""
    numbers = np.arange(len(cycles))
    if len(cycles) < 4:
        return np.ones(work.shape[1], bool)
    errors = []
    for subset in SUBSETS:
        columns = np.isin(np.arange(work.shape[1]), subset)
        error = 0.0
        for group in range(GROUPS):
            test = numbers % GROUPS == group
            if test.any() and not test.all():
                predicted = work[test][:, columns] @ fitted(work[~test][:, columns], cycles[~test])
                error += float(np.abs(predicted / cycles[test] - 1).sum())
        errors.append((error, columns))
    return min(errors, key=lambda each: each[0])[1]


@dataclass(frozen=True)
class Known:
    """What the stream says of a launch or operation: features, and counters that it has exactly."""

    work: np.ndarray  # 1, then its features
    exact: Mapping[str, int]


def known_launch(record: LaunchRecord, longest_warp: int) -> Known:
    c = record.counters
    exact = {f.name: getattr(c, f.name) for f in fields(StreamCounters)}
    exact |= {"ctas_dispatched": record.info.ctas, "ctas_completed": record.info.ctas, "launches": 1}
    ops = c.memory_instructions + c.shared_instructions + c.unit_instructions
    return Known(np.array([1, c.transactions, c.warp_instructions, ops, longest_warp], float), exact)


def known_operation(record: OperationRecord, names: Sequence[str]) -> Known:
    counts = [record.counters.get(name, 0) for name in names]  # an operation on nothing has none
    return Known(np.array([1, sum(counts), *counts], float), {"launches": 0})


def known_stream(
    sampled: Sequence[SampledLaunch], launches: Sequence[LaunchRecord], operations: Sequence[OperationRecord]
) -> list[Known]:
    """In the order of the run."""
    of_gpu, of_units = iter(launches), iter(operations)
    names = sorted({name for record in operations for name in record.counters})
    return [
        known_launch(next(of_gpu), each.longest_warp)
        if isinstance(each.info, LaunchInfo)
        else known_operation(next(of_units), names)
        for each in sampled
    ]


class Estimate:
    """Counters of every launch and operation of a sampled run, with one group of samples left out, or none."""

    def __init__(
        self,
        sampled: Sequence[SampledLaunch],
        known: Sequence[Known],
        group: int | None = None,
        features: dict[Hashable, np.ndarray] | None = None,
        stretched: bool = False,
    ) -> None:
        self.group = group
        self.stretch = np.array(STRETCH if stretched else (1.0, 1.0, 1.0))
        self.features = {} if features is None else features  # by kind; those of the estimate with all samples
        self.sampled, self.known = sampled, known
        self.names = sorted({name for each in sampled if each.timed is not None for name in each.timed})
        self.grows = np.array([grows_with(name) for name in self.names], int)
        self.cycles = self.names.index("cycles") if self.names else 0
        self.values = np.zeros((len(sampled), len(self.names)))
        self._of_kind: dict[Hashable, list[int]] = {}
        for index, each in enumerate(sampled):
            self._of_kind.setdefault(each.kind, []).append(index)
        for members in self._of_kind.values():
            self._fill_kind(members)
        self._set_exact()

    def _kept(self, number: int) -> bool:
        return self.group is None or number % GROUPS != self.group

    def _fill_kind(self, members: Sequence[int]) -> None:
        numbered = iter(range(1 << 60))
        windows = {index: [(next(numbered), w) for w in self.sampled[index].windows] for index in members}
        pool = [w for own in windows.values() for number, w in own if self._kept(number)]
        timed = [index for index in members if self.sampled[index].timed is not None]
        kind = self.sampled[members[0]].kind
        if pool and kind not in self.features:
            cycles = np.array([w.counters["cycles"] for w in pool], float)
            self.features[kind] = chosen_features(np.array([w.work for w in pool]), cycles)
        for index in timed:
            self.values[index] = self._vector(self.sampled[index].timed or {})
            if self.sampled[index].leaps:
                self.values[index] += self._leaps(self.sampled[index], windows[index], pool)
        if len(timed) < len(members):
            kept = [index for number, index in enumerate(timed) if self._kept(number)] or timed
            for index in members:
                if self.sampled[index].timed is None:
                    self.values[index] = self._left_out(index, kept)

    def _vector(self, counters: Mapping[str, int]) -> np.ndarray:
        return np.array([counters.get(name, 0) for name in self.names], float)

    def _leaps(self, launch: SampledLaunch, own: list[tuple[int, Window]], pool: list[Window]) -> np.ndarray:
        """Counters of all that was leapt over in a launch."""
        kept = [w for number, w in own if self._kept(number)]
        fit = kept if len(kept) >= OWN_WINDOWS else (pool or [w for _, w in own])
        used = self.features[launch.kind]
        costs = np.zeros(len(used))
        cycles = np.array([w.counters["cycles"] for w in fit], float)
        costs[used] = fitted(np.array([w.work[used] for w in fit]), cycles)
        total = np.zeros(len(self.names))
        for leap in launch.leaps:
            total += self._one_leap(leap, own, kept or fit, costs)
        return total

    def _one_leap(self, leap: Leap, own: list[tuple[int, Window]], kept: list[Window], costs: np.ndarray) -> np.ndarray:
        first, last = leap.behind - AROUND, leap.behind + AROUND
        near = [w for place, (number, w) in enumerate(own) if first <= place < last and self._kept(number)] or kept
        took = np.array([w.counters["cycles"] for w in near], float)
        model = np.array([w.work @ costs for w in near])
        speed = took.sum() / model.sum() if model.sum() > 0 else 1.0
        cycles = float(leap.work @ costs) * speed
        summed = sum((self._vector(w.counters) for w in near), np.zeros(len(self.names)))
        work = np.sum([w.work for w in near], axis=0)
        per_time = cycles / max(took.sum(), 1.0)
        per_work = leap.work[TRANSACTIONS] / work[TRANSACTIONS] if work[TRANSACTIONS] else per_time
        sectors = leap.work[DRAM_SECTORS] / work[DRAM_SECTORS] if work[DRAM_SECTORS] else per_work
        return self._grown(summed, (per_time, per_work, sectors))

    def _grown(self, counters: np.ndarray, by: tuple[float, float, float]) -> np.ndarray:
        """Counters of more or less of the same; the largest values seen stay out of it."""
        grown = counters * (np.array(by) * self.stretch)[self.grows]
        grown[[is_peak(name) for name in self.names]] = 0.0
        return grown

    def _left_out(self, row: int, timed: list[int]) -> np.ndarray:
        """Counters of a launch that was not timed at all."""
        touched = self.sampled[row].touched_sectors
        told = 0 if touched is None else 1  # whether sectors are known
        first = 1 - told  # what a launch takes in any case is nothing of a long one
        wanted = np.array([*self.known[row].work[first:], *[touched] * told], float)
        work = np.array([[*self.known[index].work[first:], *[self._sectors(index)] * told] for index in timed])
        distance = np.abs(np.log((work + 1) / (wanted + 1))).sum(axis=1)
        order = np.argsort(distance, kind="stable")[:ALIKE]
        work, values = work[order], self.values[timed][order]
        cycles = values[:, self.cycles]
        costs = fitted(work, cycles)
        near = slice(0, NEAREST)
        model = (work[near] @ costs).sum()
        predicted = float(wanted @ costs) * (cycles[near].sum() / model if model > 0 else 1.0)
        part = wanted / np.maximum(work[near].sum(axis=0), 1e-9)
        per_work = part[1 - first] if wanted[1 - first] else 1 / len(cycles[near])
        sectors = part[-1] if told and work[near, -1].sum() else per_work
        per_time = predicted / max(cycles[near].sum(), 1.0)
        return self._grown(values[near].sum(axis=0), (per_time, per_work, sectors))

    def _sectors(self, row: int) -> float:
        """Between L2 and DRAM, of a timed launch."""
        return sum(self.values[row, self.names.index(name)] for name in ("l2_fills", "l2_writebacks"))

    def _set_exact(self) -> None:
        for row, known in enumerate(self.known):
            for name, value in known.exact.items():
                if name in self.names:
                    self.values[row, self.names.index(name)] = value

    def counters(self, row: int) -> dict[str, Any]:
        return dict(zip(self.names, np.rint(self.values[row]).astype(np.int64).tolist(), strict=True))
