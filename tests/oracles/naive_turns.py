"""Turns of warps in a leap as one would write them down: one clock that looks at every cycle, warps as lists.

An SM is looked at when `quantum` cycles have passed since the last look at any, and one of its warps is due or its
load-store unit has room again; and once more when a warp has ended, for there may be another CTA. In a look its warps
have their turns, the oldest first, until the unit is behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from warpsift.simt.stream import ALU, BARRIER, COMMAND, NO_SLOT, SHARED

Row = tuple[tuple[int, ...], list[int]]


@dataclass
class Warp:
    rows: Sequence[Row]
    cta: int
    at: int = 0  # the next row
    wake: int = 0
    in_flight: dict[int, int] = field(default_factory=dict)  # by slot: the kind of instruction that holds it
    at_barrier: bool = False

    @property
    def through(self) -> bool:
        return self.at == len(self.rows)


@dataclass
class Sm:
    warps: list[Warp]
    lsu_free: float = 0.0
    again: int = 0  # when it has to be looked at


class NaiveTurns:
    """Rows of `support/engine_streams.py`, warps of a CTA side by side, CTAs dealt to the SMs in turn."""

    def __init__(self, warps: Sequence[Sequence[Row]], sms: int, warps_per_cta: int, numbers: dict[str, Any]) -> None:
        self.sms: list[Sm] = [Sm([]) for _ in range(sms)]
        self.warps = [Warp(rows, number // warps_per_cta) for number, rows in enumerate(warps)]
        for warp in self.warps:
            self.sms[warp.cta % sms].warps.append(warp)
        self.quantum, self.latency, self.pace = numbers["quantum"], numbers["latency"], numbers["pace"]
        self.shared_latency, self.alu_latency = numbers["shared_latency"], numbers["alu_latency"]
        self.in_turn, self.command_latency = numbers["in_turn"], numbers["command_latency"]
        self.now = self.instructions = self.ops = self.lines = 0

    def run(self, until: int) -> int:
        """The first cycle of a look that is not before `until`, or when all warps are through."""
        looked = -self.quantum
        while True:
            if self.now - looked >= self.quantum and any(sm.again <= self.now for sm in self.sms):
                if self.now >= until or all(warp.through for warp in self.warps):
                    return self.now
                for sm in self.sms:
                    if sm.again <= self.now:
                        sm.again = self._look(sm)
                looked = self.now
            self.now += 1

    def _look(self, sm: Sm) -> int:
        """When the SM has to be looked at again."""
        alive = [warp for warp in sm.warps if not warp.through]
        if not alive:
            return 1 << 60
        first = self.now // self.quantum % len(alive) if self.in_turn else 0
        for warp in alive[first:] + alive[:first]:
            behind = sm.lsu_free >= self.now + self.quantum
            if not behind and not warp.at_barrier and warp.wake <= self.now:
                warp.wake = self.now + self._turn(sm, warp)
        if sm.lsu_free >= self.now + self.quantum:
            return max(int(sm.lsu_free) - self.quantum + 1, self.now)
        if any(warp.through for warp in alive):
            return self.now
        return min((warp.wake for warp in alive if not warp.at_barrier), default=1 << 60)

    def _turn(self, sm: Sm, warp: Warp) -> int:
        busy = 0
        while not warp.through:
            (kind, _, slot, wait, count, _, chain, *_), lines = warp.rows[warp.at]
            held = [slot for slot in warp.in_flight if wait >> slot & 1]
            if held:
                kinds = {warp.in_flight.pop(slot) for slot in held}
                if COMMAND in kinds:
                    return busy + self.command_latency
                return busy + (self.shared_latency if kinds == {SHARED} else self.latency)
            if kind not in (ALU, BARRIER) and sm.lsu_free >= self.now + self.quantum:
                return busy
            warp.at += 1
            self.instructions += count if kind == ALU else 1
            busy += chain * self.alu_latency if kind == ALU else 1
            if kind == BARRIER:
                if not warp.through:
                    warp.at_barrier = True
                    self._meet(sm, warp.cta)
                    return busy
            elif kind != ALU:
                self.ops += 1
                self.lines += len(lines)
                takes = count if kind == SHARED else max(len(lines), 1) * self.pace
                sm.lsu_free = max(sm.lsu_free, self.now) + takes
                if slot != NO_SLOT:
                    warp.in_flight[slot] = kind
        self._meet(sm, warp.cta)
        return busy

    def _meet(self, sm: Sm, cta: int) -> None:
        """Warps of a CTA go on when all of them that are not through have come to the barrier."""
        alive = [warp for warp in sm.warps if warp.cta == cta and not warp.through]
        if all(warp.at_barrier for warp in alive):
            for warp in alive:
                warp.at_barrier = False
