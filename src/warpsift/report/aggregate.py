"""From stored runs to the rows of a figure: means over seeds and sources with their spread, per combination of keys."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.store.rows import Row, flat_row, need_column
from warpsift.store.store import Record


def mean_rows(records: Iterable[Record], keys: Sequence[str], metric: str | Callable[[Record], float]) -> list[Row]:
    """One row per combination of `keys`: the mean as "mean", the standard deviation as "spread", "runs", "command".

    `metric` is a column of `results.rows` or a function of a record. The command reruns the first of the runs.
    """
    groups: dict[tuple[Any, ...], list[tuple[Record, float]]] = {}
    good = [record for record in records if record.status == "done"]
    rows = [flat_row(record) for record in good]
    for name in [*keys, *([metric] if isinstance(metric, str) else [])]:
        need_column(name, rows)
    for record, row in zip(good, rows, strict=True):
        value = row[metric] if isinstance(metric, str) else metric(record)
        groups.setdefault(tuple(row.get(key) for key in keys), []).append((record, float(value)))
    found = []
    for group, members in groups.items():
        values = [value for _, value in members]
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        numbers = {"mean": statistics.fmean(values), "spread": spread, "runs": len(values)}
        found.append({**dict(zip(keys, group, strict=True)), **numbers, COMMAND: command_of(members[0][0].request)})
    return found


def figure_of(records: Iterable[Record], metric: str, chart: Chart, title: str = "") -> Figure:
    """A figure straight from stored runs; the chart's y is the metric's mean, with error bars if runs repeat."""
    from dataclasses import replace

    keys = [key for key in (chart.facet, chart.series, chart.x) if key is not None]
    rows = mean_rows(records, keys, metric)
    if chart.kind in ("lines", "scatter"):
        rows.sort(key=lambda row: (isinstance(row[chart.x], str), row[chart.x]))
    several = any(row["runs"] > 1 for row in rows)
    label = chart.y_label or metric.replace("_", " ")
    drawn = replace(chart, y="mean", error="spread" if several else None, y_label=label)
    notes = ["Error bars: one standard deviation over seeds."] if several else []
    return Figure(title or f"{label} by {chart.x}", drawn, rows, notes=notes)
