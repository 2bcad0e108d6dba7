"""The waterfall of the MFF's speedups: register ports, words per reply, the authors' machine and baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from warpsift.report.figures import Figure
from warpsift.run.request import Request
from warpsift.studies import waterfall
from warpsift.studies.mff import mff_fig10 as fig10
from warpsift.studies.mff.mff_claims import at_floor, speedup
from warpsift.studies.mff.mff_runs import SAME_OCCUPANCY, UNIT, request
from warpsift.studies.scale import Scale
from warpsift.studies.waterfall import Case, Step
from warpsift.sweep import Results

GRAPHS = ("dblp-2010",)
STEPS = (
    Step("as modelled"),
    Step("a port per engine", {"mff.ports": "engine"}),
    Step("authors' GPU", reading="authors"),
    Step("4 words per reply", {"mff.words_per_reply": 4}),
    Step("ideal network", {"ideal.noc": True}, ideal=True),
)


def _pair(algorithm: str, scale: Scale, graph: str, step: Step) -> tuple[Request, Request]:
    scale = replace(scale, reading=step.reading)
    both = {key: value for key, value in step.unit.items() if not key.startswith("mff.")}
    plain = request(algorithm, graph, SAME_OCCUPANCY, scale, overrides=both)
    return plain, request(algorithm, graph, UNIT, scale, overrides=dict(step.unit))


def _cases(scale: Scale) -> list[Case]:
    return [Case(name, paper, partial(_pair, name, scale)) for name, paper in fig10.PAPER.items()]


def _measure(plain: Any, unit: Any) -> tuple[float, float]:
    return speedup(plain.result, unit.result), at_floor(plain.result, unit.result)


def matrix(scale: Scale, graphs: Sequence[str] = GRAPHS) -> list[Request]:
    return waterfall.matrix(_cases(scale), graphs, STEPS)


def figure(results: Results, scale: Scale, graphs: Sequence[str] = GRAPHS) -> Figure:
    found = waterfall.figure(results, _cases(scale), graphs, STEPS, _measure)
    return replace(found, paper_reference="MFF paper, Fig. 10", name="mff-waterfall")
