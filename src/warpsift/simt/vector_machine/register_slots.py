"""Where the values of a traced kernel lie: values that are not needed at the same time share a place.

So the machine's values stay few, and in the host's cache. A value lives from the row that makes it to the last row that
uses it; if that row is in a loop that began after the value was made, to the end of the loop, since the next iteration
uses it again. Constants and special registers keep their places.
"""

from __future__ import annotations

import numpy as np

from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.value_stretches import Rows


def placed(code: np.ndarray, rows: Rows, values: int, pinned: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The code with places for values and plain numbers of registers, the place of each value, how many there are.

    The rows of a stretch happen at once, so that what it makes has no place of what it uses.
    """
    result = code.copy()
    kept = code >= i.PINNED
    kept[:, [c for c in range(i.COLUMNS) if c not in (*i.VALUES, *i.REGISTERS)]] = False
    born, last = _lives(np.where(kept, -1, code), rows, values)
    place = np.full(values, -1)
    slots = pinned
    free: list[int] = []
    starting, ending = _by_row(born, len(code)), _by_row(last, len(code))
    for row in range(len(code)):
        for number in starting[row]:  # before anything is let go: a result never shares with its operands
            if not free:
                free.append(slots)
                slots += 1
            place[number] = free.pop()
        free += [int(place[number]) for number in ending[row]]
    for column in i.VALUES:
        used = (code[:, column] >= 0) & ~kept[:, column]
        result[used, column] = place[code[used, column]]
        result[kept[:, column], column] -= i.PINNED
    for column in i.REGISTERS:  # those of constants behind the others
        result[kept[:, column], column] += values - i.PINNED
    return result, place, slots


def _by_row(rows: np.ndarray, count: int) -> list[list[int]]:
    """The values of each row."""
    found: list[list[int]] = [[] for _ in range(count)]
    for number, row in enumerate(rows.tolist()):
        if row >= 0:
            found[row].append(number)
    return found


def _lives(code: np.ndarray, rows: Rows, values: int) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last row of each value; -1: never, or only inside of a stretch."""
    loops = _loops(code)
    born, last = [-1] * values, [-1] * values
    stretch, inner = rows.stretch.tolist(), rows.inner.tolist()
    for row, line in enumerate(code.tolist()):
        here = stretch[row]
        begin, end = (row, row) if here < 0 else (rows.first[here], rows.last[here])
        for column in i.VALUES:
            number = line[column]
            if number < 0 or inner[number]:
                continue
            if born[number] < 0:
                born[number] = begin
            until = next((e for b, e in loops if born[number] < b <= row <= e), end)  # outer loops come first
            last[number] = max(last[number], until)
        if line[i.OP] in (i.RANGE, i.GROUPS):  # the loop uses its counter and end whatever the body does
            for column in (i.DST, i.C):
                last[line[column]] = max(last[line[column]], line[i.Z])
    return np.array(born, int), np.array(last, int)


def _loops(code: np.ndarray) -> list[tuple[int, int]]:
    """First and last rows of loops, outer ones before inner ones."""
    begins = np.flatnonzero(np.isin(code[:, i.OP], i.LOOPS))
    return [(int(row), int(code[row, i.Z])) for row in begins]
