"""What the machine computes: loops over the active threads, in the types that they are compiled for.

`view` is all values of the machine as elements of one type; `d`, `a`, `b` are where result and operands begin there.
`index` are the positions of the active threads in their batch, `n` of them; if all are active (`dense`) a thread's
position is its number and the loop needs no index. Results are NumPy's, bit for bit: integers wrap around, a shift by
more than the width leaves nothing, a division by zero gives 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from warpsift.simt.vector_machine import instruction_set as i

OPTIONS = {"error_model": "numpy", "boundscheck": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _binary(function):
    @njit(**OPTIONS)
    def loop(view, d, a, b, index, n, dense):
        if dense:
            for k in range(n):
                view[d + k] = function(view[a + k], view[b + k])
        else:
            for k in range(n):
                p = index[k]
                view[d + p] = function(view[a + p], view[b + p])

    return loop


def _comparison(function):
    @njit(**OPTIONS)
    def loop(truth, view, d, a, b, index, n, dense):
        if dense:
            for k in range(n):
                truth[d + k] = function(view[a + k], view[b + k])
        else:
            for k in range(n):
                p = index[k]
                truth[d + p] = function(view[a + p], view[b + p])

    return loop


def _unary(function):
    @njit(**OPTIONS)
    def loop(view, d, a, index, n, dense):
        if dense:
            for k in range(n):
                view[d + k] = function(view[a + k])
        else:
            for k in range(n):
                p = index[k]
                view[d + p] = function(view[a + p])

    return loop


@register_jitable
def _smaller(x, y):
    return x if x <= y or x != x else y  # NumPy hands on what is not a number, the first of two


@register_jitable
def _larger(x, y):
    return x if x >= y or x != x else y


@register_jitable
def _quotient(x, y):
    if y == -1:  # the one quotient that does not fit wraps around; the host's division would stop the program
        return -x
    return x // y if y != 0 else x * 0


@register_jitable
def _remainder(x, y):
    return x % y if y != 0 and y != -1 else x * 0


_add = _binary(register_jitable(lambda x, y: x + y))
_subtract = _binary(register_jitable(lambda x, y: x - y))
_multiply = _binary(register_jitable(lambda x, y: x * y))
_minimum, _maximum = _binary(_smaller), _binary(_larger)
_divide = _binary(register_jitable(lambda x, y: x / y))
_floor_divide, _modulo = _binary(_quotient), _binary(_remainder)
_and = _binary(register_jitable(lambda x, y: x & y))
_or = _binary(register_jitable(lambda x, y: x | y))
_xor = _binary(register_jitable(lambda x, y: x ^ y))
_equal = _comparison(register_jitable(lambda x, y: x == y))
_not_equal = _comparison(register_jitable(lambda x, y: x != y))
_less = _comparison(register_jitable(lambda x, y: x < y))
_less_equal = _comparison(register_jitable(lambda x, y: x <= y))
_greater = _comparison(register_jitable(lambda x, y: x > y))
_greater_equal = _comparison(register_jitable(lambda x, y: x >= y))
_negate = _unary(register_jitable(lambda x: -x))
_invert = _unary(register_jitable(lambda x: ~x))
_not = _unary(register_jitable(lambda x: x ^ 1))
_absolute = _unary(register_jitable(abs))


@njit(**OPTIONS)
def _shift(view, left, width, d, a, b, index, n, dense):
    for k in range(n):
        p = np.int64(k) if dense else np.int64(index[k])
        value, by = np.int64(view[a + p]), np.int64(view[b + p])
        if by < 0 or by >= width:
            view[d + p] = 0 if left or value >= 0 else -1
        elif left:
            view[d + p] = value << by
        else:
            view[d + p] = value >> by


@njit(**OPTIONS)
def arithmetic(view, which, d, a, b, index, n, dense):
    if which == i.ADD:
        _add(view, d, a, b, index, n, dense)
    elif which == i.SUB:
        _subtract(view, d, a, b, index, n, dense)
    elif which == i.MUL:
        _multiply(view, d, a, b, index, n, dense)
    elif which == i.MIN:
        _minimum(view, d, a, b, index, n, dense)
    else:
        _maximum(view, d, a, b, index, n, dense)


@njit(**OPTIONS)
def whole_division(view, which, d, a, b, index, n, dense):
    if which == i.FLOOR_DIVIDE:
        _floor_divide(view, d, a, b, index, n, dense)
    else:
        _modulo(view, d, a, b, index, n, dense)


@njit(**OPTIONS)
def bitwise(view, which, d, a, b, index, n, dense):
    if which == i.AND:
        _and(view, d, a, b, index, n, dense)
    elif which == i.OR:
        _or(view, d, a, b, index, n, dense)
    else:
        _xor(view, d, a, b, index, n, dense)


@njit(**OPTIONS)
def compare(truth, view, which, d, a, b, index, n, dense):
    if which == i.EQUAL:
        _equal(truth, view, d, a, b, index, n, dense)
    elif which == i.NOT_EQUAL:
        _not_equal(truth, view, d, a, b, index, n, dense)
    elif which == i.LESS:
        _less(truth, view, d, a, b, index, n, dense)
    elif which == i.LESS_EQUAL:
        _less_equal(truth, view, d, a, b, index, n, dense)
    elif which == i.GREATER:
        _greater(truth, view, d, a, b, index, n, dense)
    else:
        _greater_equal(truth, view, d, a, b, index, n, dense)


@njit(**OPTIONS)
def sign(view, which, d, a, index, n, dense):
    if which == i.NEGATE:
        _negate(view, d, a, index, n, dense)
    else:
        _absolute(view, d, a, index, n, dense)


@njit(**OPTIONS)
def convert(target, d, source, a, index, n, dense):
    """Values of one type in another; also a copy."""
    if dense:
        for k in range(n):
            target[d + k] = source[a + k]
    else:
        for k in range(n):
            p = index[k]
            target[d + p] = source[a + p]


@njit(**OPTIONS)
def truth_of(truth, d, source, a, index, n, dense):
    """Whether values are not zero."""
    for k in range(n):
        p = np.int64(k) if dense else np.int64(index[k])
        truth[d + p] = source[a + p] != 0


@njit(**OPTIONS)
def choose(view, d, truth, c, a, b, index, n, dense):
    if dense:
        for k in range(n):
            view[d + k] = view[a + k] if truth[c + k] else view[b + k]
    else:
        for k in range(n):
            p = index[k]
            view[d + p] = view[a + p] if truth[c + p] else view[b + p]


@njit(**OPTIONS)
def _from(source, a, values, kind, base, index, n, dense):
    """A row's values of type `source` converted to type `kind`, from `base` on (in bytes)."""
    bytes_, ints, words, longs, floats, doubles = values
    if kind == i.BOOL:
        truth_of(bytes_, base, source, a, index, n, dense)
    elif kind == i.BYTE:
        convert(bytes_, base, source, a, index, n, dense)
    elif kind == i.INT32:
        convert(ints, base >> 2, source, a, index, n, dense)
    elif kind == i.UINT32:
        convert(words, base >> 2, source, a, index, n, dense)
    elif kind == i.INT64:
        convert(longs, base >> 3, source, a, index, n, dense)
    elif kind == i.FLOAT32:
        convert(floats, base >> 2, source, a, index, n, dense)
    else:
        convert(doubles, base >> 3, source, a, index, n, dense)


@njit(**OPTIONS)
def cast(values, row, d, a, index, n, dense):
    """CAST, from places in bytes."""
    bytes_, ints, words, longs, floats, doubles = values
    kind, wanted = row[i.TYPE], row[i.X]
    if kind <= i.BYTE:
        _from(bytes_, a, values, wanted, d, index, n, dense)
    elif kind == i.INT32:
        _from(ints, a >> 2, values, wanted, d, index, n, dense)
    elif kind == i.UINT32:
        _from(words, a >> 2, values, wanted, d, index, n, dense)
    elif kind == i.INT64:
        _from(longs, a >> 3, values, wanted, d, index, n, dense)
    elif kind == i.FLOAT32:
        _from(floats, a >> 2, values, wanted, d, index, n, dense)
    else:
        _from(doubles, a >> 3, values, wanted, d, index, n, dense)


@njit(**OPTIONS)
def compute(values, row, places, index, n, dense):
    """The values of an instruction up to SELECT; `places`: where result and operands begin, in bytes."""
    bytes_, ints, words, longs, floats, doubles = values
    d, a, b, c = places
    op, kind, which = row[i.OP], row[i.TYPE], row[i.X]
    if op == i.CAST:
        cast(values, row, d, a, index, n, dense)
    elif op == i.ARITHMETIC and which <= i.MAX:
        if kind == i.INT32:
            arithmetic(ints, which, d >> 2, a >> 2, b >> 2, index, n, dense)
        elif kind == i.INT64:
            arithmetic(longs, which, d >> 3, a >> 3, b >> 3, index, n, dense)
        elif kind == i.FLOAT32:
            arithmetic(floats, which, d >> 2, a >> 2, b >> 2, index, n, dense)
        else:
            arithmetic(doubles, which, d >> 3, a >> 3, b >> 3, index, n, dense)
    elif op == i.ARITHMETIC:
        if kind == i.INT32:
            whole_division(ints, which, d >> 2, a >> 2, b >> 2, index, n, dense)
        elif kind == i.INT64:
            whole_division(longs, which, d >> 3, a >> 3, b >> 3, index, n, dense)
        elif kind == i.FLOAT32:
            _divide(floats, d >> 2, a >> 2, b >> 2, index, n, dense)
        else:
            _divide(doubles, d >> 3, a >> 3, b >> 3, index, n, dense)
    elif op == i.BITWISE and which <= i.XOR:
        if kind <= i.BYTE:
            bitwise(bytes_, which, d, a, b, index, n, dense)
        elif kind == i.INT32:
            bitwise(ints, which, d >> 2, a >> 2, b >> 2, index, n, dense)
        else:
            bitwise(longs, which, d >> 3, a >> 3, b >> 3, index, n, dense)
    elif op == i.BITWISE:
        if kind == i.INT32:
            _shift(ints, which == i.SHIFT_LEFT, 32, d >> 2, a >> 2, b >> 2, index, n, dense)
        else:
            _shift(longs, which == i.SHIFT_LEFT, 64, d >> 3, a >> 3, b >> 3, index, n, dense)
    elif op == i.COMPARE:
        if kind == i.INT32:
            compare(bytes_, ints, which, d, a >> 2, b >> 2, index, n, dense)
        elif kind == i.INT64:
            compare(bytes_, longs, which, d, a >> 3, b >> 3, index, n, dense)
        elif kind == i.FLOAT32:
            compare(bytes_, floats, which, d, a >> 2, b >> 2, index, n, dense)
        else:
            compare(bytes_, doubles, which, d, a >> 3, b >> 3, index, n, dense)
    elif op == i.SELECT:
        if kind <= i.BYTE:
            choose(bytes_, d, bytes_, a, b, c, index, n, dense)
        elif i.INT32 <= kind <= i.UINT32 or kind == i.FLOAT32:
            choose(words, d >> 2, bytes_, a, b >> 2, c >> 2, index, n, dense)
        else:
            choose(longs, d >> 3, bytes_, a, b >> 3, c >> 3, index, n, dense)
    elif which == i.NOT:
        _not(bytes_, d, a, index, n, dense)
    elif which == i.INVERT:
        if kind == i.INT32:
            _invert(ints, d >> 2, a >> 2, index, n, dense)
        else:
            _invert(longs, d >> 3, a >> 3, index, n, dense)
    elif kind == i.INT32:
        sign(ints, which, d >> 2, a >> 2, index, n, dense)
    elif kind == i.INT64:
        sign(longs, which, d >> 3, a >> 3, index, n, dense)
    elif kind == i.FLOAT32:
        sign(floats, which, d >> 2, a >> 2, index, n, dense)
    else:
        sign(doubles, which, d >> 3, a >> 3, index, n, dense)
