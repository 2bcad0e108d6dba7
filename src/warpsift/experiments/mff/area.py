"""Section 6.2: area of the MFF."""

from __future__ import annotations

from warpsift.costs.area import MffHardware, mff_area
from warpsift.experiments.mff.runs import GPU
from warpsift.experiments.scale import Scale
from warpsift.machines import load_machine
from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.request import Request
from warpsift.sweep import Results

PAPER_MM2 = 0.87


def matrix(scale: Scale) -> list[Request]:
    return []


def figure(results: Results, scale: Scale) -> Figure:
    machine = load_machine(GPU)
    report = mff_area(MffHardware.of(machine.mff, machine.l2.slices))
    rows = [{"gpu": GPU, "part": name, "value": part.mm2} for name, part in report.parts.items()]
    return Figure(
        "Area of the MFF at 32 nm",
        Chart("stacked", x="gpu", y="value", series="part", y_label="mm2"),
        rows,
        "MFF paper, section 6.2",
        [PaperValue("MFF, mm2", PAPER_MM2, ours=report.total_mm2)],
        ["Storage from CACTI 7, logic estimated; docs/area.md goes through the parts."],
        name="mff-area",
    )
