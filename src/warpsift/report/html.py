"""Writes a report: one HTML page that needs nothing else, and beside it the figures and numbers as files.

The page draws its charts with a script of its own. A content security policy allows that script alone, by its hash,
and no network at all; names from files reach the page as escaped text or as JSON.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import os
from importlib import resources
from pathlib import Path
from typing import Any

from warpsift.errors import WarpsiftError
from warpsift.report import html_parts as parts
from warpsift.report.charts import PALETTE, draw, save
from warpsift.report.figures import COMMAND, Figure, Report
from warpsift.report.heat_map import FULL_COLOUR, HEAT
from warpsift.report.html_parts import text
from warpsift.report.numbers import shown
from warpsift.report.verdict import verdict_html
from warpsift.store.export import export, have_parquet


class ReportError(WarpsiftError):
    """A report that cannot be written."""


def write_report(path: str | os.PathLike[str], report: Report) -> Path:
    """Write the page and its files; returns the page's path.

    `path` is a folder, which gets index.html, figures/ and data/, or a name that ends in .html, which gets a
    folder of the same name beside it.
    """
    target = Path(path)
    page = target if target.suffix == ".html" else target / "index.html"
    files = page.with_name(f"{page.stem}-files") if target.suffix == ".html" else target
    links = [_figure_files(figure, name, files) for figure, name in zip(report.figures, _names(report), strict=True)]
    relative = [[(word, file.relative_to(page.parent).as_posix()) for word, file in each] for each in links]
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        partial = page.with_name(page.name + ".partial")
        partial.write_text(page_text(report, relative), encoding="utf-8")
        partial.replace(page)
    except OSError as error:
        raise ReportError(f"cannot write {page}: {error.strerror or error}") from error
    return page


def _names(report: Report) -> list[str]:
    """File names and anchors, each once."""
    seen: dict[str, int] = {}
    names = []
    for figure in report.figures:
        slug = figure.slug
        seen[slug] = seen.get(slug, 0) + 1
        names.append(slug if seen[slug] == 1 else f"{slug}-{seen[slug]}")
    return names


def _figure_files(figure: Figure, name: str, folder: Path) -> list[tuple[str, Path]]:
    canvas = draw(figure)
    columns = [*figure.columns, COMMAND] if any(COMMAND in row for row in figure.rows) else figure.columns
    rows = [dict(row) for row in figure.rows]
    written = [(kind.upper(), save(canvas, folder / "figures" / f"{name}.{kind}")) for kind in ("png", "svg")]
    for kind in ("csv", "parquet") if have_parquet() else ("csv",):
        written.append((kind.upper(), export(rows, folder / "data" / f"{name}.{kind}", columns)))
    if figure.paper_values:
        written.append(("paper CSV", export(figure.comparison(), folder / "data" / f"{name}-paper.csv")))
    return written


def page_text(report: Report, links: list[list[tuple[str, str]]] | None = None) -> str:
    """The page as HTML."""
    names = _names(report)
    verdict = verdict_html(report, names) if report.claims is None else ""
    claims = parts.claims(report.claims) if report.claims is not None else ""
    script, style = _asset("report.js"), _asset("report.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    held = links or [[] for _ in names]
    figures = [_figure(*each) for each in zip(report.figures, names, held, strict=True)]
    contents = [
        f'<li><a href="#{name}">{text(figure.title)}</a></li>'
        for figure, name in zip(report.figures, names, strict=True)
    ]
    contents.insert(1, _link("claims", "Claim by claim", claims))
    contents.insert(0, _link("verdict", "What comes out", verdict))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{text(report.title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header class="top">
<h1>{text(report.title)}</h1>
{f'<p class="subtitle">{text(report.subtitle)}</p>' if report.subtitle else ""}
{_meta(report)}
{"".join(f'<p class="summary">{text(paragraph)}</p>' for paragraph in report.summary)}
</header>
<div class="toolbar"><form>
<input id="filter" type="search" placeholder="Filter figures and tables: kron bfs"
 aria-label="Filter" autocomplete="off">
<output id="found" for="filter"></output>
</form></div>
<div class="layout">
<nav class="contents" aria-label="Contents"><ol>{"".join(contents)}
<li><a href="#about">Where these numbers come from</a></li></ol></nav>
<main>
{verdict}
{"".join(figures[:1])}
{claims}
{"".join(figures[1:])}
{parts.provenance(report.provenance)}
</main>
</div>
<script type="application/json" id="report-data">{_json(_data(report, names))}</script>
<script>{script}</script>
</body>
</html>
"""


def _link(name: str, words: str, section: str) -> str:
    """A line of the contents; a page that concludes nothing has no verdict to lead to."""
    return f'<li><a href="#{name}">{words}</a></li>' if section else ""


def _asset(name: str) -> str:
    return resources.files("warpsift.report").joinpath("page", name).read_text(encoding="utf-8")


def _meta(report: Report) -> str:
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    versions = report.provenance.versions
    words = [today, f"{len(report.figures)} figures"]
    if "warpsift" in versions:
        words.append(f"warpsift {versions['warpsift']} (sources {versions.get('sources', '?')})")
    made = f" · made by <code>{text(report.command)}</code>" if report.command else ""
    return f'<p class="meta">{" · ".join(map(text, words))}{made}</p>'


def _figure(figure: Figure, name: str, links: list[tuple[str, str]]) -> str:
    files = " · ".join(f'<a href="{text(address)}">{text(word)}</a>' for word, address in links)
    return (
        f'<section class="figure" id="{name}">{parts.heading(figure)}'
        '<div class="legend"></div><div class="panels"></div>'
        f"{parts.notes(figure)}{parts.comparison_table(figure)}{parts.data_table(figure)}{parts.commands(figure)}"
        + (f'<p class="files">As files: {files}</p>' if files else "")
        + "</section>"
    )


def _data(report: Report, names: list[str]) -> dict[str, Any]:
    """What the script draws."""
    return {
        "palette": PALETTE,
        "heat": {"colours": HEAT, "factor": FULL_COLOUR},
        "figures": [_figure_data(f, name) for f, name in zip(report.figures, names, strict=True)],
    }


def _figure_data(figure: Figure, name: str) -> dict[str, Any]:
    chart = figure.chart
    keep = {c for c in (chart.x, chart.y, chart.series, chart.facet, chart.error, chart.mark) if c is not None}
    keep |= {column for value in figure.paper_values for column in value.at}
    rows = []
    for row in figure.rows:
        words = " ".join(shown(value) for column, value in row.items() if column != COMMAND and value is not None)
        rows.append({**{column: row.get(column) for column in keep}, "_text": words.lower()})
    return {
        "id": name,
        "title": figure.title,
        "text": f"{figure.title} {figure.paper_reference}".lower(),
        "chart": {**vars(chart), "log_y": figure.log_y, "axis_label": chart.axis_label, "own_axes": figure.own_axes},
        "rows": rows,
        "paper": [
            {"claim": v.claim, "value": v.value, "at": dict(v.at), "ours": figure.ours(v)} for v in figure.paper_values
        ],
    }


def _json(value: Any) -> str:
    """JSON that can stand inside a script element whatever it holds."""
    written = json.dumps(_finite(value), ensure_ascii=True, separators=(",", ":"), default=_plain)
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def _finite(value: Any) -> Any:
    """JSON has no infinity and no not-a-number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value
