"""Fig. 11: what the basic unit brings, and what filtering and grouping add."""

from __future__ import annotations

from typing import Any

from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_means import MEAN, mean_of, ratio_rows
from warpsift.studies.scu.scu_runs import GPUS, evaluation
from warpsift.sweep import Results

BASIC_SPEEDUP, BASIC_ENERGY = 1.5, 2.0  # section 6.3: "around 2x energy reduction and 1.5x speedup"


def matrix(scale: Scale) -> list[Request]:
    return [r for r in evaluation(scale) if r.algorithm != "pagerank"]


def figure(results: Results, scale: Scale) -> Figure:
    measures = {
        "speedup": lambda plain, unit: plain["seconds"] / unit["seconds"],
        "energy reduction": lambda plain, unit: plain["energy_joules"] / unit["energy_by_gpu_idle"]["power_gate"],
    }
    rows: list[dict[str, Any]] = []
    claims = []
    for what, measure in measures.items():
        for unit in ("scu-basic", "scu"):
            kind = "basic" if unit == "scu-basic" else "enhanced"

            def chosen(algorithm: str, unit: str = unit) -> str:
                return "scu-basic" if algorithm == "pagerank" else unit

            found = ratio_rows(results, scale, chosen, measure)
            for gpu in GPUS:
                for algorithm in ("bfs", "sssp"):
                    value = mean_of(found, gpu=gpu, algorithm=algorithm, graph=MEAN)
                    rows.append({"case": f"{algorithm}, {gpu}", "unit": kind, "what": what, "value": value})
    for what, paper in (("speedup", BASIC_SPEEDUP), ("energy reduction", BASIC_ENERGY)):
        ours = [row["value"] for row in rows if row["what"] == what and row["unit"] == "basic"]
        claims.append(PaperValue(f"basic unit, {what}, all four", paper, ours=sum(ours) / len(ours), line=1))
    return Figure(
        "Basic and enhanced SCU",
        Chart(
            "bars",
            x="case",
            y="value",
            series="unit",
            facet="what",
            y_label="plain GPU / with SCU",
            reference=1,
            better="higher",
        ),
        rows,
        "SCU paper, Fig. 11",
        claims,
        ["Geometric mean over the six graphs; SMs power-gated while the SCU works."],
        name="scu-fig11",
    )
