"""Balances of a launch: what must be equal, and what must not be less, once nothing is under way any more.

Each group belongs to one part of the machine. A term is counted where it happens and never taken as the rest of the
others, so that a miscount on one side shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpsift.machines.spec import Machine
from warpsift.simt.stream import ALU, Chunk

if TYPE_CHECKING:
    from warpsift.engine.counters import Counters

Arrays = dict[str, np.ndarray]
Balance = dict[str, tuple[int, int]]  # what -> (found, wanted)


@dataclass
class Expected:
    """What the stream of a launch must lead to."""

    warp_instructions: int = 0
    thread_instructions: int = 0
    ctas: int = 0
    pause_cycles: int = 0  # before the first CTA may start

    def add(self, chunk: Chunk) -> None:
        ops = chunk.ops
        counts = np.where(ops["kind"] == ALU, ops["count"], 1).astype(np.int64)
        self.warp_instructions += int(counts.sum())
        self.thread_instructions += int((counts * ops["lanes"]).sum())
        self.ctas += chunk.ctas


def of_instructions(c: Counters, arrays: Arrays, machine: Machine, expected: Expected) -> Balance:
    schedulers = machine.sm.count * machine.sm.schedulers
    stack = c.issue_cycles + sum(c[name] for name in c if name.startswith("stall_"))
    own_cycles = c.cycles - expected.pause_cycles
    return {
        "instructions of the stream are issued": (c.warp_instructions, expected.warp_instructions),
        "thread instructions": (c.thread_instructions, expected.thread_instructions),
        "CTAs dispatched": (c.ctas_dispatched, expected.ctas),
        "CTAs completed": (c.ctas_completed, expected.ctas),
        "scheduler-cycles accounted for": (stack, own_cycles * schedulers),
        "memory instructions finished": (int(arrays["sms"]["ops_in_flight"].sum()), 0),
        "scoreboard slots free": (int(arrays["sm.slots"]["count"].sum()), 0),
        "warps resident": (int(arrays["sms"]["warps_resident"].sum()), 0),
        "L1 reads = hits + misses + merged": (
            c.l1_read_accesses,
            c.l1_read_hits + c.l1_read_misses + c.l1_read_merged,
        ),
        "L1 MSHRs returned": (int(arrays["l1.sms"]["mshrs_used"].sum()), 0),
    }


def of_memory(c: Counters, arrays: Arrays, machine: Machine) -> Balance:
    """Network, L2 and DRAM: they hold for launches and for operations of units alike."""
    balance = {
        "packets returned": (int(arrays["noc"][0].in_use), 0),
        "L2 reads = hits + misses + pending": (
            c.l2_read_accesses,
            c.l2_read_hits + c.l2_read_misses + c.l2_read_pending,
        ),
        "L2 writes = hits + misses": (c.l2_write_accesses, c.l2_write_hits + c.l2_write_misses),
        "L2 fills returned": (int(arrays["l2.slices"]["fills_in_flight"].sum()), 0),
    }
    if not machine.ideal.dram:
        fetched = (c.dram_reads + c.dram_forwarded_reads) * int(arrays["l2"][0].read_sectors)
        balance["sectors read from DRAM, or from the other half = L2 fills"] = (fetched + c.l2_far_fills, c.l2_fills)
    if machine.l2.fill_bytes == machine.dram.request_bytes == 32 and machine.l2.written_sectors != "fetched":
        balance["L2 fills = L2 read misses"] = (c.l2_fills, c.l2_read_misses)
    return balance


def negative(c: Counters) -> list[str]:
    """Counters below 0: nothing can have happened less than never."""
    return [name for name in c if c[name] < 0]
