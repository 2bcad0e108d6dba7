"""The analytic floor of SCU operations: cycles below which no pipeline of these numbers can finish them.

Five bounds, each arithmetic on counts: elements over the pipeline width; probes over what the Filtering/Grouping unit
decides per cycle (one per port); Little's law on the requests in flight (an L2 hit without any queueing is the least
latency); flits over the crossbar ports; bytes over the DRAM's peak. The floor of an operation is the largest of them,
the floor of a run the sum over its operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from warpsift.hardware import SECTOR_BYTES, SECTORS_PER_LINE
from warpsift.units.scu.scu_buffers import Resources

if TYPE_CHECKING:
    from warpsift.machines import Machine

BOUNDS = ("width", "probes", "in_flight", "ports", "dram")


def bounds(machine: Machine, counters: Mapping[str, int]) -> dict[str, float]:
    """Least cycles of one operation under each bound."""
    spec, noc = machine.unit("scu"), machine.noc
    has = Resources.of(spec)
    least_latency = machine.l2.latency_cycles + 2 * noc.hop_latency_cycles
    reads = counters["scu_read_requests"] + counters["scu_vector_requests"]
    per_cycle = machine.clocks.noc_mhz / machine.clocks.core_mhz  # flits of one port
    reply_flits = counters["l2_read_accesses"] * SECTOR_BYTES / noc.flit_bytes
    # What the hash port brings: every set has its IDs at least, and what is not data or vectors, a line each, is sets.
    set_flits = max(
        counters["scu_hash_reads"] * max(1, spec.hash_ways * 4 // SECTOR_BYTES),
        counters["l2_read_accesses"] - SECTORS_PER_LINE * reads,
    )
    ports = reply_flits / ((1 + has.hash_ports) * per_cycle)
    if noc.reply_sectors_per_packet == 1 and noc.flit_bytes >= SECTOR_BYTES:
        ports = max(ports, set_flits / (max(1, has.hash_ports) * per_cycle))
    dram_bytes = (counters["dram_reads"] + counters["dram_writes"]) * machine.dram.burst_bytes
    bytes_per_cycle = machine.peak_dram_bytes_per_second / (machine.clocks.core_mhz * 1e6)
    return {
        "width": counters["scu_addresses"] / spec.width,
        "probes": counters["scu_hash_probes"] / has.probes_per_cycle,
        "in_flight": reads * least_latency / has.inflight_requests if has.inflight_requests else 0.0,
        "ports": 0.0 if machine.ideal.noc else ports,
        "dram": 0.0 if machine.ideal.dram else dram_bytes / bytes_per_cycle,
    }


def floor_cycles(machine: Machine, operations: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """The floor of a run, `cycles`, and how much of it each bound decides."""
    total = dict.fromkeys(("cycles", *BOUNDS), 0.0)
    for counters in operations:
        found = bounds(machine, counters)
        deciding = max(found, key=lambda name: found[name])
        total["cycles"] += found[deciding]
        total[deciding] += found[deciding]
    return total
