"""The rows of a kernel as they are written down, and the tables beside them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from warpsift.simt.memory import DeviceArray
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.register_slots import placed
from warpsift.simt.vector_machine.traced_registers import UntraceableError
from warpsift.simt.vector_machine.value_code import Stretch
from warpsift.simt.vector_machine.value_stretches import steps_of, stretches_of

PINNED = i.PINNED
MOST_LEVELS = 60  # conditions and loops inside of each other: what the machine has room for
MOST_ADDRESSES = 62  # bits of a register that say which address arithmetic is paid
LONGEST_ARRAY = (1 << 31) - 1  # element numbers are logged in 32 bits


class TraceWriter:
    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.types: list[int] = []  # of values, by their numbers
        self.pinned: list[int] = []  # of values that are there before the kernel begins: numbers from PINNED on
        self.shared: list[tuple[int, int, int, int]] = []
        self.shared_words = 0
        self.special: dict[str, int] = {}
        self.reached: list[str] = []
        self.levels = 1
        self._constants: dict[tuple[int, bytes], int] = {}
        self._classes: dict[tuple[int, ...], int] = {}
        self._class_list: list[int] = []
        self._addresses: dict[int, int] = {}
        self._arrays: dict[int, tuple[int, DeviceArray]] = {}

    # ------------------------------------------------------------------ rows
    def emit(
        self, op: int, type: int = -1, *, dst: int = -1, a: int = -1, b: int = -1, c: int = -1, **more: int
    ) -> list[int]:
        row = [op, type, dst, a, b, c, -1, -1, -1, -1, -1, 0, 0, 0, 0, -1, -1]
        for name, value in more.items():
            row[_COLUMN[name]] = value
        self.rows.append(row)
        return row

    def new(self, type: int) -> int:
        """A new value."""
        self.types.append(type)
        return len(self.types) - 1

    def new_pinned(self, type: int) -> int:
        """A new value that is there before the kernel begins."""
        self.pinned.append(type)
        return PINNED + len(self.pinned) - 1

    def type_of(self, value: int) -> int:
        return self.types[value] if value < PINNED else self.pinned[value - PINNED]

    def cast(self, value: int, wanted: int) -> int:
        """The value in another type."""
        have = self.type_of(value)
        if have == wanted:
            return value
        made = self.new(wanted)
        self.emit(i.CAST, have, dst=made, a=value, x=wanted)
        return made

    def copy(self, value: int) -> int:
        made = self.new(self.type_of(value))
        self.emit(i.CAST, self.type_of(value), dst=made, a=value, x=self.type_of(value))
        return made

    # ------------------------------------------------------------------ tables
    def constant(self, value: Any, common: int, computed: int) -> int:
        """A plain number as NumPy would take it among values of type `common`, for use in type `computed`."""
        try:
            number = np.asarray(i.TYPES[common].type(value)).astype(i.TYPES[computed])
        except (OverflowError, ValueError, TypeError):
            raise UntraceableError(f"{value!r} among values of type {i.TYPES[common]}") from None
        key = computed, number.tobytes()
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.new_pinned(computed)
        return found

    def classes(self, classes: tuple[int, ...]) -> int:
        """Where these ALU classes stand in the table of SPEND: how many, then each."""
        found = self._classes.get(classes)
        if found is None:
            found = self._classes[classes] = len(self._class_list)
            self._class_list += [len(classes), *classes]
        return found

    def address(self, key: int) -> int:
        """The bit that says that a register has paid for this product or sum (Register.addressed)."""
        found = self._addresses.setdefault(key, len(self._addresses))
        if found >= MOST_ADDRESSES:
            raise UntraceableError("a kernel with very many arrays")
        return found

    def array(self, array: DeviceArray) -> int:
        if len(array) > LONGEST_ARRAY:
            raise UntraceableError("an array of more elements than 32 bits can number")
        if array.itemsize not in (1, 4, 8):
            raise UntraceableError(f"elements of {array.itemsize} bytes")
        return self._arrays.setdefault(array.tag, (len(self._arrays), array))[0]

    def shared_array(self, address: int, length: int, itemsize: int) -> int:
        if itemsize not in (1, 4, 8):
            raise UntraceableError(f"elements of {itemsize} bytes")
        self.shared.append((address, length, itemsize, self.shared_words))
        self.shared_words += -(-length * itemsize // 8)
        return len(self.shared) - 1

    def whole_ctas(self, what: str) -> None:
        if what not in self.reached:
            self.reached.append(what)
        self.emit(i.WHOLE_CTAS, x=self.reached.index(what))

    # ------------------------------------------------------------------ the result
    def finished(self, shared_bytes: int) -> i.TracedKernel:
        if self.levels > MOST_LEVELS:
            raise UntraceableError("very many conditions inside of each other")
        constant = frozenset(self._constants.values())
        code, stretches, slots = _laid_out(
            Text(np.array(self.rows, np.int64)), len(self.types), len(self.pinned), constant
        )
        constants = [
            (number - PINNED, np.frombuffer(raw, i.TYPES[kind])[0]) for (kind, raw), number in self._constants.items()
        ]
        arrays = [array for _, array in self._arrays.values()]
        return i.TracedKernel(
            code,
            stretches,
            np.array([*self._class_list, 0], np.int64),
            np.array([(a.address, len(a), a.itemsize, a.tag) for a in arrays], np.int64).reshape(-1, 4),
            np.array(self.shared, np.int64).reshape(-1, 4),
            constants,
            {name: number - PINNED for name, number in self.special.items()},
            len(self.types) + len(self.pinned),
            slots,
            shared_bytes,
            self.shared_words,
            bool((code[:, i.OP] == i.ATOMIC).any()),
            [array.name for array in arrays],
            self.reached,
            _largest_group(self.rows),
        )


def _largest_group(rows: list[list[int]]) -> tuple[int, int]:
    groups = [(row[i.INDEX_TYPE], row[i.FLOAT]) for row in rows if row[i.OP] == i.GROUP]
    return max((g[0] for g in groups), default=0), max((g[1] for g in groups), default=0)


class Text:
    """The rows of a kernel, which know whether they are the same."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows
        self._bytes = rows.tobytes()

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self._bytes == other._bytes


@lru_cache(maxsize=256)
def _laid_out(
    text: Text, values: int, pinned: int, constants: frozenset[int]
) -> tuple[np.ndarray, list[tuple[Stretch, list[int]]], int]:
    """Code with places for values, its stretches, how many places; the next launch mostly has the same text."""
    rows = stretches_of(text.rows, values)
    code, place, slots = placed(text.rows, rows, values, pinned)
    code[rows.first, i.STRETCH] = np.arange(len(rows.first))
    return code, steps_of(text.rows, place, rows, constants), slots


_COLUMN = {
    "x": i.X, "y": i.Y, "z": i.Z, "a_reg": i.A_REG, "b_reg": i.B_REG, "c_reg": i.C_REG, "dst_reg": i.DST_REG,
    "index_type": i.INDEX_TYPE, "cls": i.CLASS, "floating": i.FLOAT,
}  # fmt: skip
