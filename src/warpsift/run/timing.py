"""From the engine's counters to what an architect asks: rates, bandwidth, the stall stack, the roofline position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warpsift.engine.counters import total_of
from warpsift.machines.spec import Machine
from warpsift.run.record import RunResult
from warpsift.units import resolve

if TYPE_CHECKING:
    from warpsift.engine import Engine

# Scheduler-cycles of an SM are either spent issuing or ended by one of these.
STALLS = ("no_warp", "alu", "memory", "shared", "barrier", "lsu")


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def dram_bytes(counters: Mapping[str, float], machine: Machine) -> float:
    """Bytes that the memory's data bus was occupied for, in bursts, useful or not."""
    return (counters["dram_reads"] + counters["dram_writes"]) * machine.dram.burst_bytes


def stall_stack(counters: Mapping[str, float]) -> dict[str, float]:
    """Shares of the scheduler-cycles; they add up to 1."""
    cycles = {"issue": counters["issue_cycles"], **{s: counters[f"stall_{s}_cycles"] for s in STALLS}}
    total = sum(cycles.values())
    return {name: round(_ratio(value, total), 4) for name, value in cycles.items()}


def timing_of(counters: Mapping[str, float], machine: Machine) -> dict[str, Any]:
    """The figures that `run` prints and `--json` carries."""
    c = counters
    seconds = c["cycles"] / (machine.clocks.core_mhz * 1e6)
    moved = dram_bytes(c, machine)
    peak = machine.peak_dram_bytes_per_second
    return {
        "cycles": c["cycles"],
        "seconds": seconds,
        "microseconds": round(seconds * 1e6, 3),
        "instructions_per_cycle": round(_ratio(c["warp_instructions"], c["cycles"]), 4),
        "l1_accesses": c["l1_read_accesses"] + c["l1_bypassed_accesses"] + c["l1_write_accesses"],
        "l1_hit_rate": round(_ratio(c["l1_read_hits"], c["l1_read_accesses"]), 4),
        "l2_accesses": c["l2_read_accesses"] + c["l2_write_accesses"],
        "l2_hit_rate": round(_ratio(c["l2_read_hits"] + c["l2_read_pending"], c["l2_read_accesses"]), 4),
        "dram_reads": c["dram_reads"],
        "dram_writes": c["dram_writes"],
        "dram_row_hit_rate": round(_ratio(c["dram_row_hits"], c["dram_reads"] + c["dram_writes"]), 4),
        "dram_bytes": moved,
        "bandwidth_bytes_per_second": _ratio(moved, seconds),
        "bandwidth_utilisation": round(_ratio(moved, seconds * peak), 4),
        "mean_load_latency_cycles": round(_ratio(c["load_latency_cycles"], c["loads_completed"]), 1),
        "resident_warps_per_sm": round(_ratio(c["resident_warp_cycles"], c["cycles"] * machine.sm.count), 2),
        "stall_stack": stall_stack(c),
    }


def roofline(counters: Mapping[str, float], machine: Machine) -> dict[str, Any]:
    """Thread instructions per DRAM byte, and how far the run is below the roof at that intensity."""
    seconds = counters["cycles"] / (machine.clocks.core_mhz * 1e6)
    moved = dram_bytes(counters, machine)
    issue_peak = machine.sm.count * machine.sm.schedulers * machine.sm.lanes_per_scheduler
    compute_roof = issue_peak * machine.clocks.core_mhz * 1e6
    intensity = _ratio(counters["thread_instructions"], moved)
    memory_roof = intensity * machine.peak_dram_bytes_per_second
    roof = min(compute_roof, memory_roof) if moved else compute_roof
    achieved = _ratio(counters["thread_instructions"], seconds)
    return {
        "thread_instructions_per_dram_byte": round(intensity, 4),
        "thread_instructions_per_second": achieved,
        "roof_thread_instructions_per_second": roof,
        "bound": "memory" if moved and memory_roof < compute_roof else "compute",
        "share_of_roof": round(_ratio(achieved, roof), 4),
    }


def add_timing(result: RunResult, engine: Engine, machine: Machine, edges: int) -> None:
    """Fill in what only the engine knows."""
    from warpsift.machines import machine_parameters
    from warpsift.run.launch_history import array_traffic, timeline

    total = engine.total
    result.timing = timing_of(total, machine) | {"roofline": roofline(total, machine), "counters": dict(total)}
    if edges and result.timing["seconds"]:
        result.timing["mteps"] = round(edges / result.timing["seconds"] / 1e6, 3)  # arcs reached, once each
    unit_cycles = sum(timed.counters.cycles for timed in engine.operations)
    result.timing["unit_seconds"] = engine.seconds(unit_cycles)
    result.timing["gpu_seconds"] = result.timing["seconds"] - result.timing["unit_seconds"]
    result.machine = machine_parameters(machine)
    result.array_traffic, result.timeline = array_traffic(engine), timeline(engine)
    result.engine = engine
    for phase in result.phases:
        of_unit = [(done.info, done.counters) for done in engine.operations if done.info.unit == phase.unit]
        of_gpu = [(launch.launch, launch.counters) for launch in engine.launches]
        key = (phase.name, phase.compaction)
        mine = [c for info, c in (of_unit if phase.unit else of_gpu) if (info.phase, info.compaction) == key]
        if mine:
            summed = total_of(mine)
            phase.timing = timing_of(summed, machine) | {"counters": dict(summed)}


def add_floor(result: RunResult, engine: Engine, machine: Machine) -> None:
    """The time below which no unit of these numbers could do what it did."""
    unit = resolve(result.unit)
    if unit is None:
        return
    floor = unit.floor(machine, engine)
    result.timing["unit_floor_seconds"] = engine.seconds(1) * floor["cycles"]
    result.timing["unit_floor_cycles_by_bound"] = {k: round(v) for k, v in floor.items() if k != "cycles"}
