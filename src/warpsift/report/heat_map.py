"""Heat maps: a cell per pair of row and column, its colour a ratio, its text whatever the figure says of it.

Colours are logarithmic and lie evenly around the reference, so that twice and half are as far from white. Blue and
orange are apart for the common kinds of colour blindness, and the number stands in the cell.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure as Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from warpsift.report.figures import Figure, Row

HEAT = ("#d9822b", "#f8f6f2", "#3b6fb6")  # a loss, neither, a gain
FULL_COLOUR = 3.0  # from this factor on, up or down, a colour is full
MISSING = "#e3e5e8"
CELL_INCHES = (0.86, 0.4)
LETTERS_PER_INCH = 13  # of the line below


def shade(value: float, reference: float = 1.0) -> float:
    """Where a ratio lies between full loss (0), neither (0.5) and full gain (1)."""
    if not value > 0:
        return 0.0
    return min(1.0, max(0.0, 0.5 + math.log(value / reference) / math.log(FULL_COLOUR) / 2))


def _unique(rows: Sequence[Row], column: str | None) -> list[Any]:
    return [None] if column is None else list(dict.fromkeys(row[column] for row in rows))


def draw_heat(figure: Figure) -> Canvas:
    """A panel per facet, side by side, with one scale of colours."""
    from warpsift.report.charts import plain

    chart = figure.chart
    facets, columns, rows = (_unique(figure.rows, name) for name in (chart.facet, chart.x, chart.series))
    width, height = CELL_INCHES
    size = (1.5 + len(facets) * (len(columns) * width + 0.25), 1.5 + len(rows) * height)
    canvas = Canvas(figsize=size, layout="constrained")
    axes = list(canvas.subplots(1, len(facets), sharey=True, squeeze=False).flat)
    for panel, facet in zip(axes, facets, strict=True):
        mine = [row for row in figure.rows if chart.facet is None or row[chart.facet] == facet]
        _panel(panel, figure, mine, (columns, rows))
        if facet is not None:
            panel.set_title(plain(facet), fontsize=9, fontweight="bold", loc="left")
    _scale(canvas, axes, figure)
    if chart.x_label:
        lines = textwrap.wrap(chart.x_label, int(LETTERS_PER_INCH * size[0]))
        canvas.supxlabel(plain("\n".join(lines)), fontsize=8.5)
    return canvas


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("gain", HEAT)


def _panel(axes: Axes, figure: Figure, cells: Sequence[Row], grid: tuple[list[Any], list[Any]]) -> None:
    from matplotlib.patches import Rectangle

    from warpsift.report.charts import plain

    chart, (columns, rows), colours = figure.chart, grid, _colours()
    held = {(row[chart.x], row[chart.series] if chart.series else None): row for row in cells}
    for across, column in enumerate(columns):
        for down, name in enumerate(rows):
            cell = held.get((column, name))
            fill = MISSING if cell is None else colours(shade(float(cell[chart.y]), chart.reference or 1.0))
            axes.add_patch(Rectangle((across, down), 1, 1, facecolor=fill, edgecolor="white", linewidth=1.2))
            if cell is not None and chart.mark is not None:
                dark = abs(shade(float(cell[chart.y]), chart.reference or 1.0) - 0.5) > 0.36
                style: dict[str, Any] = {"fontsize": 7, "color": "white" if dark else "#1f2430", "linespacing": 1.1}
                axes.text(across + 0.5, down + 0.5, plain(cell[chart.mark]), ha="center", va="center", **style)
    axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    axes.set_xticks([k + 0.5 for k in range(len(columns))], [plain(column) for column in columns])
    axes.set_yticks([k + 0.5 for k in range(len(rows))], ["" if name is None else plain(name) for name in rows])
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _scale(canvas: Canvas, axes: Sequence[Axes], figure: Figure) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    from warpsift.report.charts import plain

    chart = figure.chart
    middle = chart.reference or 1.0
    norm = LogNorm(middle / FULL_COLOUR, middle * FULL_COLOUR)
    bar = canvas.colorbar(ScalarMappable(norm, _colours()), ax=list(axes), fraction=0.02, pad=0.01)
    ticks = [middle / 3, middle / 2, middle, middle * 2, middle * 3]
    bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks])
    bar.ax.minorticks_off()
    bar.set_label(plain(chart.y_label or chart.y))
