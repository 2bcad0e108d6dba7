"""Tables for the screen."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsift.results.record import Phase, RunResult


def thousands(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def table_of(title: str, columns: list[str], rows: list[list[Any]]) -> Table:
    """A plain table; the first column is left-aligned, the others right-aligned. Cells are text, never markup."""
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return table


def _phase_row(phase: Phase) -> list[str]:
    c = phase.counters
    return [
        phase.name + (" *" if phase.compaction else ""),
        thousands(phase.launches),
        thousands(c.warp_instructions),
        thousands(c.transactions),
        f"{c.transactions_per_memory_instruction:.2f}",
        f"{100 * c.coalescing_efficiency:.1f} %",
        f"{c.active_lanes:.1f}",
    ]


def print_run(console: Console, result: RunResult) -> None:
    """What `warpsift run` shows."""
    graph = result.graph
    stand_in = f", a stand-in for {graph['stand_in_for']}" if graph["stand_in_for"] else ""
    title = f"{result.algorithm} ({result.style} style) on {graph['name']}{stand_in}"
    console.print(Text(title, style="bold"))
    console.print(Text(f"{thousands(graph['nodes'])} nodes, {thousands(graph['edges'])} arcs"))
    columns = ["phase", "launches", "warp instr.", "transactions", "tx/instr.", "coalesced", "lanes"]
    rows = [_phase_row(phase) for phase in result.phases]
    total = Phase("total", False, sum(p.launches for p in result.phases), result.counters)
    console.print(table_of("", columns, [*rows, _phase_row(total)]))
    if any(phase.compaction for phase in result.phases):
        console.print(Text("* stream compaction", style="dim"))
    work = result.work
    console.print(
        Text(
            f"work: {thousands(work['edges_touched'])} edges touched "
            f"({work['edges_touched_per_edge']:.2f} of E), {thousands(work['duplicates'])} duplicates, "
            f"{thousands(work['relaxations'])} relaxations, {result.iterations} iterations"
        )
    )
    for name, value in result.notes.items():
        console.print(Text(f"{name.replace('_', ' ')}: {value}"))
    style = {"pass": "green", "fail": "bold red"}.get(result.check, "yellow")
    console.print(Text(f"check: {result.check} ({result.check_reason})", style=style))
    console.print(Text(f"{result.host_seconds:.2f} s on this computer"))
