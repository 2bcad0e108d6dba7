"""Runs of ALU instructions, each written down once.

A kernel goes through the same few runs again and again, so a run is a node of a tree: its prefix is the node above, and
the next instruction leads to the node below, which is made when it is first met. What a record says of a run (count,
chain, floating point, program) is known from its node.
"""

from __future__ import annotations

import numpy as np

from warpsift.simt.alu_classes import ADD, BESIDE, COMPARE, CONTROL, UNTOLD, Program, typed
from warpsift.simt.stream import ALU, pack, pack_high


class Run:
    """A run of ALU instructions; `program` says which (alu_classes)."""

    __slots__ = (
        "_above",
        "_added",
        "_advanced",
        "_next",
        "_spent",
        "chain",
        "count",
        "deepest",
        "floats",
        "record",
    )  # fmt: skip

    def __init__(self, above: Run | None = None, added: Program = ()) -> None:
        self._above = above
        self._added = added  # the instructions that the run above does not have
        self._next: dict[tuple[int, int, tuple[int, ...], int], Run] = {}
        self._spent: dict[tuple[int, bool, tuple[int, ...]], Run] = {}
        self._advanced: Run | None = None
        self.count: int = len(added) + (above.count if above else 0)
        self.floats: int = above.floats if above else 0
        self.chain: int = above.chain if above else 0  # length of the longest chain
        self.deepest: int = above.deepest if above else -1  # place of the instruction that ends it
        self.record: tuple[int, int] | None = None  # the two halves of its OP, once it has a number

    def then(self, op: int, result: np.dtype | None, needs: tuple[int, ...], depth: int) -> Run:
        """One more instruction, of a class or family, whose operands stand at these places, `depth` deep."""
        key = (op, -1 if result is None else result.num, needs, depth)
        found = self._next.get(key)
        if found is None:
            found = Run(self, ((op if result is None else typed(op, result), *needs),))
            if depth >= self.chain:
                found.chain, found.deepest = depth + 1, self.count
            if result is not None and result.kind == "f":
                found.floats += 1
            self._next[key] = found
        return found

    def spend(self, instructions: int, chained: bool, classes: tuple[int, ...]) -> Run:
        """Instructions that produce no register, of the given classes in turn; chained: each needs the deepest."""
        key = (instructions, chained, classes)
        found = self._spent.get(key)
        if found is None:
            deepest, added = self.deepest, []
            for k in range(instructions):
                needs: tuple[int, ...] = () if chained else (BESIDE,)
                if chained:
                    needs = (deepest,) if deepest >= 0 else ()
                    deepest = self.count + k
                added.append((classes[k % len(classes)], *needs))
            found = self._spent[key] = Run(self, tuple(added))
            found.deepest = deepest
            found.chain += instructions if chained else 0
        return found

    def advance_loop(self) -> Run:
        """Increment, compare and branch: they need the counter only, so they stand beside the body's chain."""
        if self._advanced is None:
            place = self.count
            self._advanced = Run(self, ((ADD,), (COMPARE, place), (CONTROL, place + 1)))
            self._advanced.chain = max(self.chain, 2)
        return self._advanced

    @property
    def program(self) -> Program:
        parts, run = [], self
        while run._above is not None:
            parts.append(run._added)
            run = run._above
        return tuple(step for part in reversed(parts) for step in part)


class Programs:
    """The runs of a recorder, and the numbers of their programs in its chunks."""

    def __init__(self) -> None:
        self.nothing = Run()
        self._numbers: dict[Program, int] = {UNTOLD: 0}  # in order of their numbers
        self._known: tuple[Program, ...] = (UNTOLD,)

    def record(self, run: Run) -> tuple[int, int]:
        """The two halves of a run's OP; waits and lanes are filled in later."""
        if run.record is None:
            number = self.number(run.program)
            chain = max(1, min(run.chain, run.count))
            run.record = (pack(ALU, count=run.count), pack_high(run.floats, chain, number))
        return run.record

    def number(self, program: Program) -> int:
        """The number of a program."""
        return self._numbers.setdefault(program, len(self._numbers))

    @property
    def known(self) -> tuple[Program, ...]:
        if len(self._known) < len(self._numbers):
            self._known = tuple(self._numbers)
        return self._known
