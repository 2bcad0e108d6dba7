"""Which counter pays which price: the one table that joins the engine's counters to the cost tables.

An `Event` names a coefficient (an entry of `tables/*.toml`), the component it is booked under, and the counters that
are multiplied by it. A counter that a run does not have counts as 0. To charge something new, add a line here and an
entry in every table of that scope; the loader refuses a table that lacks one. Special units have events of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Counters = Mapping[str, float]


@dataclass(frozen=True)
class Event:
    """One thing that costs energy each time it happens."""

    coefficient: str
    component: str
    counters: Mapping[str, float]  # counter name -> how many of this event one count stands for


GPU_EVENTS = (
    # Streaming multiprocessor. A warp instruction is fetched, decoded and scheduled once, whatever its lanes.
    Event("warp_instruction", "sm.front_end", {"warp_instructions": 1}),
    Event("lane_instruction", "sm.pipeline", {"thread_instructions": 1}),
    Event("integer_lane_op", "sm.alu", {"integer_thread_instructions": 1}),
    Event("float_lane_op", "sm.alu", {"float_thread_instructions": 1}),
    Event("register_access", "sm.register_file", {"register_accesses": 1}),  # 32 lanes x 4 B
    Event("shared_pass", "sm.shared_memory", {"shared_passes": 1}),  # one pass through the 32 banks
    # L1: one 128-byte line out on a hit; a lookup alone on a miss, a merge and a write-through; sectors in on a fill,
    # from where a waiting load is served without reading the array again.
    Event("l1_line_read", "l1", {"l1_read_hits": 1}),
    Event("l1_lookup", "l1", {"l1_read_misses": 1, "l1_read_merged": 1, "l1_write_accesses": 1}),
    Event("l1_sector_write", "l1", {"l1_fills": 1}),
    Event("noc_flit", "noc", {"request_flits_sent": 1, "reply_flits_sent": 1}),
    # L2, per 32-byte sector. The read of an atomic is among the reads; its result is written. A write-back reads.
    Event("l2_sector_read", "l2", {"l2_read_hits": 1, "l2_writebacks": 1}),
    Event("l2_lookup", "l2", {"l2_read_misses": 1, "l2_read_pending": 1}),
    Event(
        "l2_sector_write",
        "l2",
        {"l2_write_hits": 1, "l2_write_misses": 1, "l2_fills": 1, "l2_atomic_operations": 1},
    ),
)

# DRAM, per command; background power is charged by `energy` from the time spent in each state.
DRAM_EVENTS = (
    Event("dram_activate", "dram.activate", {"dram_activates": 1}),
    Event("dram_read", "dram.read", {"dram_reads": 1}),
    Event("dram_write", "dram.write", {"dram_writes": 1}),
    Event("dram_io_read", "dram.io", {"dram_reads": 1}),
    Event("dram_io_write", "dram.io", {"dram_writes": 1}),
    Event("dram_refresh", "dram.refresh", {"dram_refreshes": 1}),
)
DRAM_STATES = {  # coefficient (watts per device) -> DRAM state
    "dram_background_active": "active",
    "dram_background_precharged": "precharged",
    "dram_background_active_power_down": "active_power_down",
    "dram_background_power_down": "power_down",
}

# Powers that a table must state, for the design that it was made for (`design.Design`).
GPU_POWERS = {
    "board": "static.board",
    "sm_leakage": "static.sm_leakage",
    "l2_leakage": "static.l2_leakage",
    "uncore_leakage": "static.uncore_leakage",
    "sm_clock": "static.sm_clock",  # of SMs that have a warp, above leakage
    "sm_idle": "static.sm_idle",  # of SMs that have none, above leakage
    "memory_interface": "static.memory_interface",
}

# Register-file rows touched by one warp instruction of a kind: operands read plus result written.
REGISTER_ROWS = {
    "alu_instructions": 3,
    "load_instructions": 2,
    "store_instructions": 2,
    "atomic_instructions": 3,
    "shared_instructions": 2,
    "unit_instructions": 2,
}


def with_derived(counters: Counters) -> dict[str, float]:
    """Counters with those that follow from others where a run does not count them itself.

    Register accesses follow from the warp instructions of each kind. Floating-point lanes: the engine counts
    floating-point warp instructions, taken to have as many active lanes as the average instruction; all other lane
    instructions are integer.
    """
    filled = {name: float(value) for name, value in counters.items()}
    if "register_accesses" not in filled:
        filled["register_accesses"] = sum(rows * filled.get(kind, 0.0) for kind, rows in REGISTER_ROWS.items())
    threads, warps = filled.get("thread_instructions", 0.0), filled.get("warp_instructions", 0.0)
    if "float_thread_instructions" not in filled:
        lanes = threads / warps if warps else 0.0
        filled["float_thread_instructions"] = lanes * filled.get("float_instructions", 0.0)
    if "integer_thread_instructions" not in filled:
        filled["integer_thread_instructions"] = max(0.0, threads - filled["float_thread_instructions"])
    return filled


def with_seconds(counters: Counters, core_mhz: float, waiting_cycles: float = 0.0) -> dict[str, float]:
    """Counters of a run with its time: `cycles` of the core clock, of which the GPU waits `waiting_cycles`.

    `sm_active_seconds` is summed over SMs; without a count of it, every SM counts as active unless the GPU waits.
    """
    hertz = core_mhz * 1e6
    timed = {**counters, "seconds": counters["cycles"] / hertz, "gpu_waiting_seconds": waiting_cycles / hertz}
    if "sm_active_cycles" in counters:
        timed["sm_active_seconds"] = counters["sm_active_cycles"] / hertz
    return timed
