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

# objective -> its column in tables, what its cost is multiplied by, its axis
SHOWN = {
    "time": ("time_us", 1e6, "time, us"),
    "energy": ("energy_mj", 1e3, "energy, mJ"),
    "area": ("area_mm2", 1.0, "area of the unit, mm2 at 32 nm"),
}
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
        {"tried": number, **tried.choices, **_shown(tried), "state": _state(tried, on_front)}
        for number, tried in enumerate(found.tried, 1)
        if not tried.problem
    ]


def _column(objective: str) -> tuple[str, float, str]:
    return SHOWN.get(objective, (objective, 1.0, objective))


def _shown(tried: Tried) -> dict[str, float]:
    """Costs in the units that one says them in."""
    return {_column(name)[0]: value * _column(name)[1] for name, value in tried.costs.items()}


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
    pairs = list(itertools.combinations(reversed(spec.objectives), 2))
    figures = [_figure(f"{y} against {x}", _column(x), _column(y), data, command) for x, y in pairs]
    if not pairs:
        only = spec.objectives[0]
        figures = [_figure(f"{only} by design", ("tried", 1.0, "tried"), _column(only), data, command)]
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


def _figure(
    title: str, x: tuple[str, float, str], y: tuple[str, float, str], data: list[dict[str, Any]], command: str
) -> Figure:
    chart = Chart("scatter", x=x[0], y=y[0], series="state", x_label=x[2], y_label=y[2], better="lower")
    notes = ["Means over the workloads are geometric. Left and below is better."]
    return Figure(title, chart, data, notes=notes, commands=(command,))


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
