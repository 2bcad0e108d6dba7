"""Section 6.2: memory traffic and interconnect stall cycles with the MFF."""

from __future__ import annotations

from functools import partial

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import PLAIN, SAME_OCCUPANCY, UNIT, Row, evaluation, ratio_rows, totals
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

PAPER = {"memory traffic": 1 - 0.275, "interconnect stall cycles": 1 - 0.883}
COLUMNS = {"memory traffic": "dram_bytes", "interconnect stall cycles": "noc_stall_cycles"}


def _left(column: str, plain: Row, unit: Row) -> float:
    return unit[column] / max(plain[column], 1)


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    rows, claims = [], []
    systems = (PLAIN, SAME_OCCUPANCY, UNIT)
    sums = {system: totals(results, scale, system, tuple(COLUMNS.values())) for system in systems}
    for what, column in COLUMNS.items():
        found = ratio_rows(results, scale, PLAIN, partial(_left, column))
        rows += [{"what": what, **row} for row in found]
        for baseline, words in ((PLAIN, "all runs together"), (SAME_OCCUPANCY, "at equal occupancy")):
            together = sums[UNIT][column] / max(sums[baseline][column], 1)
            claims.append(PaperValue(f"{what} left, {words}", PAPER[what], ours=together, line=1))
    return Figure(
        "Memory traffic and interconnect stalls with the MFF",
        Chart(
            "bars",
            x="graph",
            y="value",
            series="algorithm",
            facet="what",
            error="spread",
            y_label="with the MFF, plain GPU = 1",
            reference=1,
            better="lower",
        ),
        rows,
        "MFF paper, section 6.2",
        claims,
        [
            "Compute stage only, against the plain GPU at full occupancy; the claims have the one at the unit's. "
            "The mean is over sums: some runs hardly stall at all, and a mean of ratios would be theirs. Stall cycles "
            "are those of everybody who waits for the interconnect, cores and unit alike.",
        ],
        name="mff-traffic",
    )
