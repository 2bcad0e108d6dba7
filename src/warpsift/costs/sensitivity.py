"""Which conclusions survive: every coefficient halved and doubled, one at a time.

Energy is linear in the coefficients, so nothing has to be run again. `of_ratio` and `of_mean_ratio` are the tables to
print beside a claim such as "the SCU saves 3x": they say for each coefficient what the saving would be if that number
were wrong. `conclude` says whether the claim is the same one throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from warpsift.costs.cost_errors import CostError
from warpsift.costs.energy import EnergyReport, joules_by_coefficient

FACTORS = (0.5, 2.0)
# One more "coefficient" of a saving: everything that is paid by time at once, since most of it rests on the same few
# measurements of boards. Halving it is doubling every energy per event, as far as a ratio goes.
ALL_STATIC = "all static powers"
Pair = tuple[EnergyReport, EnergyReport]  # the baseline, and what is compared with it


@dataclass(frozen=True)
class Row:
    """One coefficient: its share of the energy, and the result with it at half and at double."""

    coefficient: str
    share: float
    halved: float
    doubled: float

    @property
    def swing(self) -> float:
        """How far the result moves between the two."""
        return abs(self.doubled - self.halved)


@dataclass(frozen=True)
class Conclusion:
    """A saving (baseline over other), the worst that one wrong coefficient does to it, and whether it survives that."""

    saving: float
    lowest: float
    lowest_by: str  # the coefficient and its factor
    highest: float
    highest_by: str

    @property
    def survives(self) -> bool:
        """On the same side of 1 throughout: no single coefficient, halved or doubled, turns a saving into a loss."""
        return (self.lowest > 1) == (self.highest > 1)

    @property
    def text(self) -> str:
        claim = "saves energy" if self.saving > 1 else "costs energy"
        if self.survives:
            return f"{claim}: survives"
        turned = self.lowest_by if self.saving > 1 else self.highest_by
        return f"{claim}: turned by {turned}"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "survives": self.survives}


def of_energy(report: EnergyReport) -> list[Row]:
    """Joules of one run, most sensitive coefficient first."""
    total = report.energy_joules
    rows = [
        Row(name, joules / total if total else 0.0, *(total + (factor - 1) * joules for factor in FACTORS))
        for name, joules in joules_by_coefficient(report).items()
    ]
    return sorted(rows, key=lambda row: -row.swing)


def of_ratio(baseline: EnergyReport, other: EnergyReport) -> list[Row]:
    """Energy of the baseline over energy of the other run (the saving), most sensitive coefficient first.

    `share` is the coefficient's share of the baseline's energy.
    """
    return of_mean_ratio([(baseline, other)])


def of_mean_ratio(pairs: Sequence[Pair]) -> list[Row]:
    """The same for the geometric mean of several savings: one wrong coefficient is wrong in all of them.

    `share` is the mean share of the baselines' energy.
    """
    if not pairs:
        raise CostError("a mean saving needs at least one pair of runs.")
    joules = [(_joules(before), _joules(after)) for before, after in pairs]
    names = dict.fromkeys(name for before, after in joules for name in before | after)
    rows = []
    for name in names:
        results = [
            _geometric_mean(
                [
                    _scaled(plain, before.get(name, 0.0), factor) / _scaled(unit, after.get(name, 0.0), factor)
                    for (plain, unit), (before, after) in zip(pairs, joules, strict=True)
                ]
            )
            for factor in FACTORS
        ]
        shares = [b.get(name, 0.0) / plain.energy_joules for (plain, _), (b, _) in zip(pairs, joules, strict=True)]
        rows.append(Row(name, sum(shares) / len(shares), *results))
    return sorted(rows, key=lambda row: -row.swing)


def conclude(pairs: Sequence[Pair]) -> Conclusion:
    """Does the mean saving stay a saving (or a loss) whichever coefficient, or all static power, is off by two?"""
    saving = _geometric_mean([before.energy_joules / after.energy_joules for before, after in pairs])
    tried = [(saving, "none")]
    for row in of_mean_ratio(pairs):
        tried += [(row.halved, f"{row.coefficient} x 0.5"), (row.doubled, f"{row.coefficient} x 2")]
    return Conclusion(saving, *min(tried), *max(tried))


def _joules(report: EnergyReport) -> dict[str, float]:
    return {**joules_by_coefficient(report), ALL_STATIC: report.static_joules}


def _scaled(report: EnergyReport, joules: float, factor: float) -> float:
    return report.energy_joules + (factor - 1) * joules


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
