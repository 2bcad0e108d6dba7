"""The waterfall of the SCU's speedups: per-lane resources, hash, the authors' machine and baseline, ideal parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from warpsift.report.figures import Figure
from warpsift.run.request import Request
from warpsift.studies import waterfall
from warpsift.studies.scale import Scale
from warpsift.studies.scu import scu_fig10 as fig10
from warpsift.studies.scu.scu_runs import GPUS, request
from warpsift.studies.waterfall import Case, Step
from warpsift.sweep import Results

GRAPHS = ("cond",)  # 48 runs a graph; `warpsift study waterfall` takes others
STEPS = (
    Step("as modelled"),
    Step("per-lane resources", {"scu.resources": "lane", "noc.unit_ports": 5}),
    Step("hash: tagged, living", {"scu.table_entries": "tagged", "scu.other_life": "persistent"}),
    Step("operands beside", {"scu.second_operand": "beside"}),
    Step("authors' GPU and baseline", reading="authors"),
    Step("ideal hash and requests", {"scu.ideal_hash": True, "scu.inflight_requests": 0}, ideal=True),
)


def _pair(algorithm: str, gpu: str, scale: Scale, graph: str, step: Step) -> tuple[Request, Request]:
    scale = replace(scale, reading=step.reading)
    plain = request(algorithm, graph, gpu, "none", scale, seed=scale.seeds[0])
    unit = request(algorithm, graph, gpu, "scu", scale, seed=scale.seeds[0], overrides=dict(step.unit))
    return plain, unit


def _cases(scale: Scale) -> list[Case]:
    wanted = [(gpu, algorithm) for gpu in GPUS for algorithm in ("bfs", "sssp")]
    return [Case(f"{a} on {gpu}", fig10.PAPER[gpu, a], partial(_pair, a, gpu, scale)) for gpu, a in wanted]


def _measure(plain: Any, unit: Any) -> tuple[float, float]:
    base, run = plain.result, unit.result
    floor = run["gpu_seconds"] + run["unit_floor_seconds"]
    return base["seconds"] / run["seconds"], base["seconds"] / floor


def matrix(scale: Scale, graphs: Sequence[str] = GRAPHS) -> list[Request]:
    return waterfall.matrix(_cases(scale), graphs, STEPS)


def figure(results: Results, scale: Scale, graphs: Sequence[str] = GRAPHS) -> Figure:
    found = waterfall.figure(results, _cases(scale), graphs, STEPS, _measure)
    return replace(found, paper_reference="SCU paper, Fig. 10", name="scu-waterfall")
