"""Which instructions of a traced kernel become one loop (`value_code`), and what each loop loads and stores.

A stretch ends at a memory access, a condition, a loop, a vote or a new variable. Instructions that are only counted do
not end it. Values that only their own stretch uses have no place in memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.value_code import Operand, Step, Stretch

COMPUTING = (i.ARITHMETIC, i.BITWISE, i.COMPARE, i.UNARY, i.CAST, i.SELECT, i.SET, i.RENAME)
COUNTED = (i.NOTHING, i.SPEND, i.ADDRESS)


class Rows(NamedTuple):
    """Where stretches begin and end, and who uses what."""

    stretch: np.ndarray  # of each row: its stretch, or -1
    first: list[int]  # of each stretch: its first and last row
    last: list[int]
    inner: np.ndarray  # of each value: whether only one stretch knows it


def stretches_of(code: np.ndarray, values: int) -> Rows:
    stretch = np.full(len(code), -1)
    first: list[int] = []
    last: list[int] = []
    open_ = False
    for row, op in enumerate(code[:, i.OP].tolist()):
        if op in COMPUTING:
            if not open_:
                first.append(row)
                last.append(row)
                open_ = True
            stretch[row], last[-1] = len(first) - 1, row
        elif op not in COUNTED:
            open_ = False
    users = np.full(values, -1)  # the one stretch that uses a value; -2: several, or a row outside
    for row in range(len(code)):
        for column in i.VALUES:
            number = code[row, column]
            if 0 <= number < i.PINNED:
                here = stretch[row] if stretch[row] >= 0 else -2
                users[number] = here if users[number] in (-1, here) else -2
    kept = code[np.isin(code[:, i.OP], (i.NEW_VARIABLE, i.RANGE, i.GROUPS)), i.DST]
    users[kept[kept < i.PINNED]] = -2
    return Rows(stretch, first, last, users >= 0)


def steps_of(
    code: np.ndarray, place: np.ndarray, rows: Rows, constants: frozenset[int]
) -> list[tuple[Stretch, list[int]]]:
    """The stretches, each with the places of the values that it loads and stores.

    In its steps they are numbered in the order in which they come, so that the same text is the same code however its
    values are placed, and whichever of its constants happen to be equal.
    """
    found: list[tuple[Stretch, list[int]]] = []
    for first, last in zip(rows.first, rows.last, strict=True):
        steps: list[Step] = []
        places = _Places(place, constants)
        made: dict[int, int] = {}  # of a value: the step that made it last
        for row in code[first : last + 1].tolist():
            if row[i.OP] not in COMPUTING:
                continue
            columns = {i.ARITHMETIC: 2, i.BITWISE: 2, i.COMPARE: 2, i.SELECT: 3}.get(row[i.OP], 1)
            operands = tuple(places.operand(row[i.A + k], made) for k in range(columns))
            which = row[i.X] if row[i.OP] not in (i.SET, i.RENAME) else 0
            target = row[i.DST]
            if target in made and not rows.inner[target]:  # a variable that is set again: only its last value is stored
                steps[made[target]] = steps[made[target]]._replace(store=-1)
            made[target] = len(steps)
            store = -1 if rows.inner[target] else places.number_of(int(place[target]))
            steps.append(Step(row[i.OP], row[i.TYPE], which, operands, store))
        found.append((tuple(steps), places.all))
    return found


class _Places:
    """The places of a stretch, numbered."""

    def __init__(self, place: np.ndarray, constants: frozenset[int]) -> None:
        self.all: list[int] = []
        self._place = place
        self._constants = constants
        self._numbers: dict[int, int] = {}

    def number_of(self, place: int) -> int:
        number = self._numbers.get(place)
        if number is None:
            number = self._numbers[place] = len(self.all)
            self.all.append(place)
        return number

    def operand(self, number: int, made: dict[int, int]) -> Operand:
        """`made`: of values, the step of this stretch that made them."""
        if (
            number in self._constants
        ):  # each time it is used: two constants may be equal in one launch and not in another
            self.all.append(number - i.PINNED)
            return Operand(place=len(self.all) - 1, constant=True)
        if number in made:
            return Operand(step=made[number])
        return Operand(place=self.number_of(number - i.PINNED if number >= i.PINNED else int(self._place[number])))
