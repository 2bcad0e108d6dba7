"""What the interconnect carried, and who waited for it, from the engine's counters."""

from __future__ import annotations

from collections.abc import Mapping

from warpsift.units import units

# Who waits: SMs for room in the request network, its outputs for a full L2 slice, slices for room in the reply network.
NOC_STALLS = ("l1_network_blocked_cycles", "request_blocked_cycles", "l2_reply_blocked_cycles")


def flits(counters: Mapping[str, int]) -> int:
    """Flits in both directions."""
    return counters["request_flits_sent"] + counters["reply_flits_sent"]


def stalls(counters: Mapping[str, int]) -> dict[str, int]:
    """Cycles in which somebody could not hand something to or take something from the interconnect; units too."""
    of_units = [name for unit in units().values() for name in unit.network_stalls if name in counters]
    return {name: counters[name] for name in dict.fromkeys([*NOC_STALLS, *of_units])}
