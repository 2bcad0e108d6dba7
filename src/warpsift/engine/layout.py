"""How the engine holds its state: records at fixed addresses, read and written in place.

Every component owns one *record* (its configuration, its counters, the addresses of its tables) and some
*tables* (arrays of records, or of int64). The root record `S` holds the simulated time; behind it, in the same block of
memory and at distances known when the code is compiled, lie the records of the components. `S` is the only thing handed
from function to function: Numba counts references to arrays, and passing them costs more than the model itself. Records
and rows are reached through typed accessors,

    dram = component("dram", DRAM)       # once, at module level
    channel = accessor(CHANNEL)
    D = dram(S)                          # inside a kernel: references, to which fields are written in place
    c = channel(D.p_channels, 3)

Geometry is data, so changing a machine compiles nothing. With NUMBA_DISABLE_JIT=1 the same sources run as
plain Python on the same memory (rows are then np.record views), so a breakpoint inside the L2 works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, typeof_impl

from warpsift.engine import cache

JIT_ENABLED: bool = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
# Functions of up to this much bytecode are inlined. Every function that is not starts on a page of its own, and more
# than a few such hot ones compete for the same sets of the host's instruction cache (measured: 30 % of the time).
INLINED_BYTECODE = 400
JIT_OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False, "no_cfunc_wrapper": True}
INNER_OPTIONS = {**JIT_OPTIONS, "no_cpython_wrapper": True}

i64 = types.int64
void = types.void

FOREVER = 1 << 62  # a time that never comes
# Tables begin at a line of the host's cache, and the records that are touched most fit one: the model is larger than
# the host's first caches, so its speed is a matter of how many of their lines it touches.
HOST_LINE_BYTES = 64

# Names of the component records, in the order in which they lie behind the root. A new component adds one here.
COMPONENTS = ("wheel", "sampler", "sm", "l1", "noc", "l2", "dram", "mff", "scu")
COMPONENT_BYTES = 19 * HOST_LINE_BYTES  # room for each; odd, so that they do not compete for the same sets of a cache

ROOT = np.dtype(
    [
        ("now", np.int64),  # core cycle
        ("error", np.int64),  # 0, or an ERROR_ code (checks.py says what it means): the run stops after this cycle
        ("error_where", np.int64),  # which unit of the component
        ("checks", np.int64),  # 1: conservation checks on (test mode)
        ("p_arrays", np.int64),  # table of arrays.py
        ("address", np.int64),  # of this record
    ],
    align=True,
)
S_t = numba.from_dtype(ROOT)
assert ROOT.itemsize <= HOST_LINE_BYTES

# Arrays by address, so that plain Python finds the memory behind an address. Emptied by Arena.close.
_views: dict[int, np.ndarray] = {}


class Inner:
    """A kernel that other kernels call. It has no wrapper for Python, and calling it from there must not crash."""

    def __init__(self, dispatcher: Any, signature: tuple[Any, ...]) -> None:
        self.dispatcher = dispatcher
        self.signature = signature  # result, arguments

    def __call__(self, *arguments: Any) -> Any:
        name = self.dispatcher.py_func.__name__
        raise TypeError(f"{name} is called by other kernels; from Python write from_python({name})(...)")


@typeof_impl.register(Inner)
def _typeof_inner(value: Inner, context: Any) -> Any:
    return types.Dispatcher(value.dispatcher)


# Functions that have been declared and not yet compiled, callees first.
_pending: list[Inner] = []


def kernel(result: Any, *arguments: Any) -> Callable[[Callable], Callable]:
    """Declare a function of the engine, for other functions of the engine to call; plain Python without the JIT.

    It is compiled for the signature given here, so that nothing is compiled for types that a literal happens to have,
    and only when an entry point needs it. It has no wrapper for Python: those take a sixth of the compiler's time.
    """

    def decorate(function: Callable) -> Callable:
        if not JIT_ENABLED:
            return function
        short = len(function.__code__.co_code) <= INLINED_BYTECODE
        declared = Inner(numba.njit(forceinline=short, **INNER_OPTIONS)(function), (result, *arguments))
        _pending.append(declared)
        return declared

    return decorate


def entry(part: str, result: Any, *arguments: Any) -> Callable[[Callable], Callable]:
    """Declare a function that Python calls: compiled now with all that it calls, or loaded when it is first called.

    Only entry points are kept in the cache, since each brings along what it calls. `part` is what the progress line
    says is being compiled.
    """

    def decorate(function: Callable) -> Callable:
        if not JIT_ENABLED:
            return function
        name = f"{function.__module__}.{function.__name__}"
        with cache.directory():
            compiled = numba.njit(cache=True, **JIT_OPTIONS)(function)
            if not cache.has(name):
                with cache.compiling(part) as step:
                    for callee in _pending:
                        callee.dispatcher.compile(callee.signature[1:])
                        callee.dispatcher.disable_compile()  # narrow fields of records are widened to its arguments
                        step()
                    _pending.clear()
                    compiled.compile(arguments)
                    step()
                cache.remember(name)
        return compiled

    return decorate


def from_python(function: Any) -> Callable:
    """A kernel made callable from Python, for tests: compiled, with what it calls, when it is first called."""
    if not JIT_ENABLED:
        return function
    with cache.directory():
        return numba.njit(cache=True, **JIT_OPTIONS)(function.dispatcher.py_func)


def accessor(dtype: np.dtype) -> Any:
    """A function (address of a table, index) -> reference to that row, usable inside kernels."""
    if not JIT_ENABLED:
        return lambda address, index: _views[int(address)][index]
    record_type = numba.from_dtype(dtype)
    itemsize = dtype.itemsize

    @intrinsic
    def row(typing_context, address, index):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            base, position = arguments
            offset = builder.mul(position, context.get_constant(types.int64, itemsize))
            return builder.inttoptr(builder.add(base, offset), context.get_value_type(record_type))

        return record_type(types.int64, types.int64), codegen

    return row


def component_offset(name: str) -> int:
    """Distance of a component's record from the root."""
    return HOST_LINE_BYTES + COMPONENTS.index(name) * COMPONENT_BYTES


def component(name: str, dtype: np.dtype) -> Any:
    """A function (root) -> reference to the component's record, usable inside kernels."""
    offset = component_offset(name)
    if dtype.itemsize > COMPONENT_BYTES:
        raise ValueError(f"the record of {name!r} has {dtype.itemsize} bytes; raise COMPONENT_BYTES")
    if not JIT_ENABLED:
        return lambda S: _views[int(S.address) + offset][0]
    record_type = numba.from_dtype(dtype)

    @intrinsic
    def record(typing_context, S):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            root = builder.ptrtoint(arguments[0], cgutils.intp_t)
            where = builder.add(root, context.get_constant(types.int64, offset))
            return builder.inttoptr(where, context.get_value_type(record_type))

        return record_type(S_t), codegen

    return record


def _plain_load(address: int, index: int) -> Any:
    return _views[int(address)][index]


def _plain_store(address: int, index: int, value: int) -> None:
    _views[int(address)][index] = value


@intrinsic
def _jit_load(typing_context, address, index):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _jit_store(typing_context, address, index, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _plain_prefetch(address: int, index: int) -> None:
    pass


@intrinsic
def _jit_prefetch(typing_context, address, index):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(builder.add(arguments[0], arguments[1]), cgutils.voidptr_t)
        kind = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", (cgutils.voidptr_t,), ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, kind, kind, kind])
        )
        builder.call(function, [pointer, kind(0), kind(3), kind(1)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


# prefetch(address, bytes behind it): the host should fetch that line of memory now; it will be needed soon.
prefetch: Any = _jit_prefetch if JIT_ENABLED else _plain_prefetch

# load(address, index) and store(address, index, value): a table of plain int64.
load: Any = _jit_load if JIT_ENABLED else _plain_load
store: Any = _jit_store if JIT_ENABLED else _plain_store


def _plain_ctz(word: int) -> Any:
    return np.int64((int(word) & -int(word)).bit_length() - 1)


def _plain_popcount(word: int) -> Any:
    return np.int64((int(word) & 0xFFFFFFFFFFFFFFFF).bit_count())


@intrinsic
def _jit_ctz(typing_context, word):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.int64), codegen


@intrinsic
def _jit_popcount(typing_context, word):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), codegen


# ctz(word): position of the lowest set bit of a word that is not 0; popcount(word): number of set bits.
ctz: Any = _jit_ctz if JIT_ENABLED else _plain_ctz
popcount: Any = _jit_popcount if JIT_ENABLED else _plain_popcount


class Arena:
    """The memory of one engine: allocates records and tables, keeps them alive, and shows them by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.table("block", np.uint8, HOST_LINE_BYTES + len(COMPONENTS) * COMPONENT_BYTES)
        root = self.arrays["block"][: ROOT.itemsize].view(ROOT).view(np.recarray)
        self.root: Any = root[0]
        self.root.address = root.ctypes.data

    def table(self, name: str, dtype: Any, rows: int) -> int:
        """Allocate a zeroed table and return its address."""
        if name in self.arrays:
            raise ValueError(f"engine table {name!r} is allocated twice")
        bytes_needed = max(int(rows), 1) * np.dtype(dtype).itemsize
        room = np.zeros(bytes_needed + HOST_LINE_BYTES, np.uint8)
        skipped = -room.ctypes.data % HOST_LINE_BYTES
        return self.adopt(name, room[skipped : skipped + bytes_needed].view(dtype))

    def adopt(self, name: str, array: np.ndarray) -> int:
        """Keep an existing contiguous array alive under a name and return its address."""
        array = np.ascontiguousarray(array)
        view = array.view(np.recarray) if array.dtype.names else array
        self.arrays[name] = view
        address = int(array.ctypes.data)
        if not JIT_ENABLED:  # compiled code needs no views, and they would keep an engine's memory after its end
            _views[address] = view
        return address

    def release(self, name: str) -> None:
        """Forget one table (a consumed chunk of the stream)."""
        array = self.arrays.pop(name)
        _views.pop(int(array.ctypes.data), None)

    def record(self, name: str, dtype: np.dtype) -> Any:
        """The record of a component, for the host to fill in."""
        offset = component_offset(name)
        self.adopt(name, self.arrays["block"][offset : offset + dtype.itemsize].view(dtype))
        return self.arrays[name][0]

    def close(self) -> None:
        for name in list(self.arrays):
            self.release(name)
