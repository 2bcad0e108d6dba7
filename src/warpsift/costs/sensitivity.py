"""Which conclusions survive: every coefficient halved and doubled, one at a time.

Energy is linear in the coefficients, so nothing has to be run again. `of_ratio` is the table to print beside a claim
such as "the SCU saves 3x": it says for each coefficient what the saving would be if that number were wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.costs.energy import EnergyReport, joules_by_coefficient

FACTORS = (0.5, 2.0)


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
    before, after = joules_by_coefficient(baseline), joules_by_coefficient(other)
    rows = []
    for name in before | after:
        results = [
            (baseline.energy_joules + (factor - 1) * before.get(name, 0.0))
            / (other.energy_joules + (factor - 1) * after.get(name, 0.0))
            for factor in FACTORS
        ]
        rows.append(Row(name, before.get(name, 0.0) / baseline.energy_joules, *results))
    return sorted(rows, key=lambda row: -row.swing)
