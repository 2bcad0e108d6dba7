"""Figures as pictures: PNG for slides, SVG for papers, and inline in a notebook.

Uses matplotlib's figures without pyplot, so that nothing depends on a screen or on other plots of the process.
"""

from __future__ import annotations

import io
import math
import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure as Canvas

from warpsift.report.figures import Chart, Figure, FigureError, PaperValue, Row
from warpsift.report.numbers import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from warpsift.store.designs import Design

# Blue, orange, green, violet, red, brown, teal, grey: apart for the common kinds of colour blindness in this order.
PALETTE = ("#3b6fb6", "#e08a2e", "#3a9a74", "#8a5fb8", "#c4504f", "#8c6d4a", "#2fa3b5", "#7a7f87")
ROW_LETTERS = 34  # of a label along the y axis; a longer one has two rows
LINE_LETTERS = 22  # of a label; longer ones have several lines
PANELS_ACROSS = 3  # more panels than this stand in two columns
INK, FAINT = "#1f2430", "#d9dde3"
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "xtick.labelsize": 8,
    "figure.constrained_layout.wspace": 0.06,
    "axes.edgecolor": "#9aa1ab",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "warpsift",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def plain(text: Any) -> str:
    """Text that matplotlib shows as it is: no mathematics between dollar signs, nothing that XML forbids."""
    return _CONTROL.sub("\ufffd", str(text)).replace("$", r"\$")


def _lines_of(text: Any) -> str:
    """A label as lines that leave room for the chart; nothing is cut."""
    return plain("\n".join(textwrap.wrap(str(text), LINE_LETTERS, break_on_hyphens=False)) or str(text))


def unique(rows: Iterable[Row], column: str | None) -> list[Any]:
    """A column's values in order of first appearance; [None] without a column."""
    return [None] if column is None else list(dict.fromkeys(row[column] for row in rows))


def colours(values: Sequence[Any]) -> dict[Any, str]:
    return {value: PALETTE[number % len(PALETTE)] for number, value in enumerate(values)}


def draw(figure: Figure) -> Canvas:
    """The figure's chart, a panel per facet."""
    if figure.chart.kind == "heat":
        from warpsift.report.heat_map import draw_heat

        with matplotlib.rc_context(_STYLE):
            return draw_heat(figure)
    chart = replace(figure.chart, log_y=figure.log_y)
    facets, series = unique(figure.rows, chart.facet), unique(figure.rows, chart.series)
    categories = unique(figure.rows, chart.x)
    each = max(3.2, min(7.5, 0.9 + len(categories) * (0.16 * len(series) + 0.22)))
    with matplotlib.rc_context(_STYLE):
        across = len(facets) if len(facets) <= PANELS_ACROSS else 2
        lines = math.ceil(len(facets) / across)
        canvas = Canvas(figsize=(each * across, 3.3 * lines), layout="constrained")
        axes = list(canvas.subplots(lines, across, sharey=not figure.own_axes, squeeze=False).flat)
        for spare in axes[len(facets) :]:
            spare.set_visible(False)
        for number, (panel, facet) in enumerate(zip(axes, facets, strict=False)):
            rows = [row for row in figure.rows if chart.facet is None or row[chart.facet] == facet]
            _DRAW[chart.kind](panel, chart, rows, colours(series))
            _mark_paper(panel, figure, facet, rows)
            _dress(panel, chart, facet, first=number % across == 0)
        _legend(canvas, axes[0], chart, figure)
    return canvas


def _down(rows: Sequence[Row], chart: Chart, errors: Sequence[float]) -> list[float]:
    """How far error bars reach down: those of positive values not below zero, where such a value cannot lie."""
    return [min(e, v) if v > 0 else e for v, e in zip(_numbers(rows, chart.y), errors, strict=True)]


def _numbers(rows: Sequence[Row], column: str) -> list[float]:
    return [float(row[column]) if isinstance(row[column], (int, float)) else math.nan for row in rows]


def _bar_position(chart: Chart, rows: Sequence[Row], row: Row, series: Sequence[Any]) -> float:
    """Where a row's bar stands: its category's place, shifted by its series."""
    place = unique(rows, chart.x).index(row[chart.x])
    if chart.series is None or chart.kind == "stacked":
        return float(place)
    width = 0.8 / len(series)
    return place + (series.index(row[chart.series]) - (len(series) - 1) / 2) * width


def _series_label(name: Any, chart: Chart) -> str | None:
    return None if name is None else plain(shown(name, chart.series_format))


def _bars(axes: Axes, chart: Chart, rows: Sequence[Row], palette: dict[Any, str]) -> None:
    series = list(palette)
    base = chart.reference if chart.log_y and chart.reference else 0.0  # ratios: up for a gain, down for a loss
    for name, colour in palette.items():
        mine = [row for row in rows if chart.series is None or row[chart.series] == name]
        places = [_bar_position(chart, rows, row, series) for row in mine]
        errors = _numbers(mine, chart.error) if chart.error else None
        axes.bar(
            places,
            [value - base for value in _numbers(mine, chart.y)],
            width=0.8 / len(series) * 0.92,
            bottom=base,
            color=colour,
            label=_series_label(name, chart),
            yerr=None if errors is None else [_down(mine, chart, errors), errors],
            error_kw={"ecolor": INK, "elinewidth": 0.8, "capsize": 2},
        )
    _categories(axes, chart, rows)


def _stacked(axes: Axes, chart: Chart, rows: Sequence[Row], palette: dict[Any, str]) -> None:
    categories = unique(rows, chart.x)
    base = [0.0] * len(categories)
    for name, colour in palette.items():
        heights = [0.0] * len(categories)
        for row in rows:
            if chart.series is None or row[chart.series] == name:
                heights[categories.index(row[chart.x])] += float(row[chart.y] or 0)
        axes.bar(range(len(categories)), heights, 0.7, base, color=colour, label=_series_label(name, chart))
        base = [low + high for low, high in zip(base, heights, strict=True)]
    _categories(axes, chart, rows)


def _categories(axes: Axes, chart: Chart, rows: Sequence[Row]) -> None:
    labels = [_lines_of(shown(value, chart.x_format)) for value in unique(rows, chart.x)]
    tilted = sum(max(map(len, label.split("\n"))) for label in labels) > 34
    axes.set_xticks(range(len(labels)), labels, rotation=35 if tilted else 0, ha="right" if tilted else "center")
    axes.tick_params(axis="x", length=0)


def _lines(axes: Axes, chart: Chart, rows: Sequence[Row], palette: dict[Any, str]) -> None:
    for name, colour in palette.items():
        mine = [row for row in rows if chart.series is None or row[chart.series] == name]
        label = _series_label(name, chart)
        x = _numbers(mine, chart.x) if _is_numeric(rows, chart.x) else [plain(row[chart.x]) for row in mine]
        y = _numbers(mine, chart.y)
        if chart.kind == "scatter":
            axes.scatter(x, y, s=28, color=colour, label=label)
            continue
        errors = _numbers(mine, chart.error) if chart.error else None
        axes.errorbar(x, y, yerr=errors, color=colour, marker="o", markersize=4, linewidth=1.6, capsize=2, label=label)
    if chart.log_x:
        axes.set_xscale("log", base=2)
    if _is_numeric(rows, chart.x) and chart.kind == "lines":
        places = unique(rows, chart.x)
        axes.set_xticks(places, [plain(shown(value, chart.x_format)) for value in places])
        axes.minorticks_off()


def _is_numeric(rows: Sequence[Row], column: str) -> bool:
    return all(isinstance(row[column], (int, float)) and not isinstance(row[column], bool) for row in rows)


_DRAW = {"bars": _bars, "stacked": _stacked, "lines": _lines, "scatter": _lines}


def _mark_paper(axes: Axes, figure: Figure, facet: Any, rows: Sequence[Row]) -> None:
    """The paper's values: a diamond at its bar or point, a dashed line where it holds for all."""
    chart = figure.chart
    series = unique(figure.rows, chart.series)
    for value in figure.paper_values:
        if not _belongs(value, chart, facet):
            continue
        if chart.x not in value.at:
            axes.axhline(value.value, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            continue
        found = next((row for row in rows if all(row.get(k) == v for k, v in value.at.items())), None)
        if found is None:
            continue
        place: Any = found[chart.x]
        if chart.kind in ("bars", "stacked"):
            place = _bar_position(chart, rows, found, series)
        axes.plot([place], [value.value], "D", markersize=5, markerfacecolor="white", markeredgecolor=INK, zorder=5)


def _belongs(value: PaperValue, chart: Chart, facet: Any) -> bool:
    """Whether a value is drawn in a panel. One without any place is for the table alone."""
    if not value.at:
        return False
    return chart.facet is None or chart.facet not in value.at or value.at[chart.facet] == facet


def _dress(axes: Axes, chart: Chart, facet: Any, first: bool) -> None:
    from matplotlib.ticker import FuncFormatter

    if chart.log_y:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        named = "235" if high < 20 * low else ""  # within about a decade a few of the small ticks have names
        axes.yaxis.set_minor_formatter(
            FuncFormatter(lambda v, _: shown(v, chart.y_format) if f"{v:e}"[0] in named else "")
        )
    elif axes.get_ylim()[0] < 0.6 * axes.get_ylim()[1] and axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)  # as the page does: a short axis would exaggerate
    if chart.reference is not None:
        axes.axhline(chart.reference, color="#7a7f87", linewidth=0.9)
    if facet is not None:
        axes.set_title(_lines_of(facet), fontsize=9, fontweight="bold", loc="left")
    axes.set_xlabel(plain(chart.x_label))
    if first:
        label = chart.axis_label
        axes.set_ylabel(plain(label if len(label) <= ROW_LETTERS else label.replace(" (", "\n(")))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value, chart.y_format)))


def _legend(canvas: Canvas, axes: Axes, chart: Chart, figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels() if chart.series is not None else ([], [])
    if any(chart.x in value.at for value in figure.paper_values):
        mark = Line2D([], [], marker="D", linestyle="", markersize=5, markerfacecolor="white", markeredgecolor=INK)
        handles, labels = [*handles, mark], [*labels, "paper"]
    elif any(value.at for value in figure.paper_values):
        handles = [*handles, Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (4, 3)))]
        labels = [*labels, "paper"]
    if handles:
        canvas.legend(handles, labels, loc="outside upper center", ncols=min(6, len(labels)), fontsize=8.5)


def save(canvas: Canvas, path: str | os.PathLike[str]) -> Path:
    """Write a picture; the same numbers give the same bytes."""
    target = Path(path)
    kinds = (".png", ".svg", ".pdf")
    if target.suffix not in kinds:
        raise FigureError(f"cannot draw {target}: name it something{', '.join(kinds[:-1])} or {kinds[-1]}")
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(target.suffix)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(_STYLE):
            canvas.savefig(target, dpi=160, metadata=metadata)
    except OSError as error:
        raise FigureError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def svg_text(figure: Figure) -> str:
    """The chart as an <svg> element."""
    buffer = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        draw(figure).savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def draw_pareto(designs: Sequence[Design], x: str, y: str, path: str | os.PathLike[str]) -> Path:
    """Designs as points, the front as a line through those that none beats."""
    with matplotlib.rc_context(_STYLE):
        canvas = Canvas(figsize=(6.4, 4.2), layout="constrained")
        axes = canvas.subplots()
        front = [design for design in designs if design.on_front]
        others = [design for design in designs if not design.on_front]
        if others:
            axes.scatter([d.x for d in others], [d.y for d in others], s=26, color="#9aa1ab", label="beaten by another")
        axes.step([d.x for d in front], [d.y for d in front], where="post", color=PALETTE[0], linewidth=1.2)
        axes.scatter([d.x for d in front], [d.y for d in front], s=34, color=PALETTE[0], label="front", zorder=3)
        for design in front if len(designs) > 12 else designs:
            axes.annotate(
                _lines_of(design.name), (design.x, design.y), (5, 5), textcoords="offset points", fontsize=7.5
            )
        axes.set_xlabel(plain(f"{x.replace('_', ' ')} (geometric mean)"))
        axes.set_ylabel(plain(f"{y.replace('_', ' ')} (geometric mean)"))
        axes.grid(True, axis="both")
        axes.legend(fontsize=8.5)
    return save(canvas, path)
