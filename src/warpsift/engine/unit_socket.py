"""Where special units plug into the engine: a socket each, and one compiled function that the engine calls.

The engine knows no unit. A unit is one compiled function `calls(S, what, a, b)`, reached by its address, and the engine
calls it at the places below with the reason as `what`. So the engine is compiled once, a unit is compiled apart and
only when a run uses it, and a run without units tests a few masks that are 0.

A unit says what it wants by its bits of the masks in the record `sockets`: `awake` (a tick in every L2 clock), `full`
(the network holds its commands back), `drains` (asked at the end of a launch), `watches_l2` (told of L2 reads).

`UnitComponent` is the other half, on Python's side: what the unit allocates, and how it explains itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from warpsift.engine.core.arena import UNIT_SOCKETS, Arena, S_t, component
from warpsift.engine.core.jit import JIT_ENABLED, PlainCallback, callback, compiled, i64, void
from warpsift.engine.core.words import ctz, load
from warpsift.errors import WarpsiftError

if TYPE_CHECKING:
    from warpsift.machines.spec import Machine
    from warpsift.simt.stream import Chunk, LaunchInfo, UnitChunk, UnitOperation

# Why a unit is called; what a and b mean, and what it answers.
TICK = 0  # one L2 clock, while its bit of `awake` is set
EVENT = 1  # wheel_push(S, when, EV_UNIT, own << SOCKET_BITS | socket, b) has fallen due; a: own
SEND = 2  # a: SM, b: memory instruction that is a command to the unit; answers 0, or why it could not be sent
ACCEPT = 3  # a command has come out of the request network; a: its token, b: output port
HELD = 4  # a network cycle in which a command waited, since the unit is `full`
RECEIVE = 5  # a packet of the unit's has reached an SM; a: packet
REPLY = 6  # an answer of the L2 at the unit's own crossbar port; a: token, b: sectors
ARRIVE = 7  # an L2 slice answers a unit that sits beside it; a: slice, b: packet, which the unit frees
DRAINED = 8  # a launch is at its end; answers 1 if nothing is left, else the unit begins to write it back
PENDING = 9  # answers how many commands are not finished
CYCLE = 10  # one core clock of an operation; answers HUNGRY, AWAKE and COMPLETE as they hold
SKIPPED = 11  # a: core clocks of an operation in which nothing could happen
L2_READ = 12  # a slice has served a read that is no unit's beside it; a: slice, b: line << 1 | whether it missed
SKIP = 13  # a command is not timed (engine/leap): touch what it would read and write; a: chunk, b: its record

# Answers to CYCLE.
HUNGRY = 1  # the trace of the operation runs short
AWAKE = 2  # the next cycle may find something to do
COMPLETE = 4  # the operation has ended

SOCKET_BITS = 4
assert 1 << SOCKET_BITS == UNIT_SOCKETS

SOCKETS = np.dtype(
    [(name, np.int64) for name in ("attached", "awake", "full", "drains", "watches_l2", "p_functions")], align=True
)
sockets = component("sockets", SOCKETS)


@intrinsic
def _jit_call(typing_context, address, S, what, a, b):
    def codegen(context, builder, signature, arguments):
        number = ir.IntType(64)
        root = context.get_value_type(S_t)
        kind = ir.FunctionType(number, [root, number, number, number]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], kind), list(arguments[1:]))

    return types.int64(types.int64, S_t, types.int64, types.int64, types.int64), codegen


def _plain_call(address: int, S: Any, what: int, a: int, b: int) -> int:
    return PlainCallback.by_address[int(address)](S, np.int64(what), np.int64(a), np.int64(b))


_call: Any = _jit_call if JIT_ENABLED else _plain_call


@compiled(i64, S_t, i64, i64, i64, i64)
def call_unit(S, socket, what, a, b):
    """Call the unit in a socket."""
    return _call(load(sockets(S).p_functions, socket), S, what, a, b)


@compiled(void, S_t)
def tick_units(S):
    """One L2 clock of the units that are awake."""
    mask = sockets(S).awake
    while mask != 0:
        call_unit(S, ctz(mask), np.int64(TICK), np.int64(0), np.int64(0))
        mask &= mask - 1


@compiled(i64, S_t)
def units_drained(S):
    """At the end of a launch: 1 if no unit has anything left; those that have begin to write it back."""
    drained = np.int64(1)
    mask = sockets(S).drains
    while mask != 0:
        drained &= call_unit(S, ctz(mask), np.int64(DRAINED), np.int64(0), np.int64(0))
        mask &= mask - 1
    return drained


@compiled(i64, S_t)
def units_pending(S):
    """Commands that units have not finished."""
    pending = np.int64(0)
    mask = sockets(S).attached
    while mask != 0:
        pending += call_unit(S, ctz(mask), np.int64(PENDING), np.int64(0), np.int64(0))
        mask &= mask - 1
    return pending


@compiled(void, S_t, i64, i64, i64)
def tell_watchers(S, slice_index, line, missed):
    """A slice has served a read."""
    mask = sockets(S).watches_l2
    while mask != 0:
        call_unit(S, ctz(mask), np.int64(L2_READ), slice_index, (line << 1) | missed)
        mask &= mask - 1


@compiled(i64, i64, i64, i64)
def with_bit(mask, socket, on):
    """A mask with a unit's bit set or cleared."""
    bit = np.int64(1) << socket
    return mask | bit if on != 0 else mask & (bit ^ -1)


def unit_calls(part: str, *sockets: int) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a unit's function `calls(S, what, a, b)`; `part` is what the progress line says is being compiled.

    `sockets`: its own, and those of other components of its unit, whose records it reads.
    """
    return callback(part, f"socket {' '.join(map(str, sockets))}", i64, S_t, i64, i64, i64)


class UnitComponent:
    """A unit's part of the engine. A method that a unit does not need it does not override."""

    name: str  # of its record, the prefix of its tables and its section of a machine file
    socket: int
    counters: ClassVar[
        Mapping[str, str]
    ] = {}  # names and meanings; fields of its record. A name in _peak is a largest value, not a sum.
    drains = False  # has something to write back at the end of a launch
    watches_l2 = False
    skips = False  # what it does may be left out of the timing: it answers SKIP, and `touched` if it has operations
    leaps = False  # pieces may be left out of the middle of an operation: it answers `leave_out`
    first_port = 0  # of its crossbar ports; the engine allots them

    def calls(self) -> Any:
        """The compiled function (`unit_calls`); imported here, so that it is compiled only for runs that use it."""
        raise NotImplementedError

    def ports(self, machine: Machine) -> int:
        """How many ports of its own it has at the crossbar."""
        return 0

    def allocate(self, arena: Arena, machine: Machine) -> None:
        """Make the unit's record and tables."""
        raise NotImplementedError

    def begin(self, arena: Arena, launch: LaunchInfo) -> None:
        """A launch begins."""

    def operate(self, arena: Arena, operation: UnitOperation, advance: Callable[[], int]) -> None:
        """Run an operation between launches: feed its trace, and `advance` until that answers DONE."""
        raise WarpsiftError(f"unit {self.name!r} has no operations of its own; it works inside launches")

    def touched(self, piece: UnitChunk) -> tuple[np.ndarray, np.ndarray]:
        """Lines that a piece of an operation touches at the L2, in order; sectors of each, and `touch.WRITES`."""
        raise WarpsiftError(f"unit {self.name!r} has no operations of its own; it works inside launches")

    def leave_out(self, piece: UnitChunk) -> tuple[np.ndarray, np.ndarray]:
        """The operation goes on behind this piece, which is not timed: what it would have touched, as `touched`."""
        raise WarpsiftError(f"unit {self.name!r} times every piece of an operation")

    def expect(self, chunk: Chunk) -> None:
        """Some CTAs of a launch are about to run (test mode): note what they must lead to."""

    def balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """What must be equal at the end of a launch, with the reason as key (test mode)."""
        return {}

    def operation_balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """The same at the end of an operation of its own."""
        return {}

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        """Numbers of which one moves while the unit is alive."""
        return ()

    def keep(self, arrays: Mapping[str, Any]) -> None:
        """The engine is about to let go of its memory: copy what a user may still ask the unit for."""

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        """What in the unit holds something that does not move."""
        return []

    def explain(self, code: int) -> str | None:
        """The text of an error code of the unit's."""
        return None


def allocate(arena: Arena, units: tuple[UnitComponent, ...], machine: Machine) -> None:
    """Plug units into their sockets."""
    record = arena.record("sockets", SOCKETS)
    record.p_functions = arena.table("sockets.functions", np.int64, UNIT_SOCKETS)
    port = machine.sm.count
    for unit in units:
        bit = 1 << unit.socket
        if record.attached & bit:
            raise WarpsiftError(f"two units want socket {unit.socket} of the engine; one of them is {unit.name!r}")
        record.attached |= bit
        record.drains |= bit if unit.drains else 0
        record.watches_l2 |= bit if unit.watches_l2 else 0
        unit.first_port = port
        port += unit.ports(machine)
        unit.allocate(arena, machine)
        arena.arrays["sockets.functions"][unit.socket] = unit.calls().address
    if port - machine.sm.count > machine.noc.unit_ports:
        names = ", ".join(unit.name for unit in units)
        raise WarpsiftError(
            f"units {names} need {port - machine.sm.count} crossbar ports: set noc.unit_ports, now "
            f"{machine.noc.unit_ports}, to as many"
        )
