"""A run as Python and notebooks show it: some lines of text that fit a screen, or a table as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from warpsift.run.sampling.relative_error import relative_half

if TYPE_CHECKING:
    from warpsift.run.record import Phase, RunResult

MOST_PHASES = 12  # rows of a table; a trace has a phase for every kernel
LINE = 100  # characters


def thousands(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def headline(result: RunResult) -> str:
    unit = "" if result.unit == "none" else f" with {result.unit}"
    style = f" ({result.style} style)" if result.style else ""
    machine = f", {result.machine['name']}" if result.machine else ""
    return f"{result.algorithm}{style} on {result.graph['name']}{unit}{machine}: check {result.check}"


def facts(result: RunResult) -> list[str]:
    """What one asks first, a line each."""
    graph = result.graph
    lines = [f"{thousands(graph['nodes'])} nodes, {thousands(graph['edges'])} arcs, {result.iterations} iterations"]
    if result.options.get("source") is not None:
        lines[0] += f"; source {result.options['source']} reaches {thousands(result.nodes_reached)} nodes"
    if result.timing:
        timing = result.timing
        words = [f"{thousands(timing['cycles'])} cycles{_half(result)}", f"{timing['microseconds']:.1f} us"]
        words += [f"{timing['mteps']:.1f} MTEPS"] if "mteps" in timing else []
        words += [f"{100 * timing['bandwidth_utilisation']:.0f} % of the DRAM's bandwidth"]
        words += [f"{1e3 * result.energy['energy_joules']:.3g} mJ"] if result.energy else []
        lines.append(", ".join(words))
    lines += [f"warning: {result.notes['warning']}"] if "warning" in result.notes else []
    return lines


def _half(result: RunResult) -> str:
    """How sure a sampled run is of its cycles."""
    half = relative_half(result.intervals.get("cycles"))
    return f" ± {100 * half:.1f} % (sampled)" if half else ""


def columns(result: RunResult) -> tuple[list[str], list[list[str]]]:
    """The table of phases: heads and cells."""
    timed = bool(result.timing)
    heads = ["phase", "launches", "warp instr.", "transactions", "coalesced", *(["cycles", "time"] if timed else [])]
    whole = result.timing.get("cycles", 0)
    rows = [_row(phase, timed, whole) for phase in result.phases[:MOST_PHASES]]
    return heads, rows


def _row(phase: Phase, timed: bool, whole: float) -> list[str]:
    c = phase.counters
    name = (f"{phase.unit}: " if phase.unit else "") + phase.name
    row = [name, thousands(phase.launches), thousands(c.warp_instructions), thousands(c.transactions)]
    row.append(f"{100 * c.coalescing_efficiency:.0f} %" if c.transactions else "-")
    if timed:
        cycles = phase.timing.get("cycles", 0)
        row += [thousands(cycles), f"{100 * cycles / whole:.0f} %" if whole else "-"]
    return row


def _more(result: RunResult) -> str:
    left = len(result.phases) - MOST_PHASES
    return f"and {left} more phases: result.rows()" if left > 0 else ""


def text_of(result: RunResult) -> str:
    """What `repr` gives."""
    heads, rows = columns(result)
    widths = [max(len(row[k]) for row in [heads, *rows]) for k in range(len(heads))]
    table = [
        "  ".join(cell.ljust(width) if not k else cell.rjust(width) for k, (cell, width) in enumerate(zipped))
        for zipped in (list(zip(row, widths, strict=True)) for row in [heads, *rows])
    ]
    lines = [headline(result), *facts(result), *table, *([_more(result)] if _more(result) else [])]
    return "\n".join(line if len(line) <= LINE else line[: LINE - 1] + "…" for line in lines)


def html_of(result: RunResult) -> str:
    """What a notebook shows; every word from data is escaped."""
    heads, rows = columns(result)
    head = "".join(f"<th>{_text(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    lines = "".join(f"<div>{_text(line)}</div>" for line in [*facts(result), _more(result)] if line)
    title = f"<div><b>{_text(headline(result))}</b></div>"
    return f"{title}{lines}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    return html.escape(str(value), quote=True)
