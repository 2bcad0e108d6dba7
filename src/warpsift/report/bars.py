"""Bars of a comparison: time and energy of each unit, GPU and unit parts stacked, against the plain GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpsift.report.charts import plain
from warpsift.report.pictures import save_picture
from warpsift.run.comparison import Comparison

GPU_COLOUR, UNIT_COLOUR, MEMORY_COLOUR = "#4c78a8", "#f58518", "#9ecae9"
PARTS = (
    ("time", "seconds", ("gpu_seconds", "unit_seconds")),
    ("energy", "energy_joules", ("gpu_joules", "unit_joules")),
)


def draw(comparison: Comparison, path: Path) -> None:
    """Write PNG, SVG or PDF, by the name's ending."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [entry.as_dict() for entry in comparison.entries]
    both_styles = len({row["style"] for row in rows}) > 1
    labels = [f"{row['unit']}\n({row['style']})" if both_styles else row["unit"] for row in rows]
    energy = rows[0]["energy_joules"] is not None
    figure, axes = pyplot.subplots(1, 2 if energy else 1, figsize=(4.2 * (2 if energy else 1), 3.4), squeeze=False)
    for axis, (what, whole, parts) in zip(axes[0], PARTS[: axes.size], strict=True):
        base = rows[0][whole]
        _stack(axis, labels, *([row[part] / base for row in rows] for part in parts))
        axis.set_ylabel(f"{what}, plain GPU = 1 (lower is better)")
        for place, row in enumerate(rows):  # the bar's own height: a speedup above it would point the other way
            axis.text(place, row[whole] / base, f"{row[whole] / base:.2f}", ha="center", va="bottom")
    axes[0][0].legend(frameon=False, fontsize=8)
    figure.suptitle(plain(f"{comparison.algorithm} on {comparison.graph}, {comparison.gpu}"), fontsize=10)
    figure.tight_layout()
    save_picture(figure, path, dpi=150)
    pyplot.close(figure)


def _stack(axis: Any, labels: list[str], gpu: list[float], unit: list[float]) -> None:
    places = range(len(labels))
    axis.bar(places, gpu, color=GPU_COLOUR, label="GPU", width=0.6)
    axis.bar(places, unit, bottom=gpu, color=UNIT_COLOUR, label="unit", width=0.6)
    axis.set_xticks(list(places), labels)
    axis.set_ylim(0, 1.15 * max(g + u for g, u in zip(gpu, unit, strict=True)))
    axis.spines[["top", "right"]].set_visible(False)
