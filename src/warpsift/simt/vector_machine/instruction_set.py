"""What a traced kernel is made of: rows of integers, one per vector instruction, and the tables that they point to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Types of values. Booleans are bytes of 0 and 1.
BOOL, BYTE, INT32, UINT32, INT64, FLOAT32, FLOAT64 = range(7)
TYPES = tuple(np.dtype(kind) for kind in (np.bool_, np.uint8, np.int32, np.uint32, np.int64, np.float32, np.float64))
TYPE_OF = {kind: number for number, kind in enumerate(TYPES)}
SIZE_OF = tuple(kind.itemsize for kind in TYPES)

# Columns of a row. `DST`, `A`, `B`, `C` are where values lie; `*_REG` the registers that they belong to, whose waits
# and dependences count (-1: a constant, or a value on the way between two types). STRETCH: the code (value_code) that
# computes this row's values and those of the rows that follow, or -1. What X, Y, Z mean is said below.
COLUMNS = 17
(OP, TYPE, DST, A, B, C, DST_REG, A_REG, B_REG, C_REG, CLASS, FLOAT, X, Y, Z, INDEX_TYPE, STRETCH) = range(COLUMNS)
PINNED = 1 << 30  # numbers of values from here on are constants and special registers, while a kernel is traced
VALUES, REGISTERS = (DST, A, B, C), (DST_REG, A_REG, B_REG, C_REG)

# Values: the result's instruction is counted where CLASS is not -1. X says which of its kind.
NOTHING = 0  # no values: an instruction that is only counted
ARITHMETIC = 1
ADD, SUB, MUL, MIN, MAX, DIVIDE, FLOOR_DIVIDE, MODULO = range(8)
BITWISE = 2
AND, OR, XOR, SHIFT_LEFT, SHIFT_RIGHT = range(5)
COMPARE = 3
EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(6)
UNARY = 4
NEGATE, INVERT, NOT, ABSOLUTE = range(4)
CAST = 5  # X: the type of the result
SELECT = 6  # A ? B : C
WARP = 7  # what the lanes of a warp do together
BALLOT, POPCOUNT, SCAN, SUM, LARGEST, ANY, SHUFFLE, CTA_ANY = range(8)
LAST_VALUE = WARP

# Registers
SPEND = 10  # Y instructions of the classes at X; Z: whether each needs the one before
ADDRESS = 11  # of A_REG: X, Y: which bits say that product and sum are paid
NEW_VARIABLE = 12
SET = 13  # DST = A; a renamed register (A_REG) or a constant
RENAME = 14  # a new register with the bits of A

# Control; Z: where a loop goes on
WHERE = 20  # X: for which truth of A
END_WHERE = 21
EXIT = 22  # threads for which A holds leave
WHILE = 23  # Z: behind END_WHILE
WHILE_TEST = 24
WHILE_NEXT = 25  # Z: WHILE_TEST's condition begins there
END_WHILE = 26
RANGE = 27  # counter DST from A to B, whose end is kept in C; Z: END_RANGE
RANGE_NEXT = 28  # Y: step; Z: where the body begins
END_RANGE = 29

# Unrolled loops (simt/unrolling.py): groups of X iterations, then the rest one by one. Of a group: GROUP body STEP body
# STEP ... NEXT.
GROUPS = 30  # counter DST from A to B; C: iterations of each thread; Y: step; Z: END_GROUPS
GROUP = 31  # for the threads with as many left; Z: REST; Y, INDEX_TYPE, FLOAT: rows, memory accesses, conditions inside
GROUP_STEP = 32  # the next iteration of a group
GROUP_NEXT = 33  # Z: GROUP
REST = 34  # Y: the classes of the instructions that it takes
REST_STEP = 35  # the next iteration of the rest; Z: END_GROUPS
REST_NEXT = 36  # Z: REST_STEP
END_GROUPS = 37
LONGEST_GROUP = 500  # rows: those that it writes down fit into a log twice
JUMPS = (WHILE, WHILE_TEST, WHILE_NEXT, RANGE, RANGE_NEXT, GROUPS, GROUP, GROUP_NEXT, REST_STEP, REST_NEXT)
LOOPS = (WHILE, RANGE, GROUPS)  # they end at Z

FINISH = 39

# Memory; X: the array (a row of `arrays` or `shared`), A: element numbers (INDEX_TYPE), Y: an offset
LOAD = 40
STORE = 41
ATOMIC = 42  # Z: which
ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_OR = range(4)
SHARED_LOAD = 43
SHARED_STORE = 44
SHARED_EXCHANGE = 45
BARRIER = 46
WHOLE_CTAS = 47

# Columns of `arrays` (address, elements, bytes of an element, tag in the stream) and of `shared` (address in the CTA's
# shared memory, elements per CTA, bytes of an element, where its elements begin in the batch's, per CTA).
PLACE, LENGTH, ITEM_BYTES, TAG = range(4)
ARRAY_COLUMNS = 4


@dataclass
class TracedKernel:
    """A kernel as the machine runs it, for the launches that it was traced for."""

    code: np.ndarray
    stretches: list[Any]  # what its instructions compute: value_code.Stretch
    classes: np.ndarray  # of SPEND
    arrays: np.ndarray
    shared: np.ndarray
    constants: list[tuple[int, np.generic]]  # where each lies
    special: dict[str, int]  # where `id`, `lane`, `in_cta`, `cta` lie, if the text asks for them
    registers: int
    slots: int  # places for values, one per thread of the batch each
    shared_bytes: int  # of a CTA, as the stream says
    shared_words: int  # of a CTA, in 8 bytes, as the machine keeps them
    atomics: bool
    names: list[str] = field(default_factory=list)  # of arrays, for messages
    reached: list[str] = field(default_factory=list)  # what asks for whole CTAs, for messages
    most_of_a_group: tuple[int, int] = (0, 0)  # memory accesses and conditions of an unrolled loop's group
