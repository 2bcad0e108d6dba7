"""Instruction streams written by hand, for tests of the timing engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsift.engine import Engine
from warpsift.engine.counters import Counters
from warpsift.machines import Machine, load_machine
from warpsift.simt.alu_classes import UNTOLD, Program
from warpsift.simt.stream import ALU, ATOMIC, BARRIER, COMMAND, LOAD, NO_SLOT, OP, SHARED, STORE, Chunk, LaunchInfo

Row = tuple[tuple, list[int]]


def transaction(line: int, sectors: int = 15, repeat: int = 0) -> int:
    return line << 16 | repeat << 8 | sectors


def alu(count: int = 1, chain: int = 1, wait: int = 0, lanes: int = 32, program: int = 0) -> Row:
    return (ALU, lanes, NO_SLOT, wait, count, 0, chain, program), []


def load(slot: int, lines: Sequence[int], wait: int = 0) -> Row:
    return (LOAD, 32, slot, wait, 1, 0, 0), [transaction(line) for line in lines]


def load_sectors(slot: int, transactions: Sequence[int], wait: int = 0) -> Row:
    return (LOAD, 32, slot, wait, 1, 0, 0), list(transactions)


def store(lines: Sequence[int], wait: int = 0, sectors: int = 15) -> Row:
    return (STORE, 32, NO_SLOT, wait, 1, 0, 0), [transaction(line, sectors) for line in lines]


def atomic(line: int, repeat: int = 1, slot: int = NO_SLOT, wait: int = 0) -> Row:
    return (ATOMIC, 32, slot, wait, 1, 0, 0), [transaction(line, 1, repeat)]


def command(slot: int, words: int, wait: int = 0) -> Row:
    """To a unit; what its words mean is the unit's business."""
    return (COMMAND, 32, slot, wait, 1, 0, 0), [0] * words


def shared(slot: int, passes: int = 1, wait: int = 0) -> Row:
    return (SHARED, 32, slot, wait, passes, 0, 0), []


def barrier() -> Row:
    return (BARRIER, 32, NO_SLOT, 0, 1, 0, 0), []


def chunk(warps: Sequence[Sequence[Row]], ctas: int, programs: tuple[Program, ...] = (UNTOLD,)) -> Chunk:
    """Warps side by side; each is a list of instructions."""
    rows, transactions, first = [], [], [0]
    for warp in warps:
        for (kind, lanes, slot, wait, count, array, detail, *program), lines in warp:
            place = program[0] if program else len(transactions)
            rows.append((kind, lanes, slot, len(lines), wait, count, place, array, detail))
            transactions.extend(lines)
        first.append(len(rows))
    arrays = (np.array(rows, OP), np.array(first, np.int64), np.array(transactions, np.int64))
    return Chunk(*arrays, ctas, programs=programs)


def launch(ctas: int, warps_per_cta: int = 1, shared_bytes: int = 0, arrays: Sequence[str] = ("x",)) -> LaunchInfo:
    return LaunchInfo("test", "test", False, ctas, 32 * warps_per_cta, shared_bytes, tuple(arrays))


def simulate(
    warps: Sequence[Sequence[Row]],
    machine: Machine | str = "gtx980",
    warps_per_cta: int = 1,
    **overrides: object,
) -> Counters:
    """Time warps, CTA after CTA, with all conservation checks."""
    if isinstance(machine, str):
        machine = load_machine(machine, {key.replace("__", "."): value for key, value in overrides.items()})
    engine = Engine(machine, checks=True)
    ctas = len(warps) // warps_per_cta
    engine.begin(launch(ctas, warps_per_cta))
    engine.chunk(chunk(warps, ctas))
    return engine.end().counters
