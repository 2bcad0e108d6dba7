"""Section 6.2: area of the MFF."""

from __future__ import annotations

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.asked_machine import machine_of
from warpsift.studies.mff.mff_runs import GRAPHS, UNIT, request
from warpsift.studies.scale import Scale
from warpsift.sweep import Results
from warpsift.units import unit_named

PAPER_MM2 = 0.87


def matrix(scale: Scale) -> list[Request]:
    return []


def figure(results: Results, scale: Scale) -> Figure:
    machine = machine_of(request("bfs", GRAPHS[0], UNIT, scale))
    report = unit_named("mff").area(machine)
    rows = [{"gpu": machine.name, "part": name, "value": part.mm2} for name, part in report.parts.items()]
    return Figure(
        "Area of the MFF at 32 nm",
        Chart("stacked", x="gpu", y="value", series="part", y_label="mm2", better="lower"),
        rows,
        "MFF paper, section 6.2",
        [PaperValue("the MFF's storage, mm2", PAPER_MM2, ours=report.storage_mm2)],
        ["The paper's figure is CACTI's, so of storage; ours from CACTI 7, logic estimated (docs/area.md)."],
        name="mff-area",
    )
