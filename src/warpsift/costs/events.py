"""Which counter pays which price: the one table that joins the engine's counters to the cost tables.

An `Event` names a coefficient (an entry of `tables/*.toml`), the component it is booked under, and the counters that
are multiplied by it. A counter that a run does not have counts as 0. To charge something new, add a line here and an
entry in every table of that scope; the loader refuses a table that lacks one.
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
    Event("lane_instruction", "sm.pipeline", {"lane_instructions": 1}),
    Event("integer_lane_op", "sm.alu", {"integer_lane_instructions": 1}),
    Event("float_lane_op", "sm.alu", {"float_lane_instructions": 1}),
    Event("register_access", "sm.register_file", {"register_accesses": 1}),  # 32 lanes x 4 B
    Event("shared_pass", "sm.shared_memory", {"shared_passes": 1}),  # one pass through the 32 banks
    # L1: one 128-byte line out on a hit; a lookup alone on a miss and on a write-through; sectors in on a fill.
    Event("l1_line_read", "l1", {"l1_read_hits": 1}),
    Event("l1_lookup", "l1", {"l1_read_misses": 1, "l1_writes": 1}),
    Event("l1_sector_write", "l1", {"l1_sector_fills": 1}),
    Event("noc_flit", "noc", {"noc_request_flits": 1, "noc_reply_flits": 1}),
    # L2, per 32-byte sector. An atomic reads and writes its sector.
    Event("l2_sector_read", "l2", {"l2_sector_read_hits": 1, "l2_atomics": 1}),
    Event("l2_lookup", "l2", {"l2_sector_read_misses": 1}),
    Event(
        "l2_sector_write",
        "l2",
        {"l2_sector_write_hits": 1, "l2_sector_write_misses": 1, "l2_sector_fills": 1, "l2_atomics": 1},
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
    "dram_background_power_down": "power_down",
}

# SCU, one line per stage of its pipeline (SCU paper, Fig. 7 and 8), per element.
SCU_EVENTS = (
    Event("scu_address", "scu.address_generator", {"scu_addresses": 1}),
    Event("scu_fetch", "scu.data_fetch", {"scu_elements_fetched": 1}),
    Event("scu_coalesce", "scu.coalescing_units", {"scu_coalescer_lookups": 1}),
    Event("scu_compare", "scu.bitmask_constructor", {"scu_elements_compared": 1}),
    Event("scu_store", "scu.data_store", {"scu_elements_stored": 1}),
    Event("scu_hash", "scu.filtering_grouping", {"scu_hash_requests": 1}),
)

# MFF (MFF paper, Fig. 7).
MFF_EVENTS = (
    Event("mff_issue", "mff.issue_engines", {"mff_jobs": 1}),
    Event("mff_register", "mff.work_registers", {"mff_register_accesses": 1}),
    Event("mff_tag_search", "mff.tag_units", {"mff_tag_searches": 1}),
    Event("mff_line_access", "mff.line_data", {"mff_line_accesses": 1}),
)

UNIT_EVENTS: dict[str, tuple[Event, ...]] = {"scu": SCU_EVENTS, "mff": MFF_EVENTS}

# Powers that a table must state. `sm_clock` runs while kernels run; the rest runs always, unless gated.
GPU_POWERS = {
    "board": "static.board",
    "sm_leakage": "static.sm_leakage",
    "uncore_leakage": "static.uncore_leakage",
    "sm_clock": "static.sm_clock",
    "memory_interface": "static.memory_interface",
}

# Register-file rows touched by one warp instruction of a kind: operands read plus result written.
REGISTER_ROWS = {"alu": 3, "load": 2, "store": 2, "atomic": 3, "shared": 2, "gather": 2, "scatter": 2}


def with_derived(counters: Counters) -> dict[str, float]:
    """Counters with the two that follow from others where a run does not count them itself.

    Register accesses follow from the warp instructions of each kind (`REGISTER_ROWS`); integer lane instructions are
    the lane instructions that are not floating point.
    """
    filled = {name: float(value) for name, value in counters.items()}
    if "register_accesses" not in filled:
        filled["register_accesses"] = sum(
            rows * filled.get(f"{kind}_warp_instructions", 0.0) for kind, rows in REGISTER_ROWS.items()
        )
    if "integer_lane_instructions" not in filled:
        lanes = filled.get("lane_instructions", 0.0)
        filled["integer_lane_instructions"] = max(0.0, lanes - filled.get("float_lane_instructions", 0.0))
    return filled
