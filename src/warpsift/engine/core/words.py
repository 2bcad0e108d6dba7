"""Single words of the engine's memory and bits of a word, for compiled functions; plain Python without the JIT."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from warpsift.engine.core.arena import views
from warpsift.engine.core.jit import JIT_ENABLED


def _plain_load(address: int, index: int) -> Any:
    return views[int(address)][index]


def _plain_store(address: int, index: int, value: int) -> None:
    views[int(address)][index] = value


@intrinsic
def _jit_load(typing_context, address, index):
    def codegen(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _jit_store(typing_context, address, index, value):
    def codegen(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _plain_prefetch(address: int, index: int) -> None:
    pass


@intrinsic
def _jit_prefetch(typing_context, address, index):
    def codegen(context, builder, signature, arguments):
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
def _jit_ctz(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.int64), codegen


@intrinsic
def _jit_popcount(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), codegen


# ctz(word): position of the lowest set bit of a word that is not 0; popcount(word): number of set bits.
ctz: Any = _jit_ctz if JIT_ENABLED else _plain_ctz
popcount: Any = _jit_popcount if JIT_ENABLED else _plain_popcount


@intrinsic
def _jit_load32(typing_context, address):
    def codegen(context, builder, signature, arguments):
        word = ir.IntType(32)
        return builder.sext(builder.load(builder.inttoptr(arguments[0], word.as_pointer())), ir.IntType(64))

    return types.int64(types.int64), codegen


@intrinsic
def _jit_or32(typing_context, address, bits):
    def codegen(context, builder, signature, arguments):
        word = ir.IntType(32)
        pointer = builder.inttoptr(arguments[0], word.as_pointer())
        builder.store(builder.or_(builder.load(pointer), builder.trunc(arguments[1], word)), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


def _plain_load32(address: int) -> Any:
    return np.int64(ctypes.c_int32.from_address(int(address)).value)


def _plain_or32(address: int, bits: int) -> None:
    ctypes.c_uint32.from_address(int(address)).value |= int(bits) & 0xFFFFFFFF


# load32(host address): the 32-bit word there; or32(host address, bits): set bits in it.
load32: Any = _jit_load32 if JIT_ENABLED else _plain_load32
or32: Any = _jit_or32 if JIT_ENABLED else _plain_or32
