"""The instruction stream: what a kernel launch hands to everything that comes after it.

A launch is a sequence of `Chunk`s. A chunk holds whole CTAs in dispatch order; inside it every warp owns one
contiguous run of `OP` records, in program order. There is no barrier between chunks: whoever times the stream
dispatches the next CTA as soon as an SM has room, whichever chunk it lies in. Timing and energy read only this
stream and the counters that follow from it; no values, no masks.

One `OP` is one warp instruction, with a single exception that makes the stream about three times smaller:
consecutive ALU instructions of a warp are one record with a `count`.

Dependences are held as on Maxwell and later GPUs, where the compiler gives each long-latency instruction one of a
few scoreboard slots and each consumer a mask of slots to wait for: an instruction may issue only when all slots in
its `wait` mask have no instruction in flight. A slot that is used again while in flight counts up, and is free when
the last has returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from warpsift.hardware import SECTORS_PER_LINE, WARP_SIZE
from warpsift.simt.alu_classes import UNTOLD, Program

SLOTS = 16  # scoreboard slots per warp (Maxwell has 6 barriers; 16 lets the recorder never merge two loads needlessly)
NO_SLOT = 255

# Kinds of OP.
ALU = 0  # `count` instructions; the first `detail` of them form a dependent chain; `array` of them are floating point;
#          `first` is the number of their program in `Chunk.programs`: classes and dependences, one by one
LOAD = 1  # global load; `slot` is busy until all transactions have returned
STORE = 2  # global store; nobody waits for it
ATOMIC = 3  # global atomic, performed at L2; `slot` is NO_SLOT if its old value is not used
SHARED = 4  # shared-memory access; `count` passes through the banks (1 = free of conflicts); `slot` as for LOAD
BARRIER = 5  # wait for all warps of the CTA
# Commands to a special unit: `transactions` entries of `Chunk.commands` from `first`, which only the unit understands;
# `detail` is its socket << COMMAND_UNIT_SHIFT | what it makes of the rest; `array` the array that it walks.
COMMAND = 6  # `slot` as for LOAD
POST = 7  # nobody waits for it
COMMAND_UNIT_SHIFT = 8
KIND_NAMES = ("alu", "load", "store", "atomic", "shared", "barrier", "command", "post")

OP = np.dtype(
    [
        ("kind", np.uint8),
        ("lanes", np.uint8),  # active lanes, 1 to 32
        ("slot", np.uint8),  # scoreboard slot that this instruction occupies, or NO_SLOT
        ("transactions", np.uint8),  # how many entries of `Chunk.transactions` belong to it, from `first`
        ("wait", np.uint16),  # scoreboard slots that must be free before issue
        ("count", np.uint16),  # ALU: instructions in the run; SHARED: bank passes; otherwise 1
        ("first", np.uint32),  # memory kinds: see `transactions`; ALU: see above, 0 if it is not told
        (
            "array",
            np.uint16,
        ),  # memory kinds: index into `LaunchInfo.arrays`; ALU: floating-point instructions
        ("detail", np.uint16),  # ALU: length of the dependent chain, 1 to `count`
    ]
)
assert OP.itemsize == 16


def pack(kind: int, slot: int = NO_SLOT, wait: int = 0, count: int = 1) -> int:
    """The low half of an OP as a signed 64-bit integer; lanes and transactions are filled in per warp."""
    value = kind | slot << 16 | wait << 32 | count << 48
    return value - (1 << 64) if value >> 63 else value


def pack_high(array: int, detail: int = 0, first: int = 0) -> int:
    value = first | array << 32 | detail << 48
    return value - (1 << 64) if value >> 63 else value


# A transaction is one int64: line number << 16 | repeat << 8 | sector mask.
# Loads and stores: one per distinct 128-byte line of the warp, in order of the first lane that touches it, with the
# 32-byte sectors that are touched. Atomics: one per distinct sector, `repeat` = the most lanes on one address in it.
# Stores: `repeat` is the mask of sectors that the warp covers only in part. If any line of a store has such a sector,
# the words that each line covers follow behind its lines, as 32-bit masks, the last line's first, two to an int64.
LINE_SHIFT = 16
REPEAT_SHIFT = 8
SECTOR_MASK = (1 << SECTORS_PER_LINE) - 1


@dataclass(frozen=True)
class LaunchInfo:
    """What is known of a launch before it runs."""

    kernel: str
    phase: str  # the algorithm's name for this step: "expand", "contract", "rank_update", ...
    compaction: bool  # whether this is stream-compaction work (SCU paper, Fig. 1)
    ctas: int
    threads_per_cta: int
    shared_bytes_per_cta: int = 0
    arrays: Sequence[str] = field(default_factory=tuple)  # names that OP.array indexes
    element_bytes: Sequence[int] = field(default_factory=tuple)  # their element sizes
    bindings: Mapping[str, Any] = field(default_factory=dict)  # what the units' commands work on, by unit
    registers_per_thread: int = 0  # 0: not known
    code_bytes: int = 0  # of the kernel's machine code that a warp passes; 0: not known

    @property
    def warps_per_cta(self) -> int:
        return -(-self.threads_per_cta // WARP_SIZE)


@dataclass(frozen=True)
class Chunk:
    """Some CTAs of a launch, in dispatch order, warps of one CTA side by side."""

    ops: np.ndarray  # OP records, warp after warp
    warp_first: np.ndarray  # int64, warps + 1: warp w owns ops[warp_first[w] : warp_first[w + 1]]
    transactions: np.ndarray  # int64, see above
    ctas: int
    commands: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # of COMMAND and POST, see above
    programs: tuple[Program, ...] = (UNTOLD,)  # of ALU runs: simt/alu_classes.py

    @property
    def warps(self) -> int:
        return len(self.warp_first) - 1


@dataclass(frozen=True)
class UnitInfo:
    """What is known of an operation of a special unit before it runs. The GPU waits while it does."""

    unit: str  # "scu"
    operation: str  # the unit's name for it: "data_compaction", ...
    phase: str
    compaction: bool = True


class UnitChunk(Protocol):
    """A piece of an operation's trace; what else it holds is between the unit and its timing model."""

    def counts(self) -> dict[str, int]:
        """Counters that follow from the trace alone, without timing."""
        ...


class UnitOperation(Protocol):
    """One operation of a special unit. Its function happens while `chunks` is consumed, piece by piece."""

    @property
    def info(self) -> UnitInfo: ...

    def chunks(self) -> Iterable[UnitChunk]: ...


class Sink(Protocol):
    """Whoever consumes launches: the counter, the timing engine, a trace writer."""

    def begin(self, launch: LaunchInfo) -> None: ...

    def chunk(self, chunk: Chunk) -> None: ...

    def end(self) -> object: ...

    def operation(self, operation: UnitOperation) -> object: ...
