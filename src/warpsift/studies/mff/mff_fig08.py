"""Fig. 8: energy with the MFF, of the plain GPU's."""

from __future__ import annotations

from warpsift.report.figures import Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import PLAIN, SAME_OCCUPANCY, bars_by_algorithm, evaluation, overall, ratio_rows
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

PAPER = 1 - 0.546  # section 6.2: "average 54.6% reduction"


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    rows, claims = [], []
    for label, base in (("of the plain GPU", PLAIN), ("of the plain GPU at equal occupancy", SAME_OCCUPANCY)):
        found = ratio_rows(results, scale, base, lambda plain, unit: unit["energy_joules"] / plain["energy_joules"])
        rows += [{"baseline": label, **row} for row in found]
        claims.append(PaperValue(f"energy {label}, mean", PAPER, ours=overall(found), line=1))
    return Figure(
        "Energy with the MFF",
        bars_by_algorithm("energy, plain GPU = 1", "lower"),
        rows,
        "MFF paper, Fig. 8",
        claims,
        [
            "Compute stage only; mean over all algorithms and graphs. Error bars: one standard deviation over sources.",
        ],
        name="mff-fig08",
    )
