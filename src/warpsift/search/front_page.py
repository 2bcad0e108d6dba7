"""What a search found as one page that needs no network: every pair of objectives, and the front with its commands."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from warpsift.report.figures import COMMAND, Chart, Figure, Report
from warpsift.report.html import write_report
from warpsift.report.provenance import command_of, provenance_of
from warpsift.search.search_run import Found
from warpsift.search.tried import Tried

LABELS = {"time": "time, s", "energy": "energy, J", "area": "area of the unit, mm2 at 32 nm"}
ON_FRONT, BEATEN, OVER = "front", "beaten by another", "over a bound"


def sentence(found: Found) -> str:
    """What a search comes to."""
    spec, tried = found.spec, found.tried
    failed = sum(bool(each.problem) for each in tried)
    over = sum(not each.problem and not each.allowed for each in tried)
    asides = [f"{failed} could not run"] * bool(failed) + [f"{over} pass a bound"] * bool(over)
    tail = f" ({', '.join(asides)})" if asides else ""
    return (
        f"{len(tried)} of {spec.size} designs tried{tail}; {len(found.front)} of them no other beats in "
        f"{', '.join(spec.objectives)}. {found.ran} runs were new; seed {spec.seed}."
    )


def rows(found: Found) -> list[dict[str, Any]]:
    """Every design that ran, in the order in which it was tried."""
    on_front = {tried.design for tried in found.front}
    return [
        {"tried": number, **tried.choices, **tried.costs, "state": _state(tried, on_front)}
        for number, tried in enumerate(found.tried, 1)
        if not tried.problem
    ]


def _state(tried: Tried, on_front: set[Any]) -> str:
    if not tried.allowed:
        return OVER
    return ON_FRONT if tried.design in on_front else BEATEN


def write_page(found: Found, path: Path, command: str) -> Path:
    """The page, with its data beside it."""
    spec = found.spec
    data = rows(found)
    commands = {t.design: "; ".join(map(command_of, spec.requests(t.design))) for t in found.front}
    designs = {number: tried.design for number, tried in enumerate(found.tried, 1)}
    for row in data:
        if designs[row["tried"]] in commands:
            row[COMMAND] = commands[designs[row["tried"]]]
    figures = [
        Figure(
            f"{y} against {x}",
            Chart(
                "scatter", x=x, y=y, series="state", x_label=LABELS.get(x, x), y_label=LABELS.get(y, y), better="lower"
            ),
            data,
            notes=["Means over the workloads are geometric. Left and below is better."],
            commands=(command,),
        )
        for x, y in itertools.combinations(reversed(spec.objectives), 2)
    ]  # fmt: skip
    if len(spec.objectives) == 1:
        only = spec.objectives[0]
        chart = Chart("scatter", x="tried", y=only, series="state", y_label=LABELS.get(only, only), better="lower")
        figures = [Figure(f"{only} by design", chart, data, commands=(command,))]
    workloads = dict.fromkeys(f"{r.algorithm} on {r.graph}" for r in spec.requests(found.tried[0].design))
    report = Report(
        "Search for the best designs",
        figures,
        subtitle=f"{', '.join(spec.objectives)} over {', '.join(workloads)}",
        summary=[sentence(found), *area_note(found)],
        provenance=provenance_of(found.records),
        conclusive=False,
        command=command,
    )
    return write_report(path, report)


def area_note(found: Found) -> list[str]:
    """What the area does not see."""
    if "area" not in (*found.spec.objectives, *(found.spec.constraints or {})):
        return []
    from warpsift.units import units

    sections = {unit.section for unit in units().values()}
    chosen = [key for axis in found.spec.axes for value in axis.values for key in value]
    blind = [key for key in dict.fromkeys(chosen) if "." in key and key.partition(".")[0] not in sections]
    if not blind:
        return []
    return [f"Area is that of the unit alone: {', '.join(blind)} does not change it."]
