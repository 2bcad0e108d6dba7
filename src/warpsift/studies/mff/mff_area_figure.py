"""Section 6.2: area of the MFF."""

from __future__ import annotations

from warpsift.machines import load_machine
from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import GPU
from warpsift.studies.scale import Scale
from warpsift.sweep import Results
from warpsift.units import unit_named

PAPER_MM2 = 0.87


def matrix(scale: Scale) -> list[Request]:
    return []


def figure(results: Results, scale: Scale) -> Figure:
    machine = load_machine(GPU)
    report = unit_named("mff").area(machine)
    rows = [{"gpu": GPU, "part": name, "value": part.mm2} for name, part in report.parts.items()]
    return Figure(
        "Area of the MFF at 32 nm",
        Chart("stacked", x="gpu", y="value", series="part", y_label="mm2", better="lower"),
        rows,
        "MFF paper, section 6.2",
        [PaperValue("MFF, mm2", PAPER_MM2, ours=report.total_mm2)],
        ["Storage from CACTI 7, logic estimated; docs/area.md goes through the parts."],
        name="mff-area",
    )
