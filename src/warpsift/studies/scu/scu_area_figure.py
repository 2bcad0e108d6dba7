"""Section 6.4: area of the SCU."""

from __future__ import annotations

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.asked_machine import machine_of
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_runs import GRAPHS, request
from warpsift.sweep import Results
from warpsift.units import unit_named

PAPER_MM2 = {"gtx980": 13.27, "tx1": 3.65}


def matrix(scale: Scale) -> list[Request]:
    return []


def figure(results: Results, scale: Scale) -> Figure:
    rows, claims = [], []
    for gpu, paper in PAPER_MM2.items():
        machine = machine_of(request("bfs", GRAPHS[0], gpu, "scu", scale))
        report = unit_named("scu").area(machine, storage="flip_flop")
        rows += [{"gpu": gpu, "part": name, "value": part.mm2} for name, part in report.parts.items()]
        claims.append(PaperValue(f"SCU of {gpu}, mm2", paper, ours=report.total_mm2))
    return Figure(
        "Area of the SCU at 32 nm",
        Chart("stacked", x="gpu", y="value", series="part", y_label="mm2", better="lower"),
        rows,
        "SCU paper, section 6.4",
        claims,
        ["Buffers of flip-flops, logic synthesised; the distance to the paper is unresolved (docs/area.md)."],
        name="scu-area",
    )
