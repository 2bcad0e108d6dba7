"""Machine code for what a kernel computes: a stretch of instructions becomes one loop over the active threads.

The instructions between two memory accesses, conditions or loops have nothing between them that others could see, so
their values need not be written down one by one: of each thread the operands are loaded, all instructions computed, and
the results that are used later stored. Each stretch is two functions, one for all threads of a batch and one for some
of them. Results are NumPy's, bit for bit: integers wrap around, a shift by the width or more leaves nothing, a whole
division by zero gives 0.

The code is made with llvmlite, on which Numba rests: a loop takes it milliseconds where Numba takes tenths of a second,
so that nothing needs to be kept between runs.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from warpsift.simt import native_code
from warpsift.simt.kept_code import folder_of
from warpsift.simt.native_code import host, load_object, object_of, processor, write_whole
from warpsift.simt.vector_machine import instruction_set as i

FOLDER = folder_of("stretches", (Path(__file__), Path(i.__file__), Path(native_code.__file__)))
BYTE, INT, LONG, FLOAT, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
KINDS = {
    i.BOOL: BYTE, i.BYTE: BYTE, i.INT32: INT, i.UINT32: INT, i.INT64: LONG, i.FLOAT32: FLOAT, i.FLOAT64: DOUBLE,
}  # fmt: skip
UNSIGNED = (i.BOOL, i.BYTE, i.UINT32)
# void (values, bytes per place, positions of the active threads, how many, places of the stretch's values)
SIGNATURE = ir.FunctionType(ir.VoidType(), [LONG] * 5)
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")  # in the order of instruction_set


class Operand(NamedTuple):
    """The result of an earlier step, or one of the stretch's places and whether all threads have the same there."""

    step: int = -1
    place: int = -1
    constant: bool = False


class Step(NamedTuple):
    """One instruction of a stretch."""

    op: int
    type: int  # of the operands
    which: int
    operands: tuple[Operand, ...]
    store: int  # where its result goes, -1: nowhere


Stretch = tuple[Step, ...]


def result_type(step: Step) -> int:
    if step.op == i.COMPARE:
        return i.BOOL
    return step.which if step.op == i.CAST else step.type


# ---------------------------------------------------------------------- instructions
def _arithmetic(b: ir.IRBuilder, which: int, x: Any, y: Any) -> Any:
    floating = isinstance(x.type, (ir.FloatType, ir.DoubleType))
    if which in (i.ADD, i.SUB, i.MUL):
        name = ("add", "sub", "mul")[which]
        return getattr(b, "f" + name if floating else name)(x, y)
    if which == i.DIVIDE:
        return b.fdiv(x, y)
    if which in (i.MIN, i.MAX):
        sign = "<=" if which == i.MIN else ">="
        if not floating:
            return b.select(b.icmp_signed(sign, x, y), x, y)
        first = b.or_(b.fcmp_ordered(sign, x, y), b.fcmp_unordered("uno", x, x))  # what is no number is handed on
        return b.select(first, x, y)
    return _whole_division(b, which, x, y)


def _whole_division(b: ir.IRBuilder, which: int, x: Any, y: Any) -> Any:
    """Rounded down; by 0 it gives 0. By -1 it is a change of sign: the host's division would stop at -2**31 / -1."""
    zero, minus_one = ir.Constant(x.type, 0), ir.Constant(x.type, -1)
    by_zero, by_minus_one = b.icmp_signed("==", y, zero), b.icmp_signed("==", y, minus_one)
    divisor = b.select(b.or_(by_zero, by_minus_one), ir.Constant(x.type, 1), y)
    quotient, rest = b.sdiv(x, divisor), b.srem(x, divisor)
    other_signs = b.icmp_signed("<", b.xor(rest, divisor), zero)
    down = b.and_(b.icmp_signed("!=", rest, zero), other_signs)
    if which == i.FLOOR_DIVIDE:
        found = b.select(down, b.add(quotient, minus_one), quotient)
        found = b.select(by_minus_one, b.sub(zero, x), found)
    else:
        found = b.select(down, b.add(rest, divisor), rest)
        found = b.select(by_minus_one, zero, found)
    return b.select(by_zero, zero, found)


def _bitwise(b: ir.IRBuilder, which: int, x: Any, y: Any) -> Any:
    if which in (i.AND, i.OR, i.XOR):
        return (b.and_, b.or_, b.xor)[which](x, y)
    width = x.type.width
    inside = b.icmp_unsigned("<", y, ir.Constant(y.type, width))
    by = b.select(inside, y, ir.Constant(y.type, 0))
    if which == i.SHIFT_LEFT:
        return b.select(inside, b.shl(x, by), ir.Constant(x.type, 0))
    return b.select(inside, b.ashr(x, by), b.ashr(x, ir.Constant(x.type, width - 1)))


def _compare(b: ir.IRBuilder, which: int, x: Any, y: Any) -> Any:
    sign = COMPARISONS[which]
    if isinstance(x.type, ir.IntType):
        holds = b.icmp_signed(sign, x, y)
    else:
        holds = (b.fcmp_unordered if sign == "!=" else b.fcmp_ordered)(sign, x, y)
    return b.zext(holds, BYTE)


def _unary(b: ir.IRBuilder, which: int, x: Any) -> Any:
    integer = isinstance(x.type, ir.IntType)
    if which == i.NOT:
        return b.xor(x, ir.Constant(x.type, 1))
    if which == i.INVERT:
        return b.not_(x)
    minus = b.sub(ir.Constant(x.type, 0), x) if integer else b.fneg(x)
    if which == i.NEGATE:
        return minus
    if integer:
        return b.select(b.icmp_signed("<", x, ir.Constant(x.type, 0)), minus, x)
    return b.call(b.module.declare_intrinsic("llvm.fabs", [x.type]), [x])


def _cast(b: ir.IRBuilder, have: int, wanted: int, x: Any) -> Any:
    source, target = KINDS[have], KINDS[wanted]
    integer, to_integer = isinstance(source, ir.IntType), isinstance(target, ir.IntType)
    if wanted == i.BOOL:
        zero = ir.Constant(source, 0)
        return b.zext(b.icmp_signed("!=", x, zero) if integer else b.fcmp_unordered("!=", x, zero), BYTE)
    if integer and to_integer:
        if source.width >= target.width:
            return x if source.width == target.width else b.trunc(x, target)
        return (b.zext if have in UNSIGNED else b.sext)(x, target)
    if integer:
        return (b.uitofp if have in UNSIGNED else b.sitofp)(x, target)
    if to_integer and wanted in UNSIGNED:
        return b.trunc(b.fptosi(x, LONG), target)
    if to_integer:
        return b.fptosi(x, target)
    return x if source is target else (b.fpext if target is DOUBLE else b.fptrunc)(x, target)


def _computed(b: ir.IRBuilder, step: Step, given: list[Any]) -> Any:
    if step.op == i.ARITHMETIC:
        return _arithmetic(b, step.which, *given)
    if step.op == i.BITWISE:
        return _bitwise(b, step.which, *given)
    if step.op == i.COMPARE:
        return _compare(b, step.which, *given)
    if step.op == i.UNARY:
        return _unary(b, step.which, *given)
    if step.op == i.CAST:
        return _cast(b, step.type, step.which, *given)
    if step.op == i.SELECT:
        holds, x, y = given
        return b.select(b.icmp_signed("!=", holds, ir.Constant(BYTE, 0)), x, y)
    target = KINDS[step.type]  # SET, RENAME: the same bits
    return given[0] if given[0].type == target else b.bitcast(given[0], target)


def operand_type(step: Step, number: int) -> int:
    return i.BOOL if step.op == i.SELECT and number == 0 else step.type


# ---------------------------------------------------------------------- loops
class _Loop:
    """The text of one function: all instructions of a stretch, thread after thread."""

    def __init__(self, module: ir.Module, name: str, stretch: Stretch, dense: bool) -> None:
        function = ir.Function(module, SIGNATURE, name)
        self._values, self._stride, self._index, self._count, self._places = function.args
        self._group = _Distinct(module)
        entry, body, end = (function.append_basic_block(each) for each in ("entry", "body", "end"))
        self._b = b = ir.IRBuilder(entry)
        self._bases: dict[int, Any] = {}
        for place in {o.place for step in stretch for o in step.operands if o.step < 0} | {s.store for s in stretch}:
            if place >= 0:
                at = b.inttoptr(b.add(self._places, ir.Constant(LONG, 8 * place)), LONG.as_pointer())
                self._bases[place] = b.add(self._values, b.mul(self._stride, b.load(at)))
        self._constants = {
            (o.place, kind): b.load(self._pointer(o.place, kind, ir.Constant(LONG, 0)))
            for step in stretch
            for number, o in enumerate(step.operands)
            if o.constant
            for kind in (operand_type(step, number),)
        }
        nobody = b.icmp_signed("<=", self._count, ir.Constant(LONG, 0))
        b.cbranch(nobody, end, body)
        b.position_at_end(body)
        k = b.phi(LONG)
        k.add_incoming(ir.Constant(LONG, 0), entry)
        thread = k if dense else self._thread(k)
        self._steps(stretch, thread)
        following = b.add(k, ir.Constant(LONG, 1))
        k.add_incoming(following, body)
        again = b.cbranch(b.icmp_signed("<", following, self._count), body, end)
        if dense:  # no thread needs what another stores: places of results are not those of operands
            self._mark_parallel(module, again)
        b.position_at_end(end)
        b.ret_void()

    def _mark_parallel(self, module: ir.Module, branch: Any) -> None:
        accesses = module.add_metadata([ir.MetaDataString(module, "llvm.loop.parallel_accesses"), self._group])
        loop = _Distinct(module, [accesses])
        branch.set_metadata("llvm.loop", loop)

    def _thread(self, k: Any) -> Any:
        b = self._b
        at = b.inttoptr(b.add(self._index, b.mul(k, ir.Constant(LONG, 4))), INT.as_pointer())
        return b.zext(b.load(at), LONG)

    def _pointer(self, place: int, kind: int, thread: Any) -> Any:
        b = self._b
        first = b.inttoptr(self._bases[place], KINDS[kind].as_pointer())
        return b.gep(first, [thread], source_etype=KINDS[kind])

    def _steps(self, stretch: Stretch, thread: Any) -> None:
        b = self._b
        made: list[Any] = []
        loaded: dict[tuple[int, int], Any] = {}
        for step in stretch:
            given = []
            for number, operand in enumerate(step.operands):
                kind = operand_type(step, number)
                if operand.step >= 0:
                    given.append(made[operand.step])
                    continue
                key = operand.place, kind
                if operand.constant:
                    given.append(self._constants[key])
                    continue
                if key not in loaded:
                    loaded[key] = b.load(self._pointer(*key, thread))
                    loaded[key].set_metadata("llvm.access.group", self._group)
                given.append(loaded[key])
            made.append(_computed(b, step, given))
        for step, value in zip(stretch, made, strict=True):
            if step.store >= 0:
                stored = b.store(value, self._pointer(step.store, result_type(step), thread))
                stored.set_metadata("llvm.access.group", self._group)


class _Distinct(ir.MDValue):  # type: ignore[misc]
    """Metadata that is no other's: the mark of a loop, which names itself first, or of a group of accesses."""

    def __init__(self, module: ir.Module, operands: Iterable[Any] = ()) -> None:
        super().__init__(module, list(operands), name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        named = [self, *self.operands] if self.operands else []
        buf += ("distinct !{ ", ", ".join(each.get_reference() for each in named), " }\n")


# ---------------------------------------------------------------------- compilation
_known: dict[Stretch, tuple[int, int]] = {}


def _text_of(stretches: list[Stretch], names: list[tuple[str, str]]) -> str:
    module = ir.Module("stretches")
    module.triple, module.data_layout = llvm.get_process_triple(), str(host().target_data)
    for stretch, (some, every) in zip(stretches, names, strict=True):
        _Loop(module, some, stretch, dense=False)
        _Loop(module, every, stretch, dense=True)
    return str(module)


def _compile(stretches: list[Stretch]) -> None:
    """Compile stretches, or load what an earlier run has compiled."""
    key = hashlib.sha256(f"{processor()} {stretches!r}".encode()).hexdigest()[:24]
    names = [(f"some_{key}_{number}", f"all_{key}_{number}") for number in range(len(stretches))]
    kept = Path(FOLDER) / f"{key}.o"
    code = kept.read_bytes() if kept.exists() else b""
    if not code:
        module = llvm.parse_assembly(_text_of(stretches, names))
        module.verify()
        code = object_of(module, speed_level=2)
        with contextlib.suppress(OSError):
            write_whole(kept, code)
    addresses = load_object(code, [name for pair in names for name in pair])
    for number, stretch in enumerate(stretches):
        _known[stretch] = addresses[2 * number], addresses[2 * number + 1]


def loaded(stretches: Iterable[tuple[Stretch, list[int]]]) -> tuple[np.ndarray, np.ndarray]:
    """Of each stretch its code for some threads of a batch and for all, and where its places begin; the places."""
    wanted = list(stretches)
    missing = [stretch for stretch in dict.fromkeys(stretch for stretch, _ in wanted) if stretch not in _known]
    if missing:
        _compile(missing)
    rows: list[tuple[int, int, int]] = []
    places: list[int] = []
    for stretch, own in wanted:
        rows.append((*_known[stretch], len(places)))
        places += own
    return np.array(rows, np.int64).reshape(-1, 3), np.array([*places, 0], np.int64)
