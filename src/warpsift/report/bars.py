"""Bars of a comparison: time and energy of each unit, GPU and unit parts stacked, against the plain GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpsift.report.charts import plain
from warpsift.report.pictures import save_picture
from warpsift.run.comparison import Comparison

GPU_COLOUR, UNIT_COLOUR, MEMORY_COLOUR = "#4c78a8", "#f58518", "#9ecae9"


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
    base = rows[0]["seconds"]
    _stack(axes[0][0], labels, [r["gpu_seconds"] / base for r in rows], [r["unit_seconds"] / base for r in rows])
    axes[0][0].set_ylabel("time, plain GPU = 1")
    for k, row in enumerate(rows):
        axes[0][0].text(k, row["seconds"] / base, f"{row['speedup']:.2f}×", ha="center", va="bottom")
    if energy:
        base = rows[0]["energy_joules"]
        _stack(axes[0][1], labels, [r["gpu_joules"] / base for r in rows], [r["unit_joules"] / base for r in rows])
        axes[0][1].set_ylabel("energy, plain GPU = 1")
        for k, row in enumerate(rows):
            axes[0][1].text(k, row["energy_joules"] / base, f"{row['energy_reduction']:.2f}×", ha="center", va="bottom")
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
