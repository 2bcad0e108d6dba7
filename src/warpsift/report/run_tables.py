"""Tables for the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from warpsift.graph.real_files import how_to_get
from warpsift.report.energy_tables import energy_lines, print_energy
from warpsift.report.sampling_words import plus_minus, print_sampling
from warpsift.report.screen_tables import table_of, thousands
from warpsift.report.text_bars import bar_lines
from warpsift.run.record import Phase, RunResult

if TYPE_CHECKING:
    from warpsift.run.comparison import Comparison


def _phase_row(phase: Phase, timed: bool, intervals: Mapping[str, Any]) -> list[str]:
    c = phase.counters
    row = [
        (f"{phase.unit}: " if phase.unit else "") + phase.name + (" *" if phase.compaction else ""),
        thousands(phase.launches),
        thousands(c.warp_instructions),
        thousands(c.transactions),
        f"{c.transactions_per_memory_instruction:.2f}",
        f"{100 * c.coalescing_efficiency:.1f} %",
        f"{c.active_lanes:.1f}",
    ]
    if timed:
        timing = phase.timing
        row += [
            thousands(timing["cycles"]) + plus_minus(intervals.get("cycles")),
            f"{100 * timing['l1_hit_rate']:.0f} %",
            f"{100 * timing['l2_hit_rate']:.0f} %",
            f"{100 * timing['bandwidth_utilisation']:.0f} %",
        ]
    return row


def print_run(console: Console, result: RunResult) -> None:
    """What `warpsift run` shows."""
    graph = result.graph
    stand_in = f", a stand-in for {graph['stand_in_for']}" if graph["stand_in_for"] else ""
    unit = "" if result.unit == "none" else f", with {result.unit}"
    title = f"{result.algorithm} ({result.style} style{unit}) on {graph['name']}{stand_in}"
    console.print(Text(title + (f", reading {result.reading}" if result.reading else ""), style="bold"))
    console.print(Text(f"{thousands(graph['nodes'])} nodes, {thousands(graph['edges'])} arcs{_reached(result)}"))
    if graph["stand_in_for"]:
        console.print(Text(how_to_get(graph["name"])))
    print_phases(console, result)
    work = result.work
    console.print(
        Text(
            f"work: {thousands(work['edges_touched'])} edges touched "
            f"({work['edges_touched_per_edge']:.2f} of E), {thousands(work['duplicates'])} duplicates, "
            f"{thousands(work['relaxations'])} relaxations, {result.iterations} iterations"
        )
    )
    _print_notes(console, result)
    style = {"pass": "green", "fail": "bold red"}.get(result.check, "yellow")
    console.print(Text(f"check: {result.check} ({result.check_reason})", style=style))
    console.print(Text(f"{result.host_seconds:.2f} s on this computer"))


def _reached(result: RunResult) -> str:
    """What the source reaches, where there is one."""
    source = result.options.get("source")
    if source is None or not result.nodes_reached:
        return ""
    shares = [
        100 * part / max(whole, 1)
        for part, whole in (
            (result.nodes_reached, result.graph["nodes"]),
            (result.edges_reached, result.graph["edges"]),
        )
    ]
    return (
        f"; source {source} reaches {thousands(result.nodes_reached)} nodes ({shares[0]:.3g} %) "
        f"and {thousands(result.edges_reached)} arcs ({shares[1]:.3g} %)"
    )


def print_trace(console: Console, result: RunResult) -> None:
    """What `warpsift run --trace` shows: the same figures, kernel by kernel."""
    console.print(Text(f"trace {result.graph['name']}", style="bold"))
    print_phases(console, result)
    _print_notes(console, result)
    console.print(Text(f"{result.host_seconds:.2f} s on this computer"))


def _print_notes(console: Console, result: RunResult) -> None:
    for name, value in result.notes.items():
        style = "yellow" if name == "warning" else ""
        console.print(Text(f"{name.replace('_', ' ')}: {value}", style=style))


def print_phases(console: Console, result: RunResult) -> None:
    """The table of phases and, if there is a machine, what it made of them."""
    columns = ["phase", "launches", "warp instr.", "transactions", "tx/instr.", "coalesced", "lanes"]
    timed = bool(result.timing)
    if timed:
        columns += ["cycles", "L1 hits", "L2 hits", "bandwidth"]
    total = Phase("total", False, "", sum(p.launches for p in result.phases), result.counters, {}, result.timing)
    intervals = [*result.intervals.get("phases", [{}] * len(result.phases)), result.intervals]
    rows = [_phase_row(*row) for row in zip([*result.phases, total], repeat(timed), intervals, strict=False)]
    console.print(table_of("", columns, rows, ["phase", "cycles", "launches", "warp instr.", "bandwidth", "L2 hits"]))
    if any(phase.compaction for phase in result.phases):
        console.print(Text("* stream compaction", style="dim"))
    if timed:
        _print_timing(console, result)
        print_sampling(console, result)


def _print_timing(console: Console, result: RunResult) -> None:
    """Time, bandwidth, what the schedulers waited for, and where the run stands under the roofline."""
    timing = result.timing
    name = (result.machine or {}).get("name", "the GPU")
    teps = f"{timing['mteps']:.1f} MTEPS, " if "mteps" in timing else ""
    console.print(
        Text(
            f"{name}: {thousands(timing['cycles'])} cycles, {timing['microseconds']:.1f} us"
            f"{plus_minus(result.intervals.get('cycles'))}, "
            f"{teps}{timing['bandwidth_bytes_per_second'] / 1e9:.1f} GB/s "
            f"({100 * timing['bandwidth_utilisation']:.1f} % of peak), {timing['instructions_per_cycle']:.2f} IPC, "
            f"mean load latency {timing['mean_load_latency_cycles']:.0f} cycles"
        )
    )
    stack = ", ".join(f"{k.replace('_', ' ')} {100 * v:.0f} %" for k, v in timing["stall_stack"].items() if v >= 0.005)
    console.print(Text(f"scheduler cycles: {stack}"))
    roof = timing["roofline"]
    if timing["unit_seconds"]:
        console.print(
            Text(f"GPU {1e6 * timing['gpu_seconds']:.1f} us, {result.unit} {1e6 * timing['unit_seconds']:.1f} us")
        )
    console.print(
        Text(
            f"roofline: {roof['thread_instructions_per_dram_byte']:.2f} thread instructions per DRAM byte, "
            f"{roof['bound']}-bound roof, {100 * roof['share_of_roof']:.1f} % of it reached"
        )
    )
    if result.energy:
        print_energy(console, result)


def _percent(share: float | None) -> str:
    """A share of the baseline; there is none of nothing."""
    return "-" if share is None else f"{100 * share:.0f} %"


def _half(row: Mapping[str, Any], name: str) -> str:
    """± behind a number of a sampled comparison."""
    return plus_minus(row.get("intervals", {}).get(name))


def print_comparison(console: Console, comparison: Comparison) -> None:
    """What `warpsift compare` shows: one column per unit."""
    rows = [entry.as_dict() for entry in comparison.entries]
    graph = comparison.entries[0].result.graph
    stand_in = f", a stand-in for {graph['stand_in_for']}" if graph["stand_in_for"] else ""
    reading = f", reading {comparison.reading}" if comparison.reading else ""
    console.print(Text(f"{comparison.algorithm} on {graph['name']}{stand_in}, {comparison.gpu}{reading}", style="bold"))
    lines: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("style", lambda r: r["style"]),
        ("check", lambda r: r["check"]),
        ("time, us", lambda r: f"{1e6 * r['seconds']:.1f}{_half(r, 'seconds')}"),
        ("  GPU", lambda r: f"{1e6 * r['gpu_seconds']:.1f}"),
        ("  unit", lambda r: f"{1e6 * r['unit_seconds']:.1f}"),
        ("measured stage, us", lambda r: f"{1e6 * r['measured_seconds']:.1f}{_half(r, 'measured_seconds')}"),
        ("  unit's analytic floor", lambda r: f"{1e6 * r['unit_floor_seconds']:.1f}"),
        ("speedup", lambda r: f"{r['speedup']:.2f}{_half(r, 'speedup')}"),
        ("  with the unit at its floor", lambda r: f"{r['speedup_at_floor']:.2f}"),
        ("  of all phases", lambda r: f"{r['speedup_of_all_phases']:.2f}{_half(r, 'speedup_of_all_phases')}"),
        ("compaction, share of time", lambda r: f"{100 * r['compaction_share']:.0f} %"),
        ("GPU warp instructions", lambda r: thousands(r["gpu_warp_instructions"])),
        ("  removed", lambda r: f"{100 * r['gpu_instructions_removed']:.0f} %"),
        ("frontier elements", lambda r: thousands(r["frontier_elements"])),
        ("edges touched / E", lambda r: f"{r['edges_touched_per_edge']:.2f}"),
        ("transactions / mem. instr.", lambda r: f"{r['transactions_per_memory_instruction']:.2f}"),
        ("  32-byte sectors", lambda r: f"{r['sectors_per_memory_instruction']:.2f}"),
        ("bandwidth utilisation", lambda r: f"{100 * r['bandwidth_utilisation']:.1f} %"),
        ("DRAM traffic, MB", lambda r: f"{r['dram_bytes'] / 1e6:.2f}{_half(r, 'dram_bytes')}"),
        ("interconnect flits", lambda r: thousands(r["flits"])),
        ("  saved", lambda r: _percent(r["flits_saved"])),
        ("interconnect stall cycles", lambda r: thousands(r["interconnect_stall_cycles"])),
        ("  saved", lambda r: _percent(r["interconnect_stall_cycles_saved"])),
        ("  reply network, L2 input", lambda r: thousands(r["simulator_stall_cycles"])),
        ("    saved", lambda r: _percent(r["simulator_stall_cycles_saved"])),
    ]
    if rows[0]["energy_joules"] is not None:
        lines += energy_lines(rows)
    body = [[label, *(cell(row) for row in rows)] for label, cell in lines]
    console.print(table_of("", ["", *(row["unit"] for row in rows)], body))
    for line in bar_lines(rows, console.encoding, console.width):
        console.print(Text(line))
