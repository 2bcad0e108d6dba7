"""Conservation checks of the test mode, and explanations when a run cannot go on.

Every request gets its reply, what one level sends the next receives, and every scheduler-cycle is accounted for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpsift.engine import balances
from warpsift.engine.balances import Expected
from warpsift.engine.core import wheel
from warpsift.engine.l1.l1_state import NO_LINE, NO_MERGE, NO_MSHR, NO_NETWORK
from warpsift.engine.machine_cycle import ERROR_DEADLOCK
from warpsift.engine.noc.ports import ERROR_PACKETS_EXHAUSTED
from warpsift.engine.sm.sm_state import AT_BARRIER
from warpsift.engine.sm.warp_scheduler import ERROR_NO_UNIT

if TYPE_CHECKING:
    from warpsift.engine.counters import Counters
    from warpsift.engine.engine import Engine, LaunchResult, OperationResult
    from warpsift.machines.spec import Machine

_REASONS = {NO_LINE: "a line", NO_MSHR: "an MSHR", NO_MERGE: "merge room", NO_NETWORK: "network room"}


def verify(engine: Engine, result: LaunchResult, expected: Expected) -> None:
    """Raise AssertionError naming the first balance that does not hold at the end of a launch."""
    c, arrays, machine = result.counters, engine._arena.arrays, engine.machine
    balance = {
        **balances.of_instructions(c, arrays, machine, expected),
        **balances.of_memory(c, arrays, machine),
    }
    for unit in engine.units.values():
        balance |= unit.balances(arrays, c)
    _assert_all(f"launch {result.launch.kernel!r}", c, balance)


def verify_operation(engine: Engine, result: OperationResult) -> None:
    """The same at the end of an operation of a unit."""
    c, arrays, machine = result.counters, engine._arena.arrays, engine.machine
    balance = {
        **balances.of_memory(c, arrays, machine),
        **engine.units[result.info.unit].operation_balances(arrays, c),
    }
    _assert_all(f"operation {result.info.operation!r}", c, balance)


def _assert_all(where: str, c: Counters, balance: balances.Balance) -> None:
    for name in balances.negative(c):
        raise AssertionError(f"{where}: {name}: {c[name]}, not 0 or more")
    for what, (found, wanted) in balance.items():
        assert found == wanted, f"{where}: {what}: {found}, not {wanted}"
    assert c.l2_read_misses <= c.l2_fills, f"{where}: L2 read misses: {c.l2_read_misses}, of {c.l2_fills} fills"


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


def longest_wait_cycles(machine: Machine) -> int:
    """Core cycles for which DRAM may move nothing though it is alive: all its timing rules, one after the other."""
    timing = machine.dram.timing
    clocks = sum(getattr(timing, name) for name in timing.__struct_fields__) - timing.refi
    return round(2 * clocks * machine.clocks.core_mhz / machine.dram.clock_mhz)


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
        return f"the stream commands a unit that is not plugged in: the engine has units={list(engine.units)}"
    for unit in engine.units.values():
        text = unit.explain(code)
        if text is not None:
            return f"{text}, at cycle {engine.cycle}"
    return f"engine error {code} at cycle {engine.cycle}"
