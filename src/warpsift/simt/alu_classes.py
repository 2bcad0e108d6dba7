"""Numbers of the ALU classes, as recorded for each instruction; `machines/alu_spec.py` says what each is.

Five families have a class for integers, one for 32-bit and one for 64-bit floating point: `typed` chooses by the type
of the result. A *program* is a run of ALU instructions as the stream names it: a tuple of `(class, place, ...)`, the
places in the run of the instructions whose results it needs, or only `BESIDE` if nothing that follows waits for it (the
address of the next iteration, say). Kernels have few different runs, so that a chunk carries
each program once and its records their numbers.
"""

from __future__ import annotations

import numpy as np

from warpsift.machines.alu_spec import ALU_CLASSES

ADD, MINMAX, MUL, MAD, DIV = FAMILIES = range(5)  # and so the integers' classes
LOGIC, COMPARE, CONVERT, SPECIAL, SHUFFLE, CONTROL = range(3 * len(FAMILIES), len(ALU_CLASSES))
assert ALU_CLASSES[ADD] == "int_add" and ALU_CLASSES[LOGIC] == "logic" and ALU_CLASSES[CONTROL] == "control"

Program = tuple[tuple[int, ...], ...]
BESIDE = -1
UNTOLD: Program = ()  # number 0 of every chunk: a run whose classes are not known


def typed(family: int, dtype: np.dtype) -> int:
    """The class of an instruction of a family (or class) whose result has this type."""
    if family >= LOGIC or dtype.kind != "f":
        return family
    return family + (2 * len(FAMILIES) if dtype.itemsize == 8 else len(FAMILIES))
