"""What holds a unit back in a run, in one word, from the counters of the phase that took longest.

| word | when |
|---|---|
| algorithm | it handles at least twice the edges of the best software, and is faster per edge |
| bandwidth | DRAM is busy for 60 % of its peak or more |
| launch | a launch or an operation is shorter than twice the eight dependent accesses of a CTA's life |
| width | the SCU's (or ISCU's) Address Generator moves on for half of the phase: it works at its width |
| hash port | otherwise the SCU waits longest for sets of its hash tables, for room for them, or clears them |
| latency | the SCU, or the warps of a kernel, wait for data |
| network | the SCU, or replies of another unit, wait for the crossbar |
| stations | the slices' stations wait for room for sets, or for their slice |
| parts | the ISCU waits until its parts at the slices take more |
| registers, lines, tags, L2 | the MFF's engines or memory units wait for it, half of their time on average |
| reorder | the IRU's elements queue in front of its hash |
| balance | SMs are idle: too few warps, or a few with long lists |
| instructions, barrier, coalescing | what the warps do or wait for otherwise |

Rules are tried in this order: algorithm, bandwidth, launch, the unit's own words, those of the SMs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Run = Mapping[str, Any]
Phase = Mapping[str, Any]

MORE_EDGES = 2.0
BUSY_DRAM = 0.6  # of the peak; random sectors seldom reach more (docs/dram.md)
ACCESSES = 8  # dependent accesses in a CTA's life (docs/architecture.md)
HALF = 0.5  # of a phase: then a unit at work inside a launch decides how long it takes

# Groups of counters that mean the same; within a group they overlap in time, so that the largest stands for it.
_SCU = {
    "hash port": (
        "scu_stall_buffer_cycles",
        "scu_stall_probe_cycles",
        "scu_stall_hash_network_cycles",
        "scu_stall_clear_cycles",
    ),
    "latency": ("scu_stall_data_cycles", "scu_stall_vector_cycles", "scu_stall_inflight_cycles"),
    "network": ("scu_stall_network_cycles", "scu_stall_store_cycles"),
}
# Summed over engines (registers) or memory units. Commands that wait for a job entry pass on what is short behind them.
_MFF = {
    "registers": ("mff_stall_register_cycles",),
    "lines": ("mff_stall_line_cycles",),
    "tags": ("mff_stall_tag_cycles",),
    "L2": ("mff_stall_l2_cycles",),
    "network": ("mff_stall_reply_cycles",),
}
_IRU = {
    "reorder": ("iru_stall_ring_cycles",),
    "network": ("iru_stall_reply_cycles",),
}
_STATIONS = ("scu_slice_stall_sets_cycles", "scu_slice_stall_slice_cycles")
_SM_WORDS = {
    "no_warp": "balance",
    "memory": "latency",
    "lsu": "coalescing",
    "barrier": "barrier",
    "issue": "instructions",
    "alu": "instructions",
    "shared": "instructions",
}


@dataclass(frozen=True)
class Places:
    """Over how many the MFF's stalls are summed."""

    memory_units: int = 1
    engines: int = 1


ONE_PLACE = Places()


def longest_phase(run: Run) -> Phase:
    return max(run["phases"], key=lambda phase: phase["cycles"])


def limit(run: Run, software: Run, places: Places = ONE_PLACE) -> str:
    """One word for a unit's run, beside that of the best software."""
    if _does_more(run, software):
        return "algorithm"
    phase = longest_phase(run)
    if phase["bandwidth_utilisation"] >= BUSY_DRAM:
        return "bandwidth"
    if _is_short(phase, run["mean_load_latency_cycles"]):
        return "launch"
    counters = phase["counters"]
    if phase["unit"]:
        return _of_operations(counters, phase["cycles"])
    return _of_unit_in_launches(counters, phase["cycles"], places) or _of_sms(phase["stall_stack"])


def _edges(run: Run) -> float:
    """Edges touched by threads, or filtered by a unit, which hands on few of them."""
    filtered = [run.get("counters", {}).get(name, 0) for name in ("scu_hash_probes", "iscu_elements")]
    return float(max(run["work"]["edges_touched"], *filtered))


def _does_more(run: Run, software: Run) -> bool:
    ratio = _edges(run) / max(1.0, _edges(software))
    return bool(ratio >= MORE_EDGES and run["seconds"] < ratio * software["seconds"])


def _is_short(phase: Phase, latency_cycles: float) -> bool:
    return bool(phase["cycles"] < 2 * ACCESSES * latency_cycles * max(1, phase["launches"]))


def _largest(groups: Mapping[str, tuple[str, ...]], counters: Mapping[str, float]) -> tuple[str, float]:
    found = {word: max(counters.get(name, 0) for name in names) for word, names in groups.items()}
    word = max(found, key=lambda name: found[name])
    return word, found[word]


def _of_operations(counters: Mapping[str, float], phase_cycles: float) -> str:
    """The SCU between launches. Where it waits for answers of stations or parts, these may be what is short."""
    if counters.get("scu_address_busy_cycles", 0) >= HALF * phase_cycles:
        return "width"
    word, cycles = _largest(_SCU, counters)
    if word == "hash port" and counters.get("iscu_elements"):
        return "parts"
    if word != "hash port" or "scu_slice_probes" not in counters:
        return word
    stalls = max(counters.get(name, 0) for name in _STATIONS)
    return "stations" if stalls > cycles else "latency"


def _of_unit_in_launches(counters: Mapping[str, float], cycles: float, places: Places) -> str:
    """A unit that works while kernels run, if it does so for half of the time."""
    active = counters.get("mff_active_cycles", 0)
    if active >= HALF * cycles:
        each = {word: places.engines if word == "registers" else places.memory_units for word in _MFF}
        waits = {word: sum(counters.get(name, 0) for name in _MFF[word]) / each[word] for word in _MFF}
        word = max(waits, key=lambda name: waits[name])
        return word if waits[word] >= HALF * active else ""
    word, stalls = _largest(_IRU, counters)
    return word if stalls >= HALF * cycles else ""


def _of_sms(stack: Mapping[str, float]) -> str:
    shares: dict[str, float] = {}
    for cause, share in stack.items():
        word = _SM_WORDS[cause]
        shares[word] = shares.get(word, 0.0) + share
    return max(shares, key=lambda word: shares[word])
