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


def simulator_stalls(counters: Mapping[str, int]) -> dict[str, int]:
    """Stall cycles as GPGPU-Sim prints them, and apart from these the cycles in which a full unit held the network.

    `reply_network` is its gpu_stall_icnt2sh: a ready reply, of the L2 or of a unit, could not enter the reply network.
    `l2_input` is its gpu_stall_dramfull: the L2's input queue had no room for what came out of the request network.
    """
    found = {"reply_network": counters["l2_reply_blocked_cycles"], "l2_input": counters["request_blocked_cycles"]}
    for unit in {unit.section: unit for unit in units().values()}.values():
        found["reply_network"] += sum(counters.get(name, 0) for name in unit.reply_stalls)
        found["unit_full"] = found.get("unit_full", 0) + sum(counters.get(name, 0) for name in unit.full_stalls)
    return found
