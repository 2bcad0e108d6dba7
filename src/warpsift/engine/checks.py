"""Conservation checks of the test mode, and explanations when a run cannot go on.

Every request gets its reply, what one level sends the next receives, and every scheduler-cycle is accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpsift.engine.core import wheel
from warpsift.engine.l1.l1 import NO_LINE, NO_MERGE, NO_MSHR, NO_NETWORK
from warpsift.engine.machine_cycle import ERROR_DEADLOCK
from warpsift.engine.noc.ports import ERROR_PACKETS_EXHAUSTED
from warpsift.engine.sm.sm_state import AT_BARRIER
from warpsift.engine.sm.warp_scheduler import ERROR_NO_UNIT
from warpsift.hardware import SECTOR_BYTES
from warpsift.simt.stream import ALU, Chunk

if TYPE_CHECKING:
    from warpsift.engine.engine import Engine, LaunchResult

_REASONS = {NO_LINE: "a line", NO_MSHR: "an MSHR", NO_MERGE: "merge room", NO_NETWORK: "network room"}


@dataclass
class Expected:
    """What the stream of a launch must lead to."""

    warp_instructions: int = 0
    thread_instructions: int = 0
    ctas: int = 0

    def add(self, chunk: Chunk) -> None:
        ops = chunk.ops
        counts = np.where(ops["kind"] == ALU, ops["count"], 1).astype(np.int64)
        self.warp_instructions += int(counts.sum())
        self.thread_instructions += int((counts * ops["lanes"]).sum())
        self.ctas += chunk.ctas


def verify(engine: Engine, result: LaunchResult, expected: Expected) -> None:
    """Raise AssertionError naming the first balance that does not hold at the end of a launch."""
    c, arrays, machine = result.counters, engine._arena.arrays, engine.machine
    schedulers = machine.sm.count * machine.sm.schedulers
    stack = c.issue_cycles + sum(c[name] for name in c if name.startswith("stall_"))
    own_cycles = c.cycles - machine.launch.overhead_cycles
    fetched = c.dram_reads + c.dram_forwarded_reads
    equal = {
        "instructions of the stream are issued": (c.warp_instructions, expected.warp_instructions),
        "thread instructions": (c.thread_instructions, expected.thread_instructions),
        "CTAs dispatched": (c.ctas_dispatched, expected.ctas),
        "CTAs completed": (c.ctas_completed, expected.ctas),
        "scheduler-cycles accounted for": (stack, own_cycles * schedulers),
        "L1 reads = hits + misses + merged": (
            c.l1_read_accesses,
            c.l1_read_hits + c.l1_read_misses + c.l1_read_merged,
        ),
        "L2 reads = hits + misses + pending": (
            c.l2_read_accesses,
            c.l2_read_hits + c.l2_read_misses + c.l2_read_pending,
        ),
        "L2 writes = hits + misses": (c.l2_write_accesses, c.l2_write_hits + c.l2_write_misses),
        "packets returned": (int(arrays["noc"][0].in_use), 0),
        "L1 MSHRs returned": (int(arrays["l1.sms"]["mshrs_used"].sum()), 0),
        "L2 fills returned": (int(arrays["l2.slices"]["fills_in_flight"].sum()), 0),
        "memory instructions finished": (int(arrays["sms"]["ops_in_flight"].sum()), 0),
        "scoreboard slots free": (int(arrays["sm.slots"]["count"].sum()), 0),
        "warps resident": (int(arrays["sms"]["warps_resident"].sum()), 0),
    }
    for unit in engine.units.values():
        equal |= unit.balances(arrays, c)
    if not machine.ideal.dram:
        equal["sectors read from DRAM = L2 fills"] = (
            fetched * (machine.dram.request_bytes // SECTOR_BYTES),
            c.l2_fills,
        )
    if machine.l2.fill_bytes == machine.dram.request_bytes == SECTOR_BYTES:
        equal["L2 fills = L2 read misses"] = (c.l2_fills, c.l2_read_misses)
    for what, (found, wanted) in equal.items():
        assert found == wanted, f"launch {result.launch.kernel!r}: {what}: {found}, not {wanted}"


def progress_marks(engine: Engine) -> tuple[int, ...]:
    """Counters of which at least one moves as long as the machine is alive."""
    a = engine._arena.arrays
    return (
        int(a["sm"][0].warp_instructions),
        int(a["noc"][0].request_flits_sent) + int(a["noc"][0].reply_flits_sent),
        int(a["l2"][0].l2_fills) + int(a["l2"][0].l2_busy_cycles),
        int(a["dram"][0].dram_reads) + int(a["dram"][0].dram_writes),
        int(a["l1"][0].l1_read_hits) + int(a["sm"][0].shared_passes) + int(a["sm"][0].ctas_completed),
        *(mark for unit in engine.units.values() for mark in unit.progress_marks(a)),
    )


def stuck_components(engine: Engine) -> list[str]:
    """Components that hold something that does not move."""
    a = engine._arena.arrays
    found = []
    for index, sm in enumerate(a["sms"]):
        if sm.lsu_blocked:
            found.append(f"load-store unit of SM {index} waits for {_REASONS[int(sm.lsu_blocked)]}")
    waiting = int((a["sm.warps"]["state"] == AT_BARRIER).sum())
    if waiting:
        found.append(f"{waiting} warps wait at a barrier")
    for index, row in enumerate(a["l2.slices"]):
        if row.head != row.tail:
            found.append(f"L2 slice {index} holds {int(row.tail - row.head)} packets")
        if row.fills_in_flight:
            found.append(f"L2 slice {index} waits for {int(row.fills_in_flight)} fills")
    for name in ("requests", "replies"):
        ports = a[f"noc.inputs{0 if name == 'requests' else 1}"]
        used = int(ports["used_flits"].sum())
        if used:
            found.append(f"{used} flits wait in the network of {name}")
    if a["dram"][0].active:
        found.append(f"DRAM holds {int(a['dram'][0].active)} requests")
    for unit in engine.units.values():
        found += unit.stuck(a)
    return found or ["no component holds anything: a warp was lost"]


def _list_stuck(engine: Engine) -> str:
    found = stuck_components(engine)
    more = f"; and {len(found) - 6} more" if len(found) > 6 else ""
    return "; ".join(found[:6]) + more


def explain_standstill(engine: Engine, cycles: int) -> str:
    return f"deadlock: nothing moved for {cycles} cycles up to cycle {engine.cycle}: {_list_stuck(engine)}"


def explain(engine: Engine) -> str:
    """The message for the error code that a kernel has left."""
    code = int(engine._S.error)
    if code == ERROR_DEADLOCK:
        return f"deadlock at cycle {engine.cycle}: {_list_stuck(engine)}"
    if code == wheel.ERROR_EVENTS_EXHAUSTED:
        return f"the timing wheel is full: more than {wheel.EVENTS} events under way at cycle {engine.cycle}"
    if code == ERROR_PACKETS_EXHAUSTED:
        return f"the network is out of packets at cycle {engine.cycle}: {_list_stuck(engine)}"
    if code == ERROR_NO_UNIT:
        units = list(engine.units)
        return f"the stream holds an instruction of a unit that is not plugged in: the engine has units={units}"
    for unit in engine.units.values():
        text = unit.explain(code)
        if text is not None:
            return f"{text}, at cycle {engine.cycle}"
    return f"engine error {code} at cycle {engine.cycle}"
