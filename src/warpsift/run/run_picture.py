"""One run as a picture, for `result.plot()`: time by phase, what the schedulers waited for, energy by part.

A run without a machine has no time: then warp instructions by phase are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warpsift.errors import WarpsiftError
from warpsift.run.result_view import headline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from warpsift.run.record import RunResult

MOST_BARS = 14
COLOUR = "#3b6fb6"
Panel = tuple[str, Mapping[str, float], str]  # axis label, values by name, the unit behind each


def draw_run(result: RunResult, path: str | os.PathLike[str] | None = None) -> Figure:
    """A matplotlib figure; written to `path` (.png, .svg or .pdf) if there is one."""
    from matplotlib.figure import Figure

    panels = _panels(result)
    height = 0.9 + 0.27 * max(3, *(len(values) for _, values, _ in panels))
    figure = Figure(figsize=(4.4 * len(panels), height), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _bars(axes, *panel)
    figure.suptitle(_plain(headline(result)), fontsize=10)
    if path is not None:
        try:
            figure.savefig(path, dpi=150)
        except (OSError, ValueError) as error:
            raise WarpsiftError(f"cannot draw {path}: {error}; name it something.png, .svg or .pdf") from error
    return figure


def _panels(result: RunResult) -> list[Panel]:
    names = [(f"{phase.unit}: " if phase.unit else "") + phase.name for phase in result.phases]
    if not result.timing:
        counts = [float(phase.counters.warp_instructions) for phase in result.phases]
        return [("warp instructions", _summed(names, counts), "")]
    seconds = [1e6 * phase.timing.get("seconds", 0.0) for phase in result.phases]
    panels: list[Panel] = [("time, microseconds", _summed(names, seconds), "")]
    stack = {name.replace("_", " "): 100 * share for name, share in result.timing["stall_stack"].items()}
    panels.append(("scheduler cycles, %", stack, " %"))
    if result.energy:
        by_component = result.energy["energy_by_component"]
        parts = [component.split(".")[0] for component in by_component]
        panels.append(("energy, mJ", _summed(parts, [1e3 * joules for joules in by_component.values()]), ""))
    return panels


def _summed(names: list[str], values: list[float]) -> dict[str, float]:
    """Values of equal names added up; only the largest are kept, in the order in which they came."""
    found: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        found[name] = found.get(name, 0.0) + value
    largest = sorted(found, key=lambda name: -found[name])[:MOST_BARS]
    return {name: value for name, value in found.items() if name in largest}


def _plain(text: str) -> str:
    """Text that matplotlib shows as it is: no mathematics between dollar signs."""
    return text.replace("$", r"\$")


def _bars(axes: Any, label: str, values: Mapping[str, float], unit: str) -> None:
    places = range(len(values))
    axes.barh(places, list(values.values()), color=COLOUR, height=0.7)
    axes.set_yticks(places, [_plain(name) for name in values])
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.18)
    axes.set_xlabel(label)
    for place, value in zip(places, values.values(), strict=True):
        axes.annotate(f"{value:.3g}{unit}", (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
