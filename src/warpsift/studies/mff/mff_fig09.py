"""Fig. 9: power by part, with and without the MFF, for two of the graphs."""

from __future__ import annotations

from warpsift.report.figures import Chart, Figure
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import ALGORITHMS, PLAIN, UNIT, compute_stage, request
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

GRAPHS = ("amazon-2008", "dblp-2011")  # the two that the paper shows


def matrix(scale: Scale) -> list[Request]:
    return [request(a, g, system, scale) for g in GRAPHS for a in ALGORITHMS for system in (PLAIN, UNIT)]


def figure(results: Results, scale: Scale) -> Figure:
    rows = []
    for graph in GRAPHS:
        for algorithm in ALGORITHMS:
            for label, system in (("GPU", PLAIN), ("MFF", UNIT)):
                found = compute_stage(results, request(algorithm, graph, system, scale))
                case = f"{algorithm} {label}"
                rows += [
                    {"graph": graph, "case": case, "part": part, "value": watts}
                    for part, watts in found["power_by_part"].items()
                ]
    return Figure(
        "Power by part",
        Chart("stacked", x="case", y="value", series="part", facet="graph", y_label="watts", better="lower"),
        rows,
        "MFF paper, Fig. 9",
        (),
        ["The paper's text gives no numbers: memory power rises, core and interconnect power fall."],
        name="mff-fig09",
    )
