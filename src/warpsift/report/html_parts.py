"""Pieces of the page as HTML text. Every word that comes from data goes through `text`."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from warpsift.report.figures import COMMAND, Claims, Figure, Provenance, Row
from warpsift.report.numbers import NOTHING, shown

_SCALE_HALF = 42  # pixels from the middle (equal) to the end (a factor of 4 or more)
_SCALE_FACTOR = 4.0
NEAR = 1.25  # ratios within this factor are drawn as near


def text(value: Any) -> str:
    return html.escape(str(value), quote=True)


def heading(figure: Figure) -> str:
    reference = f'<p class="reference">{text(figure.paper_reference)}</p>' if figure.paper_reference else ""
    return f"{reference}<h2>{text(figure.title)}</h2>"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any, how: str = "number") -> str:
    if value is None:
        return "<td></td>"
    if _is_number(value):
        return f'<td class="number" data-value="{value}">{text(shown(value, how))}</td>'
    return f"<td>{text(shown(value, how))}</td>"


def _head(name: str, numeric: bool) -> str:
    kind = "sortable number" if numeric else "sortable"
    return f'<th class="{kind}" scope="col">{text(name.replace("_", " "))}</th>'


def table(rows: Sequence[Row], columns: Sequence[str], formats: Mapping[str, str] | None = None) -> str:
    """A table with sortable columns."""
    formats = formats or {}
    heads = "".join(_head(name, any(_is_number(row.get(name)) for row in rows)) for name in columns)
    body = "".join(
        "<tr>" + "".join(_cell(row.get(name), formats.get(name, "number")) for name in columns) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _scale(ratio: float | None) -> str:
    """A bar from the middle to how far a ratio is from 1, on a logarithmic scale."""
    if ratio is None or ratio <= 0:
        return ""
    share = max(-1.0, min(1.0, math.log(ratio) / math.log(_SCALE_FACTOR)))
    width = abs(share) * _SCALE_HALF
    left = _SCALE_HALF - (width if share < 0 else 0)
    far = "" if max(ratio, 1 / ratio) <= NEAR else ' class="far"'
    return f'<span class="scale"><i{far} style="left:{left:.1f}px;width:{max(width, 2):.1f}px"></i></span>'


def opposite_words(ours: float, paper: float, better: str | None) -> str:
    """Who gains and who loses, where the chart says what is better."""
    if better is None:
        return "opposite: on different sides of the reference"
    paper_gains = (paper > ours) == (better == "higher")
    return "opposite: the paper gains, we lose" if paper_gains else "opposite: the paper loses, we gain"


def _opposite(row: Row, better: str | None) -> str:
    """A word of warning where ours contradicts the paper."""
    if not row["opposite"]:
        return ""
    return f'<span class="tag opposite">{text(opposite_words(row["ours"], row["paper"], better))}</span> '


def comparison_table(figure: Figure) -> str:
    """Ours, the paper's, the ratio."""
    rows = figure.comparison()
    if not rows:
        return ""
    how = figure.chart.y_format
    lines = []
    for row in rows:
        ratio = row["ratio"]
        value = "" if ratio is None else f' data-value="{ratio}"'
        written = NOTHING if ratio is None else f"{ratio:.2f}"
        lines.append(
            f"<tr><td>{text(row['claim'])}</td>{_cell(row['ours'], how)}{_cell(row['paper'], how)}"
            f'<td class="number"{value}><span class="ratio">{written}{_scale(ratio)}</span></td>'
            f"<td>{_opposite(row, figure.chart.better)}{text(row['source'])}</td></tr>"
        )
    heads = _head("claim", False) + "".join(_head(name, True) for name in ("ours", "paper", "ours / paper"))
    head = f"<thead><tr>{heads}{_head('source', False)}</tr></thead>"
    return f'<div class="scroll"><table class="comparison wide">{head}<tbody>{"".join(lines)}</tbody></table></div>'


def data_table(figure: Figure) -> str:
    """All rows of a figure, with the command that reruns each."""
    columns = figure.columns
    chart = figure.chart
    formats = {chart.x: chart.x_format, chart.y: chart.y_format, str(chart.error): chart.y_format}
    formats[str(chart.series)] = chart.series_format
    commands = any(row.get(COMMAND) for row in figure.rows)
    heads = "".join(_head(name, any(_is_number(row.get(name)) for row in figure.rows)) for name in columns)
    lines = []
    for number, row in enumerate(figure.rows):
        cells = "".join(_cell(row.get(name), formats.get(name, "number")) for name in columns)
        if commands:
            cells += f"<td>{copy_button(str(row.get(COMMAND) or ''))}</td>"
        lines.append(f'<tr data-row="{number}">{cells}</tr>')
    head = f"<thead><tr>{heads}{'<th></th>' if commands else ''}</tr></thead>"
    inner = f'<div class="scroll"><table class="data">{head}<tbody>{"".join(lines)}</tbody></table></div>'
    return f"<details><summary>All {len(figure.rows)} numbers</summary>{inner}</details>"


def copy_button(command: str) -> str:
    if not command:
        return ""
    held = text(command)
    return f'<button type="button" class="copy" data-command="{held}" title="{held}">copy command</button>'


def commands(figure: Figure) -> str:
    if not figure.commands:
        return ""
    lines = "\n".join(figure.commands)
    return f"<details><summary>Run it again</summary><pre><code>{text(lines)}</code></pre></details>"


def notes(figure: Figure) -> str:
    said = [*figure.notes]
    said += ["Each panel has its own axis."] if figure.own_axes else []
    said += ["The axis is logarithmic and bars begin at the reference."] if figure.log_y != figure.chart.log_y else []
    if not said:
        return ""
    return '<ul class="notes">' + "".join(f"<li>{text(note)}</li>" for note in said) + "</ul>"


def claims(found: Claims) -> str:
    """The paper's claims in one table; its last column may be long."""
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    note = f'<p class="empty">{text(found.note)}</p>' if found.note else ""
    return (
        f'<section class="about verdict" id="claims"><h2>Claim by claim</h2><p>{text(found.verdict)}</p>'
        f"{table(rows, found.columns)}{note}</section>"
    )


def provenance(about: Provenance) -> str:
    """Where the numbers come from."""
    parts = ["<h2>Where these numbers come from</h2>"]
    if about.runs:
        parts.append(f"<p>{about.runs} runs.</p>")
    if about.graphs:
        columns = list(about.graphs[0])
        heads = "".join(_head(name, any(_is_number(row.get(name)) for row in about.graphs)) for name in columns)
        lines = "".join(f"<tr>{''.join(_origin(row, name) for name in columns)}</tr>" for row in about.graphs)
        grid = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
        parts.append(f'<h3>Graphs</h3><div class="scroll">{grid}</div>')
    for name, parameters in about.machines.items():
        rows = [{"parameter": key, "value": shown(value)} for key, value in parameters.items()]
        inner = table(rows, ["parameter", "value"])
        parts.append(f"<details><summary>Machine {text(name)}</summary><div class='scroll'>{inner}</div></details>")
    if about.failures:
        parts.append(
            f"<h3>Runs that failed</h3><div class='scroll'>{table(about.failures, list(about.failures[0]))}</div>"
        )
    if about.versions:
        rows = [{"what": name, "version": version} for name, version in about.versions.items()]
        parts.append(f"<h3>Versions</h3>{table(rows, ['what', 'version'])}")
    return f'<section class="about" id="about">{"".join(parts)}</section>'


def _origin(row: Row, name: str) -> str:
    if name != "origin":
        return _cell(row.get(name))
    word = str(row.get(name, ""))
    kind = "stand-in" if word.startswith("stand-in") else "file" if word == "file" else ""
    return f'<td><span class="tag {kind}">{text(word)}</span></td>'
