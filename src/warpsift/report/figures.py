"""What a report is made of, as data: figures with their chart, their numbers and the paper's, and where all came from.

An experiment is a module with `matrix() -> list[Request]` and `figure(results) -> Figure`; the same `Figure` is drawn
in the HTML page, as PNG and SVG, written as CSV and Parquet, and shown in a notebook.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from warpsift.errors import WarpsiftError

Row = Mapping[str, Any]
Format = Literal["number", "percent", "bytes"]
CLEARLY = 0.02  # of the reference: nearer to it is neither a gain nor a loss
SQUASHED = 3.0  # panels whose largest values differ by more than this factor have their own axes
OUTSTANDING = 6.0  # a ratio so many times the median makes the axis logarithmic
COMMAND = "command"  # a column of this name holds the command that reruns the row


class FigureError(WarpsiftError):
    """A figure whose chart does not fit its rows."""


@dataclass(frozen=True)
class Chart:
    """How rows are drawn: columns for each axis, and how to write the numbers."""

    kind: Literal["bars", "stacked", "lines", "scatter", "heat"]
    x: str
    y: str  # of a heat map: the colour
    series: str | None = None  # one colour each; of a heat map: one row each
    facet: str | None = None  # one panel each
    error: str | None = None  # column with half the length of the error bar
    mark: str | None = None  # column with the text in a cell of a heat map
    x_label: str = ""
    y_label: str = ""
    x_format: Format = "number"
    y_format: Format = "number"
    series_format: Format = "number"
    log_x: bool = False
    log_y: bool = False
    reference: float | None = None  # a thin line across, such as 1 for speedups
    better: Literal["higher", "lower"] | None = None  # said at the axis; None: neither

    @property
    def axis_label(self) -> str:
        """The y axis's label, with the direction that is better."""
        label = self.y_label or self.y
        return f"{label} ({self.better} is better)" if self.better else label


@dataclass(frozen=True)
class PaperValue:
    """A number that a paper states, and ours for the same thing."""

    claim: str  # what it is: "BFS on the GTX 980, mean speedup"
    value: float
    at: Mapping[str, Any] = field(default_factory=dict)  # columns of the row it belongs to; without x: a line across
    ours: float | None = None  # None: the y of the one row that `at` names
    source: str = ""  # where the paper says so, if not at the figure's reference
    line: float | None = None  # where gain turns into loss; None: the chart's reference, if the value is drawn


@dataclass(frozen=True)
class Figure:
    """One figure or table of numbers."""

    title: str
    chart: Chart
    rows: Sequence[Row]
    paper_reference: str = ""  # "SCU paper, Fig. 10"
    paper_values: Sequence[PaperValue] = ()
    notes: Sequence[str] = ()
    commands: Sequence[str] = ()  # rerun the whole figure
    name: str = ""  # of its files; from the title if empty

    def __post_init__(self) -> None:
        wanted = [self.chart.x, self.chart.y, self.chart.series, self.chart.facet, self.chart.error]
        wanted.append(self.chart.mark)
        for number, row in enumerate(self.rows):
            missing = [column for column in wanted if column is not None and column not in row]
            if missing:
                raise FigureError(
                    f"figure {self.title!r}: row {number} has no column {missing[0]!r}, which the chart uses"
                )

    @property
    def slug(self) -> str:
        """A file name that is safe everywhere."""
        words = re.sub(r"[^a-z0-9]+", "-", (self.name or self.title).lower()).strip("-")
        return words[:60].rstrip("-") or "figure"

    @property
    def columns(self) -> list[str]:
        """Columns of the data, in order of first appearance, the command aside."""
        return [name for name in dict.fromkeys(name for row in self.rows for name in row) if name != COMMAND]

    def ours(self, value: PaperValue) -> float | None:
        """Our number for a paper's, if the figure has exactly one."""
        if value.ours is not None:
            return value.ours
        found = [row for row in self.rows if all(row.get(k) == v for k, v in value.at.items())] if value.at else []
        number = found[0].get(self.chart.y) if len(found) == 1 else None
        return float(number) if isinstance(number, (int, float)) else None

    def comparison(self) -> list[dict[str, Any]]:
        """Ours, the paper's and the ratio, a row for each of the paper's values."""
        rows = []
        for value in self.paper_values:
            ours = self.ours(value)
            ratio = ours / value.value if ours is not None and value.value else None
            source = value.source or self.paper_reference
            row = {"claim": value.claim, "ours": ours, "paper": value.value, "ratio": ratio, "source": source}
            rows.append(row | {"opposite": ours is not None and self._are_opposite(ours, value)})
        return rows

    def _are_opposite(self, ours: float, value: PaperValue) -> bool:
        """Whether ours and the paper's lie on different sides of the chart's reference, both clearly."""
        line = value.line if value.line is not None else self.chart.reference if value.at else None
        if line is None:
            return False
        apart = [each - line for each in (ours, value.value)]
        return apart[0] * apart[1] < 0 and min(map(abs, apart)) > CLEARLY * abs(line)

    def _panels(self) -> list[list[float]]:
        """The values of each panel; of stacked bars the sums."""
        chart = self.chart
        found: dict[Any, dict[Any, float]] = {}
        for number, row in enumerate(self.rows):
            value = row[chart.y]
            if isinstance(value, (int, float)) and math.isfinite(value):
                panel = found.setdefault(row[chart.facet] if chart.facet else None, {})
                key = row[chart.x] if chart.kind == "stacked" else number
                panel[key] = panel.get(key, 0.0) + float(value)
        return [list(panel.values()) for panel in found.values()]

    @property
    def own_axes(self) -> bool:
        """Whether each panel needs an axis of its own, since the largest values would squash another panel's."""
        largest = [max(map(abs, panel)) for panel in self._panels() if panel]
        return len(largest) > 1 and not self.log_y and max(largest) > SQUASHED * min(largest)

    @property
    def log_y(self) -> bool:
        """A logarithmic axis: asked for, or ratios among which one would squash all others. Then bars leave from 1."""
        chart = self.chart
        values = [abs(value) for panel in self._panels() for value in panel]
        if chart.log_y or chart.kind != "bars" or not chart.reference or len(values) < 3:
            return chart.log_y
        positive = all(value > 0 for panel in self._panels() for value in panel)
        return positive and max(values) > OUTSTANDING * statistics.median(values)

    def matplotlib(self) -> Any:
        """The chart as a matplotlib figure."""
        from warpsift.report.charts import draw

        return draw(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the chart and, if there are any, the paper's numbers beside ours."""
        from warpsift.report.charts import svg_text
        from warpsift.report.html_parts import comparison_table, heading

        return heading(self) + svg_text(self) + comparison_table(self)


@dataclass(frozen=True)
class Provenance:
    """Where a report's numbers come from."""

    graphs: Sequence[Row] = ()  # name, nodes, edges, origin ("file", "generated" or "stand-in for ...")
    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name to flat parameters
    versions: Mapping[str, str] = field(default_factory=dict)
    runs: int = 0
    failures: Sequence[Row] = ()  # runs that failed: what, and why


@dataclass(frozen=True)
class Claims:
    """What a paper states beside ours, as one table."""

    verdict: str  # in a sentence
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]  # misses first
    note: str = ""


@dataclass(frozen=True)
class Report:
    """A page."""

    title: str
    figures: Sequence[Figure]
    subtitle: str = ""
    summary: Sequence[str] = ()  # paragraphs
    claims: Claims | None = None  # behind the first figure
    provenance: Provenance = field(default_factory=Provenance)
    conclusive: bool = True  # False: no verdict on the paper, its graphs are too small for one
    command: str = ""  # makes the page again
