"""An engine that times a part of what it is given, and remembers of the rest how much work it was.

Whole launches and operations are left out where enough of their kind are timed; of a long launch that is timed, most
is leapt over (`schedule.py`, `leap.py`). Function is not its business: kernels have run in full before it sees them.
`sampled` is what came of it, for run/sampling to make an estimate of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from warpsift.engine import checks
from warpsift.engine.core.arena import FOREVER
from warpsift.engine.core.jit import ready
from warpsift.engine.engine import Engine
from warpsift.engine.engine_error import EngineError
from warpsift.engine.leap import leap_order, leap_turns, schedule
from warpsift.engine.leap.held_operation import HeldOperation
from warpsift.engine.leap.leap import leap
from warpsift.engine.leap.leaping_operation import LeapingOperation
from warpsift.engine.leap.sampled_launch import (
    DRAM_SECTORS,
    INSTRUCTIONS,
    LEAP_TIME,
    TRANSACTIONS,
    Leap,
    SampledLaunch,
    Window,
)
from warpsift.engine.leap.touch import touch_lines, touch_ops
from warpsift.engine.leap.window_times import commands_in_flight, commands_took, loads_took, pace_of
from warpsift.engine.leap.windows_left import windows_left
from warpsift.engine.machine_cycle import NEED_WORK, PAUSED
from warpsift.engine.main_loop import NO_UNIT, run
from warpsift.engine.sm import sm_state
from warpsift.engine.unit_socket import UnitComponent
from warpsift.hardware import LINE_BYTES
from warpsift.machines.spec import Machine
from warpsift.simt.stream import Chunk, LaunchInfo, UnitOperation

RAMP, WINDOW, LEAP, SETTLING, TAIL = range(5)
NO_ROWS = np.empty(0, np.int64)
HELD_BYTES = 32 << 20  # a launch of more is chosen by its begin: it would fill the memory
HELD_PIECES = 32  # of an operation of more, stretches are timed: it would fill the memory before its size is known


class SampledEngine(Engine):
    """A modelled GPU that times about one part in `sample`."""

    def __init__(
        self,
        machine: Machine,
        units: Sequence[UnitComponent] = (),
        *,
        sample: int,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        for unit in units:
            if not unit.skips:
                raise EngineError(
                    f"unit {unit.name!r} cannot be sampled: what it has seen decides what it does; leave out --sample"
                )
        ready(leap, touch_ops, touch_lines)
        super().__init__(machine, units, progress=progress)
        self.sampled: list[SampledLaunch] = []
        self._schedule = schedule.Schedule(sample)
        self._order = np.zeros(leap_order.WORDS, np.int64)
        self._p_order = self._arena.adopt("leap.order", self._order)
        slots = machine.sm.count * sm_state.WARPS
        self._already = np.random.default_rng(1).random(slots)  # share of its latency that a load still takes
        self._opened_commands = NO_ROWS  # of warps that waited for commands when the window was opened
        self._tables = {
            leap_order.P_WAKE: self._arena.table("leap.wake", np.int64, slots),
            leap_order.P_BUSY: self._arena.table("leap.busy", np.int64, slots),
            leap_order.P_COMMANDS: self._arena.table("leap.commands", np.int64, slots),
            leap_order.P_COUNTS: self._arena.table("leap.counts", sm_state.IN_FLIGHT, slots * sm_state.SLOT_ROWS),
            leap_order.P_RANKED: self._arena.table("leap.ranked", np.int64, slots),
            leap_order.P_PLACES: self._arena.table("leap.places", np.int64, slots),
            leap_order.P_AGES: self._arena.table("leap.ages", np.int64, slots),
            leap_order.P_FREE: self._arena.table("leap.free", np.int64, machine.sm.count),
            leap_order.P_NEXT: self._arena.table("leap.next", np.int64, machine.sm.count),
        }
        self._arena.arrays["leap.ages"].reshape(-1, sm_state.WARPS)[:, :-1] = leap_turns.UNRANKED
        self._few = machine.sm.count * machine.sm.warps * schedule.FEW_WARPS
        self._touched_lines = schedule.TOUCHED_TIMES * machine.l2.size_bytes // LINE_BYTES
        self._leapt, self._mode = False, TAIL

    # ---- the sink -------------------------------------------------------------------------------------------

    def begin(self, launch: LaunchInfo) -> None:
        """Nothing is decided before the launch is known, or too long to wait for that."""
        self._now = SampledLaunch(launch, ("launch", launch.kernel, launch.phase, launch.threads_per_cta))
        self._held: list[Chunk] = []
        self._choice: bool | None = None  # whether it is timed
        self._long, self._come_ctas, self._come_lines = False, 0, 0

    def chunk(self, chunk: Chunk) -> None:
        self._now.longest_warp = max(self._now.longest_warp, int(np.diff(chunk.warp_first).max(initial=0)))
        self._now.records += len(chunk.ops)
        if self._choice is None:
            self._held.append(chunk)
            if sum(held.ops.nbytes + held.transactions.nbytes for held in self._held) > HELD_BYTES:
                self._choose(long=True)
        else:
            self._take(chunk)

    def end(self) -> Any:
        if self._choice is None:
            self._choose(long=False)
        now = self._now
        self.sampled.append(now)
        if not self._choice:
            return None
        result = super().end()
        self.launches.pop()
        now.timed, now.arrays = result.counters, result.arrays
        return result

    def _choose(self, long: bool) -> None:
        """Whether the launch is timed; what has come of it so far is taken or remembered."""
        now = self._now
        assert isinstance(now.info, LaunchInfo)
        if long:  # as many CTAs, which begin with as many records each, within a fifth
            ctas = sum(chunk.ctas for chunk in self._held)
            size: tuple[int, ...] = (now.info.ctas, round(4 * math.log2(now.records / ctas)))
        else:
            size = (now.records.bit_length(), now.longest_warp.bit_length(), now.info.ctas.bit_length())
        self._long = long
        self._choice = self._schedule.is_timed(now.kind, size, long)
        if self._choice:
            super().begin(now.info)
            self._mode, self._until = RAMP, self.cycle + schedule.RAMP_CYCLES
            self._begun, self._begun_ops = self.cycle, self._ops_done()
            self._begun_ctas = int(self._record("sm").ctas_dispatched)
        else:
            for unit in self.units.values():
                unit.begin(self._arena, now.info)
        for chunk in self._held:
            self._take(chunk)
        self._held = []

    def _take(self, chunk: Chunk) -> None:
        if self._choice:
            super().chunk(chunk)
        elif self._is_touched(chunk):
            before = self._touched()
            self._touch_chunk(chunk)
            if self._now.touched_sectors is not None:
                self._now.touched_sectors += self._touched() - before
        else:
            self._now.touched_sectors = None

    def _is_touched(self, chunk: Chunk) -> bool:
        """Of a long launch that is left out only the end is touched: what came before is gone from the L2."""
        info = self._now.info
        assert isinstance(info, LaunchInfo)
        self._come_ctas += chunk.ctas
        self._come_lines += len(chunk.transactions) + len(chunk.commands)
        left = self._come_lines / max(self._come_ctas, 1) * (info.ctas - self._come_ctas)
        return not self._long or left <= self._touched_lines

    def operation(self, operation: UnitOperation) -> Any:
        info, pieces = operation.info, iter(operation.chunks())
        first = list(islice(pieces, HELD_PIECES + 1))
        kind: Hashable = ("operation", info.unit, info.operation, info.phase)
        now = SampledLaunch(info, kind)
        self.sampled.append(now)
        size = sum(sum(piece.counts().values()) for piece in first)
        long, unit = len(first) > HELD_PIECES, self.units[info.unit]
        if self._schedule.is_timed(kind, (size.bit_length(),)) or long:
            held: UnitOperation = HeldOperation(operation, first, pieces)
            if long and unit.leaps:
                held = LeapingOperation(held, unit, self, now)
            result = super().operation(held)
            self.operations.pop()
            now.timed = result.counters
            return result
        now.touched_sectors = sum(self.touch(*unit.touched(piece)) for piece in first)
        return None

    def touch(self, lines: np.ndarray, accesses: np.ndarray) -> int:
        """Touch lines of the L2 with these sectors; gives the sectors that would move between it and DRAM."""
        before = self._touched()
        self._touch_lines(lines, accesses)
        return self._touched() - before

    def leap_pieces(self, now: SampledLaunch, window: int) -> int:
        """How many pieces the leap behind a window of so many is long."""
        self._schedule.has_seen(now.kind)
        return max(1, round(window * self._schedule.leap_windows(now.kind, len(now.windows))))

    # ---- what is left out -----------------------------------------------------------------------------------

    def _touched(self) -> int:
        return int(self._record("l2").touched_sectors)

    def _touch_lines(self, lines: np.ndarray, accesses: np.ndarray) -> None:
        names = ("leap.lines", "leap.accesses")
        both = (np.ascontiguousarray(part, np.int64) for part in (lines, accesses))
        places = [self._arena.adopt(*pair) for pair in zip(names, both, strict=True)]
        self._code.call(touch_lines, self._S, *places, len(lines))
        for name in names:
            self._arena.release(name)

    def _touch_chunk(self, chunk: Chunk) -> None:
        sm = self._record("sm")
        tail = int(sm.chunk_tail)
        self._push(chunk)
        row = next(reversed(self._live))
        sm.chunk_tail = tail  # nobody runs it
        self._code.call(touch_ops, self._S, row, len(chunk.ops))
        for name in self._live.pop(row):
            self._arena.release(name)
        self._free_rows.append(row)

    # ---- a launch that is timed -----------------------------------------------------------------------------

    def _run(self, final: bool) -> None:
        while True:
            if self._mode == LEAP:
                if self._leap(final) == NEED_WORK:
                    return
            else:
                step = partial(self._code.call, run, self._S, NO_UNIT, int(final))
                if self._advance(step, self._until) != PAUSED:
                    self._mode = TAIL if final else self._mode
                    return
                self._turn()

    def _turn(self) -> None:
        """A stretch is over: what comes next."""
        rounds = schedule.WINDOW_ROUNDS if self._mode == WINDOW else schedule.SETTLING_ROUNDS
        if self._mode in (RAMP, WINDOW, SETTLING) and not self._has_seen(rounds):
            self._until = self.cycle + schedule.SETTLING_CYCLES // 2
        elif self._mode in (RAMP, SETTLING):
            self._mode, self._until, self._begun = WINDOW, self.cycle + schedule.WINDOW_CYCLES, self.cycle
            self._opened, self._opened_ops, self._opened_sms = self.state(), self._ops_done(), self._sms()
            self._opened_rows, self._begun_ops = set(self._live), self._opened_ops
            self._opened_commands = self._commands_in_flight()
            self._opened_lines, self._opened_taken = self._lines_done(), int(self._record("sm").lines_taken)
        elif self._mode == WINDOW:
            self._close_window()
        else:
            self._until = FOREVER

    def _live_warps(self) -> int:
        return int(self._arena.arrays["sms"]["warps_resident"].sum())

    def _has_seen(self, rounds: int) -> bool:
        """Whether every warp has had its turn so often since the stretch began, or there was time enough."""
        return self._has_had_turns(rounds) or self.cycle - self._begun >= schedule.LONGEST * schedule.WINDOW_CYCLES

    def _has_had_turns(self, rounds: int) -> bool:
        done = self._ops_done() - self._begun_ops
        return done > 0 and done >= rounds * self._live_warps()

    def state(self) -> dict[str, int]:
        """All counters as they are now."""
        self._close_dram()
        sms = self._arena.arrays["sms"]
        values = self._counted.named(self._counted.read()) | {"cycles": self.cycle}
        lasted = self.cycle - sms["warps_since"]
        values["resident_warp_cycles"] += int((sms["warps_resident"] * lasted).sum())
        values["sm_active_cycles"] += int(((sms["warps_resident"] > 0) * lasted).sum())
        return values

    def _ops_done(self) -> int:
        """Memory instructions so far."""
        sm = self._record("sm")
        return sum(int(sm[f"{kind}_instructions"]) for kind in ("load", "store", "atomic", "shared", "unit"))

    def _lines_done(self) -> int:
        """Line transactions and commands of this launch that the load-store units have handled."""
        return int(self._arena.arrays["arrays"]["l1_transactions"].sum()) + int(self._record("sm").unit_instructions)

    def _sms(self) -> dict[str, np.ndarray]:
        """The SMs as they are now, but for what is in flight."""
        arrays = self._arena.arrays
        names = [name for name in arrays if name in ("sm", "sms") or name.startswith("sm.")]
        return {name: arrays[name].copy() for name in names if not name.startswith(("sm.memory_ops", "sm.lsu_ring"))}

    def _set_sms(self, saved: dict[str, np.ndarray]) -> None:
        for name, values in saved.items():
            self._arena.arrays[name][...] = values

    def _rehearse(self, ops: int, lines: int) -> np.ndarray:
        """The work of so many lines, or else memory instructions, from where the window was opened on, as a leap's."""
        now, chunks = self._sms(), self._arena.arrays["sm.chunks"].copy()
        tail = int(self._record("sm").chunk_tail)
        queue = self._arena.arrays["sm.chunk_queue"].copy()
        self._set_sms(self._opened_sms)
        for row in [row for row in self._live if row not in self._opened_rows]:  # they came during the window
            self._arena.arrays["sm.chunks"][row] = chunks[row]
            self._arena.arrays["sm.chunks"][row].next_cta = self._arena.arrays["sm.chunks"][row].live_ctas = 0
        self._record("sm").chunk_tail = tail
        self._arena.arrays["sm.chunk_queue"][...] = queue
        self._give_order(FOREVER, ops)
        order = self._order
        order[leap_order.FINAL], order[leap_order.FLOOR], order[leap_order.MOST_LINES] = 1, 0, lines
        self._code.call(leap, self._S, self._p_order)
        self._set_sms(now)
        done, wanted = (order[leap_order.TRANSACTIONS], lines) if lines else (order[leap_order.OPS], ops)
        return self._leapt_work() * wanted / max(int(done), 1)  # sectors are the window's own

    def _give_order(self, until: int, most_ops: int = 0) -> None:
        order = self._order
        order[:] = 0
        for place, table in self._tables.items():
            order[place] = table
        order[leap_order.UNTIL], order[leap_order.FRESH] = until, 1
        order[leap_order.LATENCY], order[leap_order.PACE] = self._latency, self._pace
        order[leap_order.COMMAND_LATENCY] = self._command_latency
        warps = self._arena.arrays["sm.warps"]
        waits = (warps["state"] == sm_state.BLOCKED) | (warps["state"] == sm_state.FINISHED)
        latency = np.full(len(warps), self._latency)
        latency[self._opened_commands if most_ops else self._commands_in_flight()] = self._command_latency
        self._arena.arrays["leap.wake"][:] = waits * (latency * self._already).astype(np.int64)
        self._arena.arrays["leap.free"][:] = self._arena.arrays["leap.commands"][:] = 0
        self._touched_before = self._touched()
        order[leap_order.FLOOR] = max(int(self._few), int(self._live_warps() * schedule.LEFT_WARPS))
        order[leap_order.MOST_OPS] = most_ops

    def _leapt_work(self) -> np.ndarray:
        told = self._order[[leap_order.REACHED, leap_order.TRANSACTIONS, leap_order.INSTRUCTIONS]]
        return np.array([*told, self._touched() - self._touched_before], float)

    def _close_window(self) -> None:
        """Note what the window has seen, and order the leap behind it."""
        closed, ops = self.state(), self._ops_done() - self._opened_ops
        counters = {name: value - self._opened[name] for name, value in closed.items()}
        few = counters["resident_warp_cycles"] <= self._few * counters["cycles"]  # they cost little to time
        if few or not self._has_had_turns(schedule.WINDOW_ROUNDS):  # or say little of what would be leapt over
            self._mode, self._until = SETTLING, self.cycle + schedule.WINDOW_CYCLES
            return
        self._latency = self._command_latency = loads_took(counters)
        self._pace = pace_of(counters, self._lines_done() - self._opened_lines)
        work = self._window_work(ops, counters)
        self._now.windows.append(Window(work, counters))
        seen = self._schedule.has_seen(self._now.kind)
        if not seen or self._windows_left(counters) < schedule.SHORT_END:
            self._mode, self._until = SETTLING, self.cycle + schedule.SETTLING_CYCLES
            return
        self._order_leap(work)
        self._mode = LEAP

    def _windows_left(self, counters: dict[str, int]) -> float:
        assert isinstance(self._now.info, LaunchInfo)
        ctas = self._now.info.ctas - (int(self._record("sm").ctas_dispatched) - self._begun_ctas)
        opened, closed = self._opened_sms["sm.warps"], self._arena.arrays["sm.warps"]
        return windows_left(ctas, counters["ctas_dispatched"], opened, closed)

    def _window_work(self, ops: int, counters: dict[str, int]) -> np.ndarray:
        """The features of a window of so many memory instructions."""
        lines = int(self._record("sm").lines_taken) - self._opened_taken
        if counters["unit_instructions"]:  # words of commands do not tell what a unit does for them
            self._rehearse(ops, 0)
            in_flight = (len(self._opened_commands) + len(self._commands_in_flight())) / 2
            commands = int(self._order[leap_order.COMMANDS])
            self._command_latency = commands_took(in_flight, counters["cycles"], commands, self._latency)
            work = self._rehearse(ops, 0)
        else:
            work = self._rehearse(ops, lines)
            work[TRANSACTIONS], work[INSTRUCTIONS] = lines, counters["warp_instructions"]
        work[DRAM_SECTORS] = counters["l2_fills"] + counters["l2_writebacks"]
        return work

    def _commands_in_flight(self) -> np.ndarray:
        return commands_in_flight(self._arena.arrays["sm.memory_ops"]) if self.units else NO_ROWS

    def _order_leap(self, work: np.ndarray) -> None:
        """The leap behind a window with this work."""
        windows = self._schedule.leap_windows(self._now.kind, len(self._now.windows))
        self._give_order(max(leap_turns.QUANTUM, round(work[LEAP_TIME] * windows)))

    def _leap(self, final: bool) -> int:
        order = self._order
        order[leap_order.FINAL] = int(final)
        status = self._code.call(leap, self._S, self._p_order)
        self._leapt = True
        order[leap_order.FRESH] = 0
        if int(self._S.error):
            raise EngineError(checks.explain(self))
        if status == NEED_WORK:
            return status
        self._now.leaps.append(Leap(self._leapt_work(), len(self._now.windows)))
        few = self._live_warps() <= self._few
        self._mode, self._until = (TAIL, FOREVER) if few else (SETTLING, self.cycle + schedule.SETTLING_CYCLES)
        self._begun, self._begun_ops = self.cycle, self._ops_done()
        return status

    def _reclaim(self) -> None:
        if self._mode != WINDOW:  # its rehearsal will need them
            super()._reclaim()

    def _outlives_its_cta(self) -> bool:
        """What was let go may still wait in front of a cache."""
        return self._leapt or super()._outlives_its_cta()
