"""Bounds that several keys of a machine file share, with the reason that they have in common."""

from __future__ import annotations

from warpsift.machines.ranges import Bounds

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

MAX_PORTS = 256  # inputs or outputs of one crossbar; the largest GPU of today has 144 SMs (GH100 in full)
MAX_WARPS_PER_SM = 64  # ready masks are one 64-bit word; also the largest of any GPU modelled here

_LATENCY = "GPUs answer from DRAM in under 1000; beyond 10000 no run would end in useful time"
_TABLE = "every entry is a row of the model's memory, and no such table in hardware has more"

# Cycles are multiplied by kilohertz in 64-bit integers: at 10 GHz that holds for 9 x 10^11 cycles.
CLOCK = Bounds(10, 10_000, "MHz", "times in kHz are 64-bit products with cycles; no memory or GPU is clocked outside")
LATENCY = Bounds(0, 10_000, "cycles", _LATENCY)
LATENCY_OR_MORE = Bounds(1, 10_000, "cycles", _LATENCY)
PAUSE = Bounds(0, 10_000_000, "cycles", "10 ms at 1 GHz; launches and calls take microseconds")


def entries(low: int, high: int, unit: str = "entries", reason: str = _TABLE) -> Bounds:
    """Entries of a queue or a table."""
    return Bounds(low, high, unit, reason)
