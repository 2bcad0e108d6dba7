"""One run as a picture, for `result.plot()`: time by phase, what the schedulers waited for, energy by part.

A run without a machine has no time: then warp instructions by phase are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure as Canvas

from warpsift.report.charts import _STYLE, PALETTE, plain, save
from warpsift.report.energy_tables import grouped
from warpsift.report.result_view import headline

if TYPE_CHECKING:
    from warpsift.run.record import RunResult

MOST_BARS = 14


def draw_run(result: RunResult, path: str | os.PathLike[str] | None = None) -> Canvas:
    """A matplotlib figure; written to `path` (.png, .svg or .pdf) if there is one."""
    panels = _panels(result)
    with matplotlib.rc_context(_STYLE):
        canvas = Canvas(
            figsize=(4.4 * len(panels), 0.9 + 0.27 * max(3, *(len(p[1]) for p in panels))), layout="constrained"
        )
        for axes, (label, values, unit) in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _bars(axes, label, values, unit)
        canvas.suptitle(plain(headline(result)), fontsize=10)
    if path is not None:
        save(canvas, path)
    return canvas


def _panels(result: RunResult) -> list[tuple[str, Mapping[str, float], str]]:
    """Axis label, values by name, and the unit that is written behind each."""
    names = [(f"{phase.unit}: " if phase.unit else "") + phase.name for phase in result.phases]
    if not result.timing:
        counts = [phase.counters.warp_instructions for phase in result.phases]
        return [("warp instructions", _summed(names, counts), "")]
    seconds = [1e6 * phase.timing.get("seconds", 0.0) for phase in result.phases]
    panels: list[tuple[str, Mapping[str, float], str]] = [("time, microseconds", _summed(names, seconds), "")]
    stack = {name.replace("_", " "): 100 * share for name, share in result.timing["stall_stack"].items()}
    panels.append(("scheduler cycles, %", stack, " %"))
    if result.energy:
        joules = {name: 1e3 * value for name, value in grouped(result.energy["energy_by_component"]).items()}
        panels.append(("energy, mJ", joules, ""))
    return panels


def _summed(names: list[str], values: list[float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        found[name] = found.get(name, 0.0) + value
    largest = sorted(found, key=lambda name: -found[name])[:MOST_BARS]
    return {name: value for name, value in found.items() if name in largest}


def _bars(axes: Any, label: str, values: Mapping[str, float], unit: str) -> None:
    places = range(len(values))
    axes.barh(places, list(values.values()), color=PALETTE[0], height=0.7)
    axes.set_yticks(places, [plain(name) for name in values])
    axes.invert_yaxis()
    axes.grid(False)
    axes.margins(x=0.18)
    axes.set_xlabel(label)
    for place, value in zip(places, values.values(), strict=True):
        axes.annotate(f"{value:.3g}{unit}", (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
