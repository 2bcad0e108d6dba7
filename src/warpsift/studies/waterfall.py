"""A waterfall per claim: from the speedup as modelled, through what can be built, to what is only a bound.

Steps are cumulative. A step changes the run with the unit, or the reading of both runs; `ideal` ones belong to
no design. The last is arithmetic: the unit at its analytic floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from warpsift.errors import WarpsiftError, unknown
from warpsift.report.figures import COMMAND, Chart, Figure, PaperValue
from warpsift.report.provenance import command_of
from warpsift.run.request import Request
from warpsift.store.rows import geometric_mean
from warpsift.studies.scale import FULL
from warpsift.sweep import FailedRun, Results, SweepOptions, run_sweep

PAPERS = {"scu": "warpsift.studies.scu.scu_waterfall", "mff": "warpsift.studies.mff.mff_waterfall"}
REALISABLE, IDEAL = "can be built", "bound only"
FLOOR = "unit at its floor"


class WaterfallError(WarpsiftError):
    """A paper without a waterfall, or no graph to run it on."""


@dataclass(frozen=True)
class Step:
    """What holds from here on."""

    name: str
    unit: Mapping[str, Any] = field(default_factory=dict)  # overrides of the machine with the unit
    reading: str | None = None
    ideal: bool = False


@dataclass(frozen=True)
class Case:
    """One claim: a speedup over several graphs."""

    name: str
    paper: float
    pair: Callable[[str, Step], tuple[Request, Request]]  # graph, step -> plain, with the unit


def cumulative(steps: Sequence[Step]) -> list[Step]:
    """Each step with what the steps before it changed."""
    found: list[Step] = []
    for step in steps:
        before = found[-1] if found else Step("")
        found.append(
            Step(step.name, {**before.unit, **step.unit}, step.reading or before.reading, step.ideal or before.ideal)
        )
    return found


def study(paper: str, graphs: Sequence[str], store: Path, options: SweepOptions) -> Figure:
    """The waterfall of one paper over these graphs, each as it is named: full size unless the name says a part."""
    if paper not in PAPERS:
        raise WaterfallError(unknown("paper", paper, list(PAPERS)))
    if not graphs:
        raise WaterfallError("no graph: write --graphs cond, or several separated by commas")
    module = import_module(PAPERS[paper])
    results = run_sweep(module.matrix(FULL, graphs), store, options)
    figure: Figure = module.figure(results, FULL, graphs)
    return figure


def matrix(cases: Sequence[Case], graphs: Sequence[str], steps: Sequence[Step]) -> list[Request]:
    return [r for case in cases for graph in graphs for step in cumulative(steps) for r in case.pair(graph, step)]


def figure(
    results: Results,
    cases: Sequence[Case],
    graphs: Sequence[str],
    steps: Sequence[Step],
    measure: Callable[[Any, Any], tuple[float, float]],
) -> Figure:
    """`measure` takes the records of the plain run and of the unit's: speedup, and speedup at the floor."""
    rows: list[dict[str, Any]] = []
    missing = []
    for case in cases:
        last: list[float] = []
        for step in cumulative(steps):
            values, floors, unit = [], [], None
            for graph in graphs:
                plain, unit = case.pair(graph, step)
                try:
                    speedup, floor = measure(results[plain], results[unit])
                except FailedRun as error:
                    missing.append(f"Left out: {case.name}, {step.name}; {error}.")
                    continue
                values.append(speedup)
                floors.append(floor)
            if values and unit is not None:
                kind = IDEAL if step.ideal else REALISABLE
                each = ", ".join(f"{g} {v:.2f}" for g, v in zip(graphs, values, strict=False))
                row = {"claim": case.name, "step": step.name, "kind": kind, "value": geometric_mean(values)}
                rows.append(row | {"by graph": each, COMMAND: command_of(unit)})
                last = floors
        if last:
            rows.append({"claim": case.name, "step": FLOOR, "kind": IDEAL, "value": geometric_mean(last)})
    return Figure(
        "From the model to the paper's speedup, step by step",
        Chart("bars", x="step", y="value", series="kind", facet="claim", y_label="speedup", log_y=True, reference=1,
              better="higher"),
        rows,
        "the paper's speedups",
        [PaperValue(case.name, case.paper, {"claim": case.name}, ours=_best(rows, case.name)) for case in cases],
        [
            f"Rows are cumulative; geometric mean over {', '.join(graphs)}. '{REALISABLE}': choices that the "
            f"paper leaves open. '{IDEAL}': a hash that answers at once, requests without limit, the analytic floor.",
            *missing,
        ],
        name="waterfall",
    )  # fmt: skip


def _best(rows: Sequence[Mapping[str, Any]], claim: str) -> float | None:
    """The last step that can be built."""
    found = [row["value"] for row in rows if row["claim"] == claim and row["kind"] == REALISABLE]
    return found[-1] if found else None
