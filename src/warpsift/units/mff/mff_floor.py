"""The analytic floor of launches that use the memory fast-forward unit: cycles below which no unit of these numbers
can finish them.

Each bound is arithmetic on counts, with perfect balance over the memory units: a word takes two register updates (C
to V state, then sent or set); lookups, replies and flits take their ports; bytes take the DRAM's peak. The floor of a
launch is the largest, the floor of a run the sum over its launches. What the SMs do meanwhile is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpsift.machines import Machine

BOUNDS = ("updates", "lookups", "replies", "ports", "dram")


def bounds(machine: Machine, counters: Mapping[str, int]) -> dict[str, float]:
    """Least core cycles of one launch under each bound."""
    unit, slices, clocks = machine.unit("mff"), machine.l2.slices, machine.clocks
    from_l2, from_noc = clocks.core_mhz / clocks.l2_mhz, clocks.core_mhz / clocks.noc_mhz
    replies = counters["mff_words_sent"] / unit.words_per_reply + counters["mff_completion_messages"]
    flits = max(counters["reply_flits_sent"] / slices, counters["request_flits_sent"] / machine.sm.count)
    dram_bytes = (counters["dram_reads"] + counters["dram_writes"]) * machine.dram.burst_bytes
    bytes_per_cycle = machine.peak_dram_bytes_per_second / (clocks.core_mhz * 1e6)
    return {
        "updates": 2 * counters["mff_words"] / (slices * unit.updates_of_unit(slices)) * from_l2,
        "lookups": counters["mff_tag_searches"] / (slices * unit.lookups_of_unit(slices)) * from_l2,
        "replies": replies / (slices * unit.replies_per_cycle) * from_l2,
        "ports": 0.0 if machine.ideal.noc else flits * from_noc,
        "dram": 0.0 if machine.ideal.dram else dram_bytes / bytes_per_cycle,
    }


def floor_cycles(machine: Machine, launches: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """The floor of a run, `cycles`, and how much of it each bound decides; launches without a command count nothing."""
    total = dict.fromkeys(("cycles", *BOUNDS), 0.0)
    for counters in launches:
        if not counters["mff_jobs"]:
            continue
        found = bounds(machine, counters)
        deciding = max(found, key=lambda name: found[name])
        total["cycles"] += found[deciding]
        total[deciding] += found[deciding]
    return total
