"""What the interconnect carried, and who waited for it, from the engine's counters."""

from __future__ import annotations

from collections.abc import Mapping

# Who waits: SMs for room in the request network, its outputs for a full L2 slice, slices and the fast-forward unit for
# room in the reply network, the SCU for room in the request network.
NOC_STALLS = (
    "l1_network_blocked_cycles", "request_blocked_cycles", "l2_reply_blocked_cycles", "mff_stall_reply_cycles",
    "scu_stall_network_cycles", "scu_stall_hash_network_cycles",
)  # fmt: skip


def flits(counters: Mapping[str, int]) -> int:
    """Flits in both directions."""
    return counters["request_flits_sent"] + counters["reply_flits_sent"]


def stalls(counters: Mapping[str, int]) -> dict[str, int]:
    """Cycles in which somebody could not hand something to or take something from the interconnect."""
    return {name: counters[name] for name in NOC_STALLS}
