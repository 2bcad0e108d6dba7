"""The picture of `warpsift validate silicon`: curves over each other, and times against times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warpsift.report.pictures import save_picture
from warpsift.validation.silicon import TITLES, Found

COLOURS = {"v100": "tab:blue", "a100": "tab:orange", "l40": "tab:green", "m60": "tab:red"}
AXES = {
    "latency": ("footprint, KB", "cycles per hop"),
    "bandwidth": ("resident threads", "GB/s"),
    "cache": ("footprint, KB", "GB/s"),
}


def draw(found: Sequence[Found], path: Path) -> None:
    """Four panels: three sets of curves, and kernel times ours against measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(10, 8))
    for panel, group in zip(axes.flat, AXES, strict=False):
        _curves(panel, [f for f in found if f.case.group == group])
        panel.set(xscale="log", yscale="log", title=TITLES[group], xlabel=AXES[group][0], ylabel=AXES[group][1])
    _scatter(axes.flat[3], [f for f in found if f.case.group in ("spmv", "bfs")])
    figure.tight_layout()
    save_picture(figure, path, dpi=150)
    pyplot.close(figure)


def _curves(panel: Any, found: list[Found]) -> None:
    """Measured as a line, ours as dots, per card and kernel."""
    curves: dict[tuple[str, str], list[Found]] = {}
    for f in found:
        curves.setdefault((f.case.gpu, f.case.label.rpartition(", ")[0]), []).append(f)
    shown = set()
    for (gpu, _), mine in curves.items():
        mine.sort(key=lambda f: f.case.place)
        places = [f.case.place for f in mine]
        panel.plot(places, [f.case.measured for f in mine], color=COLOURS[gpu], linewidth=1)
        label = None if gpu in shown else gpu
        panel.scatter(places, [f.ours for f in mine], color=COLOURS[gpu], s=14, label=label)
        shown.add(gpu)
    if shown:
        panel.legend(frameon=False, title="line: measured, dots: ours")


def _scatter(panel: Any, found: list[Found]) -> None:
    kinds: dict[str, list[Found]] = {}
    for f in found:
        kinds.setdefault(f.case.label.rpartition(", ")[2] if f.case.group == "spmv" else "BFS", []).append(f)
    for (kind, mine), marker in zip(kinds.items(), "osD^", strict=False):
        scale = 1000.0 if kind == "BFS" else 1.0  # microseconds
        theirs, ours = [scale * f.case.measured for f in mine], [scale * f.ours for f in mine]
        panel.scatter(theirs, ours, marker=marker, label=kind, alpha=0.8)
    panel.set(xscale="log", yscale="log", xlabel="measured, us", ylabel="ours, us", title="Kernels")
    low, high = panel.get_xlim()
    panel.plot([low, high], [low, high], color="grey", linewidth=0.8)
    panel.fill_between([low, high], [0.8 * low, 0.8 * high], [1.25 * low, 1.25 * high], color="grey", alpha=0.15)
    if kinds:
        panel.legend(frameon=False, title="band: within 20 %")
