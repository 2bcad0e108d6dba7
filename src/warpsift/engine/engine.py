"""The timing engine as the rest of the project sees it: a sink of instruction streams that answers with counters.

    engine = Engine(load_machine("gtx980"))
    run_kernels(sink=engine)             # begin, chunk, chunk, ..., end per launch
    engine.total.cycles, engine.launches[0].counters.l1_read_hits

Chunks are simulated as they are pushed, so memory is bounded by the chunks in flight. L2 and DRAM keep their state
between launches; L1 is flushed when one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from warpsift.engine import checks, unit_socket
from warpsift.engine.balances import Expected
from warpsift.engine.core import array_traffic, sampling, wheel
from warpsift.engine.core.arena import FOREVER, Arena
from warpsift.engine.core.masks import all_members
from warpsift.engine.counter_reader import CounterReader
from warpsift.engine.counters import COMPONENTS, Counters, total_of
from warpsift.engine.cta_room import check_fits, ctas_per_sm, registers_per_cta
from warpsift.engine.dram import dram_controller as dram
from warpsift.engine.engine_error import EngineError
from warpsift.engine.l1 import l1_state
from warpsift.engine.l2 import l2_state
from warpsift.engine.machine_code import MachineCode
from warpsift.engine.machine_cycle import DONE, FAILED, NEED_WORK, PAUSED
from warpsift.engine.main_loop import NO_UNIT, run
from warpsift.engine.noc import ports as noc
from warpsift.engine.sm import sm_state
from warpsift.engine.sm.alu_timing import AluTimes
from warpsift.engine.unit_socket import UnitComponent
from warpsift.hardware import LINE_BYTES, WARP_SIZE
from warpsift.host_memory import give_back
from warpsift.machines.spec import Machine
from warpsift.simt.stream import OP, Chunk, LaunchInfo, UnitInfo, UnitOperation

PAUSE_CYCLES = 1 << 17  # the run comes up for air: Ctrl-C, progress, watchdog


@dataclass(frozen=True)
class LaunchResult:
    """One timed launch."""

    launch: LaunchInfo
    start_cycle: int
    counters: Counters
    instructions_per_sm: tuple[int, ...]
    arrays: dict[str, dict[str, int]] = field(default_factory=dict)  # traffic per named array


@dataclass(frozen=True)
class OperationResult:
    """One timed operation of a unit."""

    info: UnitInfo
    start_cycle: int
    counters: Counters


class Engine:
    """A modelled GPU that runs instruction streams (a `Sink`), with the units that are plugged in."""

    def __init__(
        self,
        machine: Machine,
        units: Sequence[UnitComponent] = (),
        *,
        checks: bool = False,
        sample_interval_cycles: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.machine = machine
        self.launches: list[LaunchResult] = []
        self.operations: list[OperationResult] = []
        self.units = {unit.name: unit for unit in units}
        self.counters = {**COMPONENTS, **{name: unit.counters for name, unit in self.units.items()}}
        self._progress = progress
        self._checks = checks
        self._alu_timing = AluTimes(machine.sm)
        self._arena = Arena()
        self._S = self._arena.root
        S, arena = self._S, self._arena
        S.checks = checks
        wheel.allocate(arena)
        array_traffic.allocate(arena)
        for component in (noc, l2_state, dram, sm_state, l1_state):
            component.allocate(arena, machine)
        unit_socket.allocate(arena, tuple(units), machine)
        places = {name: part for part, group in self.counters.items() for name in group}
        sampling.allocate(arena, sample_interval_cycles, places)
        self._code = MachineCode(arena)
        self._counted = CounterReader(arena, self.counters)
        self._launch: LaunchInfo | None = None
        self._samples: dict[str, np.ndarray] | None = None  # once the engine is closed
        self._live: dict[int, tuple[str, ...]] = {}
        self._free_rows = list(range(sm_state.CHUNKS))[::-1]
        self._chunk_number = 0
        self._fetched: set[str] = set()  # kernels whose code has been fetched

    # ---- the sink -------------------------------------------------------------------------------------------

    def begin(self, launch: LaunchInfo) -> None:
        """Start a launch: check that its CTAs fit, flush L1, wait for the launch overhead."""
        if self._samples is not None:
            raise EngineError("the engine is closed: make a new one")
        check_fits(self.machine, launch)
        self._launch = launch
        S, sm = self._S, self._record("sm")
        self._start = int(S.now)
        pause = self.machine.launch.overhead_cycles + self._cold_fetch(launch)
        S.now += pause
        sm.threads_per_cta = launch.warps_per_cta * WARP_SIZE
        sm.warps_per_cta, sm.shared_per_cta = launch.warps_per_cta, launch.shared_bytes_per_cta
        sm.registers_per_cta = registers_per_cta(self.machine.sm, launch)
        shared_bytes = ctas_per_sm(self.machine.sm, launch) * launch.shared_bytes_per_cta
        ways, l1 = l1_state.ways_beside(self.machine, shared_bytes), self._record("l1")
        if l1.ways != ways:
            l1.ways = ways
            self._code.settings_changed()
        self._arena.arrays["sm.room"][:] = all_members(self.machine.sm.count)
        sm.next_sm, sm.dispatch_cycle = 0, -1
        self._arena.arrays["sm.schedulers"]["busy_until"] = S.now
        self._arena.arrays["sms"]["warps_since"] = S.now
        self._arena.arrays["l1.tags"][:] = -1
        self._arena.arrays["l1.lines"]["valid"] = 0
        self._arena.arrays["l1.lines"]["used"] = 0
        self._arena.arrays["arrays"][:] = 0
        self._counted.forget_peaks()
        for unit in self.units.values():
            unit.begin(self._arena, launch)
        self._before = self._counted.read()
        self._before_sms = self._arena.arrays["sms"]["instructions"].copy()
        self._expected = Expected(pause_cycles=pause)

    def chunk(self, chunk: Chunk) -> None:
        """Take some CTAs and simulate until an SM has room and no CTA is left."""
        launch = self._need_launch("chunk")
        if chunk.warps != chunk.ctas * launch.warps_per_cta:
            raise EngineError(
                f"launch {launch.kernel!r}: a chunk of {chunk.ctas} CTAs has {chunk.warps} warps, "
                f"not {chunk.ctas} x {launch.warps_per_cta}"
            )
        if chunk.ctas == 0:
            return
        if self._checks:
            self._expected.add(chunk)
            for unit in self.units.values():
                unit.expect(chunk)
        self._reclaim()
        self._push(chunk)
        self._run(final=False)

    def end(self) -> LaunchResult:
        """Finish the launch and return its counters."""
        launch = self._need_launch("end")
        self._run(final=True)
        self._reclaim()
        self._close_intervals()
        counters = self._difference()
        sms = self._arena.arrays["sms"]
        result = LaunchResult(
            launch,
            self._start,
            counters,
            tuple((sms["instructions"] - self._before_sms).tolist()),
            self._array_traffic(launch),
        )
        if self._checks:
            checks.verify(self, result, self._expected)
        self.launches.append(result)
        self._launch = None
        return result

    def operation(self, operation: UnitOperation) -> OperationResult:
        """Run an operation of a unit; the GPU waits for it."""
        S, info = self._S, operation.info
        unit = self.units.get(info.unit)
        if unit is None or self._launch is not None:
            where = "inside a launch" if unit is not None else f"on an engine with units={list(self.units)}"
            raise EngineError(f"operation {info.operation!r} of unit {info.unit!r} cannot run {where}")
        self._start = int(S.now)
        self._before = self._counted.read()
        unit.operate(self._arena, operation, lambda: self._advance(partial(self._code.call, run, S, unit.socket, 1)))
        self._close_dram()
        result = OperationResult(info, self._start, self._difference(launches=0))
        if self._checks:
            checks.verify_operation(self, result)
        self.operations.append(result)
        return result

    # ---- what came out --------------------------------------------------------------------------------------

    @property
    def cycle(self) -> int:
        """The present core cycle."""
        return int(self._S.now)

    @property
    def total(self) -> Counters:
        """Counters summed over all launches and operations of units."""
        return total_of([*(r.counters for r in self.launches), *(r.counters for r in self.operations)])

    def seconds(self, cycles: int) -> float:
        return cycles / (self.machine.clocks.core_mhz * 1e6)

    def samples(self) -> dict[str, np.ndarray]:
        """The sampled counters: `cycle` and one column per counter, cumulative."""
        return sampling.samples(self._arena) if self._samples is None else self._samples

    def close(self) -> None:
        """Let go of the engine's memory, tens of megabytes, when no launch will follow; results and samples stay."""
        if self._samples is None:
            self._samples = sampling.samples(self._arena)
            for unit in self.units.values():
                unit.keep(self._arena.arrays)
            self._arena.close()
            give_back()

    # ---- inside ---------------------------------------------------------------------------------------------

    def _cold_fetch(self, launch: LaunchInfo) -> int:
        """Cycles until a kernel's code is there, the first time that it runs."""
        if launch.kernel in self._fetched:
            return 0
        self._fetched.add(launch.kernel)
        return self.machine.launch.cold_fetch_cycles * -(-launch.code_bytes // LINE_BYTES)

    def _record(self, name: str) -> Any:
        return self._arena.arrays[name][0]

    def _need_launch(self, what: str) -> LaunchInfo:
        if self._launch is None:
            raise EngineError(f"Engine.{what}() needs a launch: call begin(launch) first")
        return self._launch

    def _push(self, chunk: Chunk) -> None:
        ops = np.ascontiguousarray(chunk.ops)
        if ops.dtype != OP:
            raise EngineError(f"Chunk.ops has dtype {ops.dtype}, not simt.stream.OP")
        number = self._chunk_number
        self._chunk_number += 1
        names = tuple(f"chunk{number}.{part}" for part in ("ops", "warps", "transactions", "commands", "alu_runs"))
        sm, row = self._record("sm"), self._free_rows.pop()
        H = self._arena.arrays["sm.chunks"][row]
        H.p_ops = self._arena.adopt(names[0], ops)
        H.p_warp_first = self._arena.adopt(names[1], np.asarray(chunk.warp_first, np.int64))
        transactions = np.asarray(chunk.transactions, np.int64)
        H.p_transactions = self._arena.adopt(names[2], transactions if len(transactions) else np.zeros(1, np.int64))
        commands = np.asarray(chunk.commands, np.int64)
        H.p_commands = self._arena.adopt(names[3], commands if len(commands) else np.zeros(1, np.int64))
        H.p_alu_runs = self._arena.adopt(names[4], self._alu_timing.table(chunk))
        H.ctas, H.next_cta, H.live_ctas = chunk.ctas, 0, 0
        self._arena.arrays["sm.chunk_queue"][int(sm.chunk_tail) & (sm_state.CHUNKS - 1)] = row
        sm.chunk_tail += 1
        self._live[row] = names

    def _reclaim(self) -> None:
        """Let go of chunks whose CTAs have all finished and whose transactions nobody will read."""
        chunks = self._arena.arrays["sm.chunks"]
        through = [row for row in self._live if chunks[row].next_cta == chunks[row].ctas and chunks[row].live_ctas == 0]
        unread = self._unread() if through and self._outlives_its_cta() else set()
        for row in through:
            H = chunks[row]
            if not {int(H.p_transactions), int(H.p_commands)} & unread:
                for name in self._live.pop(row):
                    self._arena.release(name)
                self._free_rows.append(row)

    def _outlives_its_cta(self) -> bool:
        """Whether a memory instruction may wait in a load-store unit when its CTA has gone: a store, say."""
        return not self.machine.sm.cta_waits_for_stores

    def _unread(self) -> set[int]:
        """Addresses of the transactions of which memory instructions have not sent the last."""
        ops = self._arena.arrays["sm.memory_ops"]
        return set(ops["p_transactions"][ops["cursor"] < ops["end"]].tolist())

    def _run(self, final: bool) -> None:
        self._advance(partial(self._code.call, run, self._S, NO_UNIT, int(final)))

    def _advance(self, step: Callable[[int], int], until: int = FOREVER) -> int:
        """Run a main loop until it wants more work, is done or comes to a cycle; it comes up for air now and then."""
        S, still = self._S, 0
        while True:
            before = checks.progress_marks(self)
            status = int(step(min(int(S.now) + PAUSE_CYCLES, until)))
            if status in (NEED_WORK, DONE):
                return status
            if status == FAILED:
                raise EngineError(checks.explain(self))
            if S.now >= until:
                return PAUSED
            # An event under way will move something, however far off it is: a long chain of ALU instructions, say.
            moved = checks.progress_marks(self) != before or self._record("wheel").pending > 0
            still = 0 if moved else still + PAUSE_CYCLES
            if still > checks.longest_wait_cycles(self.machine):
                raise EngineError(checks.explain_standstill(self, still))
            if self._progress is not None:
                self._progress(int(S.now))

    def _close_intervals(self) -> None:
        """Bring everything that is counted by intervals up to the end of the launch."""
        S, sm = self._S, self._record("sm")
        self._close_dram()
        schedulers = self._arena.arrays["sm.schedulers"]
        idle = S.now - schedulers["busy_until"]
        sm.stall_no_warp_cycles += int(idle[idle > 0].sum())
        sm.issue_cycles += int(idle[idle < 0].sum())  # an ALU run that the end of the launch cut short
        sms = self._arena.arrays["sms"]
        sms["warp_cycles"] += sms["warps_resident"] * (S.now - sms["warps_since"])
        sms["active_cycles"] += (sms["warps_resident"] > 0) * (S.now - sms["warps_since"])
        sms["warps_since"] = S.now

    def _close_dram(self) -> None:
        """Count the memory's idle time up to the present core cycle."""
        D = self._record("dram")
        dram.finish_at(self._S, int(self._S.now) * int(D.dram_khz) // int(D.core_khz))

    def _difference(self, launches: int = 1) -> Counters:
        since = self._counted.since(self._before)
        return Counters({"cycles": int(self._S.now) - self._start, "launches": launches, **since})

    def _array_traffic(self, launch: LaunchInfo) -> dict[str, dict[str, int]]:
        names = launch.arrays[: array_traffic.ARRAYS]
        rows = self._arena.arrays["arrays"][: len(names)].tolist()
        return {name: dict(zip(array_traffic.FIELDS, row, strict=True)) for name, row in zip(names, rows, strict=True)}
