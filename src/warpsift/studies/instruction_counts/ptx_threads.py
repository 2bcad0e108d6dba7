"""Runs PTX, one thread after the other, and counts what each executes: the yardstick of `ptx_comparison.py`.

Enough of PTX for kernels on global memory with 32- and 64-bit integers, bytes and floats; no shared memory, no
barriers. Threads run to their end in order, so a program whose answer depends on their order has no twin here.
"""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warpsift.errors import WarpsiftError

CODES = {
    f"{kind}{bits}": code
    for kind, codes in (("u", "BHIQ"), ("b", "BHIQ"), ("s", "bhiq"))
    for bits, code in zip((8, 16, 32, 64), codes, strict=True)
}
CODES |= {"f32": "f", "f64": "d"}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "min": min,
    "max": max,
}
COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "neu": operator.ne,
}
COMPARISONS |= {"hi": operator.gt, "hs": operator.ge, "lo": operator.lt, "ls": operator.le}


@dataclass(frozen=True)
class Instruction:
    guard: str  # predicate register, "" for none
    holds: bool  # whether the guard must hold or not
    parts: tuple[str, ...]  # the opcode, split at its dots
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    parameters: tuple[str, ...]
    code: tuple[Instruction, ...]
    labels: dict[str, int]


def read_programs(text: str) -> dict[str, Program]:
    """Every kernel of a PTX file."""
    found = {}
    for name, head, body in re.findall(r"\.entry (\w+)\(([^)]*)\)[^{]*\{(.*?)\n\}", text, re.S):
        code: list[Instruction] = []
        labels = {}
        for line in (line.strip() for line in body.splitlines()):
            if match := re.match(r"(\$\w+):", line):
                labels[match[1]] = len(code)
            elif match := re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*);", line):
                operands = tuple(part.strip() for part in match[4].split(",")) if match[4] else ()
                code.append(Instruction(match[2] or "", match[1] != "!", tuple(match[3].split(".")), operands))
        found[name] = Program(tuple(re.findall(r"\.param \S+ (\w+)", head)), tuple(code), labels)
    return found


def wrapped(value: Any, kind: str) -> Any:
    """A result as a register of this type holds it."""
    if kind[0] == "f":
        return struct.unpack(CODES[kind], struct.pack(CODES[kind], value))[0]
    bits = int(kind[1:])
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


class Thread:
    """One thread of a launch."""

    def __init__(self, program: Program, memory: bytearray, arguments: Sequence[Any], place: dict[str, int]) -> None:
        self.program, self.memory = program, memory
        self.values: dict[str, Any] = dict(place)
        self.arguments = dict(zip(program.parameters, arguments, strict=True))
        self.executed = 0

    def run(self) -> int:
        """Instructions until `ret`; a jump that its guard forbids is one, too."""
        at = 0
        while True:
            one = self.program.code[at]
            self.executed += 1
            at += 1
            if one.guard and bool(self.values[one.guard]) != one.holds:
                continue
            if one.parts[0] == "ret":
                return self.executed
            if one.parts[0] == "bra":
                at = self.program.labels[one.operands[-1]]
            else:
                self.execute(one)

    def value(self, operand: str, kind: str) -> Any:
        if operand[0] == "%":
            value = self.values[operand]
        elif operand.startswith("0f"):
            value = struct.unpack(">f", bytes.fromhex(operand[2:]))[0]
        else:
            value = int(operand, 0)
        return value if kind == "pred" else wrapped(value, kind)

    def address(self, operand: str) -> int:
        base, _, displacement = operand.strip("[]").partition("+")
        return int(self.values[base]) + int(displacement or 0)

    def execute(self, one: Instruction) -> None:
        parts, operands = one.parts, one.operands
        kind, name = parts[-1], parts[0]
        if name == "ld" and "param" in parts:
            self.values[operands[0]] = wrapped(self.arguments[operands[1].strip("[]")], kind)
        elif name == "ld":
            self.values[operands[0]] = struct.unpack_from(CODES[kind], self.memory, self.address(operands[1]))[0]
        elif name == "st":
            where, what = operands
            struct.pack_into(CODES[kind], self.memory, self.address(where), self.value(what, kind))
        elif name in ("atom", "red"):
            self.atomic(one)
        elif name in ("mov", "cvta", "cvt"):
            self.values[operands[0]] = wrapped(self.value(operands[1], kind), parts[-2] if name == "cvt" else kind)
        else:
            self.values[operands[0]] = self.computed(one)

    def atomic(self, one: Instruction) -> None:
        kind, how = one.parts[-1], one.parts[-2]
        where, what = one.operands[-2:]
        at = self.address(where)
        old = struct.unpack_from(CODES[kind], self.memory, at)[0]
        struct.pack_into(CODES[kind], self.memory, at, wrapped(BINARY[how](old, self.value(what, kind)), kind))
        if one.parts[0] == "atom":
            self.values[one.operands[0]] = old

    def computed(self, one: Instruction) -> Any:
        kind, name = one.parts[-1], one.parts[0]
        if name == "setp":
            a, b = (self.value(x, kind) for x in one.operands[1:])
            return COMPARISONS[one.parts[1]](a, b)
        if name == "selp":
            a, b, condition = one.operands[1:]
            return self.value(a if self.values[condition] else b, kind)
        operands = [self.value(x, kind) for x in one.operands[1:]]
        wide = {"s32": "s64", "u32": "u64"}[kind] if "wide" in one.parts else kind
        if name in ("mad", "fma"):
            third = self.value(one.operands[3], wide)
            return wrapped(operands[0] * operands[1] + third, wide)
        if name == "not":
            return (not operands[0]) if kind == "pred" else wrapped(~operands[0], kind)
        if name == "neg":
            return wrapped(-operands[0], kind)
        if name not in BINARY:
            raise WarpsiftError(f"PTX instruction '{'.'.join(one.parts)}' is not among those that are counted here")
        result = BINARY[name](*operands)
        return bool(result) if kind == "pred" else wrapped(result, wide)
