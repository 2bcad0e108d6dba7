"""The tables of `warpsift validate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpsift.machines import load_machine
from warpsift.report.pictures import save_picture
from warpsift.validation.agreement import (
    LATENCIES,
    Comparison,
    log_correlation,
    mean_absolute_error,
    reference_cases,
    run_case,
)
from warpsift.validation.bandwidth import atomics_per_slice_cycle, stream_utilisation
from warpsift.validation.chase import dram_latency, l1_latency, l2_latency

PAPER_MACHINES = ("gtx980", "tx1", "gtx480")
QUICK_CYCLES = 150_000  # reference programs longer than this are left out of a quick validation
Section = dict[str, Any]


def sections(note: Callable[[str], None], quick: bool = False) -> tuple[list[Section], list[Comparison]]:
    """All tables, and the comparisons with GPGPU-Sim for the plot."""
    comparisons = []
    cases = [c for c in reference_cases() if not quick or c.reference["cycles"] <= QUICK_CYCLES]
    found = [_latencies(note), _bandwidth(note), _atomics(note)]
    for case in cases:
        note(f"{case.workload} {case.param} on {case.machine}")
        comparisons.append(run_case(case))
    found += [_programs(machine, comparisons) for machine in ("gtx480-gpgpusim4", "titanx")]
    note("DRAM patterns")
    return [*found, _dram()], comparisons


def _latencies(note: Callable[[str], None]) -> Section:
    measures = {"l1": l1_latency, "l2": l2_latency, "dram": dram_latency}
    rows = []
    for (machine, level), reference in LATENCIES.items():
        note(f"pointer chase, {level} of {machine}")
        ours = measures[level](load_machine(machine))
        rows.append(
            {"machine": machine, "level": level, "ours": ours, "reference": reference, "ratio": ours / reference}
        )
    return {"title": "Pointer chase, core cycles per hop", "rows": rows, "notes": ["Reference: GPGPU-Sim 4.2."]}


def _bandwidth(note: Callable[[str], None]) -> Section:
    rows = []
    for name in PAPER_MACHINES:
        note(f"streaming reads on {name}")
        machine = load_machine(name)
        share = stream_utilisation(machine)
        peak = machine.peak_dram_bytes_per_second / 1e9
        rows.append({"machine": name, "peak GB/s": peak, "reached GB/s": share * peak, "share": share})
    return {"title": "Streaming reads", "rows": rows, "notes": ["Real boards stream at 80 to 95 % of their peak."]}


def _atomics(note: Callable[[str], None]) -> Section:
    rows = []
    for name in PAPER_MACHINES:
        note(f"atomics on {name}")
        machine = load_machine(name)
        rows.append(
            {
                "machine": name,
                "one address, per cycle": atomics_per_slice_cycle(machine, False),
                "random addresses, per slice and cycle": atomics_per_slice_cycle(machine, True),
            }
        )
    return {"title": "Atomic operations", "rows": rows, "notes": []}


def _programs(machine: str, comparisons: list[Comparison]) -> Section:
    mine = [c for c in comparisons if c.case.machine == machine]
    rows = [
        {
            "program": f"{c.case.workload} {c.case.param}",
            "cycles": c.ours["cycles"],
            "reference": c.case.reference["cycles"],
            "cycles %": 100 * c.error("cycles"),
            "L2 accesses %": 100 * c.error("l2_accesses"),
            "DRAM reads %": 100 * c.error("dram_reads"),
        }
        for c in mine
    ]
    notes = [
        f"mean absolute error of the cycles {100 * mean_absolute_error(mine):.1f} %, "
        f"correlation of their logarithms {log_correlation(mine):.4f}"
    ]
    return {"title": f"Programs on {machine}, against GPGPU-Sim 4.2", "rows": rows, "notes": notes}


def _dram() -> Section:
    from warpsift.engine.dram.dram_validate import validate_dram

    rows = [
        {"memory": r.memory, "pattern": r.pattern, "ours": r.ours, "reference": r.reference, "ratio": r.ratio}
        for r in validate_dram()
        if r.reference is not None
    ]
    return {"title": "DRAM patterns, command clocks per request", "rows": rows, "notes": ["DRAMsim3 and Ramulator 1."]}


def draw_scatter(comparisons: list[Comparison], path: Path) -> None:
    """Our cycles against the reference's, both logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 4.8))
    for machine, marker in (("gtx480-gpgpusim4", "o"), ("titanx", "s")):
        mine = [c for c in comparisons if c.case.machine == machine]
        theirs, ours = ([c.case.reference["cycles"] for c in mine], [c.ours["cycles"] for c in mine])
        axes.scatter(theirs, ours, marker=marker, label=machine, alpha=0.8)
    low, high = axes.get_xlim()
    low = max(low, 1e3)
    axes.plot([low, high], [low, high], color="grey", linewidth=0.8)
    axes.fill_between([low, high], [0.75 * low, 0.75 * high], [1.25 * low, 1.25 * high], color="grey", alpha=0.15)
    axes.set(xscale="log", yscale="log", xlabel="cycles, GPGPU-Sim 4.2", ylabel="cycles, warpsift")
    axes.legend(frameon=False, title="band: within 25 %")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_picture(figure, path, dpi=150)
    pyplot.close(figure)
