"""Numbers out of text, compiled: the inner loop of every text format.

Two scanners: `scan_rows` for formats with a fixed number of columns per line, `scan_lists` for METIS, where a line
is a list of any length and an empty line means something. Both stop at the first thing they do not understand and
say which line and byte it is; the words of the error are made in `text.py`. Real numbers come out correctly rounded
to float32: the few that the quick way cannot settle are left to Python's float(). One file, since Numba's cache does
not see an edit in a callee of another.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

FINE, NOT_INTEGER, MISSING, EXTRA, TOO_LARGE, OUT_OF_RANGE, BAD_LEAD, EXTRA_LINE = range(8)

_NEWLINE, _TAB, _RETURN, _BLANK, _COMMA, _SEMICOLON = 10, 9, 13, 32, 44, 59
_PLUS, _MINUS, _POINT, _ZERO, _NINE, _UPPER_E, _LOWER_E = 43, 45, 46, 48, 57, 69, 101
_POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact in double precision up to 1e22
_LARGEST = np.int64(2**63 - 1)
_WORD = 8  # bytes that `load_word` reads: the caller sees to it that the text has them
_WHOLE_POWERS = np.array([10**power for power in range(2 * _WORD + 1)], np.int64)
_ZEROS, _TO_NINE, _HIGH = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x76, 0x80))
_ALL, _NIBBLES = np.uint64(8 * _WORD), np.uint64(0x0F0F0F0F0F0F0F0F)
_PAIRS, _FOURS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_TENS, _HUNDREDS, _THOUSANDS = np.uint64(2561), np.uint64(6553601), np.uint64(42949672960001)
_8, _16, _32 = np.uint64(8), np.uint64(16), np.uint64(32)
_PLAIN_BYTES = 3 * _WORD  # that the quick way looks at for a number: two words of digits, and what ends them
_EXACT_DIGITS = 15  # of a number that is exact in double precision, divided by an exact power of ten
_SURELY_FITS = (_LARGEST - 9) // 10  # with any further digit; spares a division for each


@njit(cache=True, error_model="numpy")
def _skip_blanks(text, at):
    while at < text.size and (text[at] == _BLANK or text[at] == _TAB or text[at] == _RETURN):
        at += 1
    return at


@njit(cache=True, error_model="numpy")
def _next_line(text, at):
    while at < text.size and text[at] != _NEWLINE:
        at += 1
    return at + 1


@njit(cache=True, error_model="numpy")
def _ends_token(text, at):
    if at >= text.size:
        return True
    byte = text[at]
    return byte <= _BLANK or byte in (_COMMA, _SEMICOLON)


@njit(cache=True, error_model="numpy")
def _scan_integer(text, at):
    """Value, position after it, status."""
    negative = False
    if at < text.size and (text[at] == _MINUS or text[at] == _PLUS):
        negative = text[at] == _MINUS
        at += 1
    first = at
    value = np.int64(0)
    while at < text.size and _ZERO <= text[at] <= _NINE:
        digit = np.int64(text[at]) - _ZERO
        if value > _SURELY_FITS and value > (_LARGEST - digit) // 10:
            return value, at, TOO_LARGE
        value = value * 10 + digit
        at += 1
    if at == first or not _ends_token(text, at):
        return value, at, NOT_INTEGER
    return (-value if negative else value), at, FINE


@njit(cache=True, error_model="numpy")
def _scan_real(text, at):
    """Value, position after it, whether it is settled."""
    sign = 1.0
    if text[at] == _MINUS or text[at] == _PLUS:
        sign = -1.0 if text[at] == _MINUS else 1.0
        at += 1
    mantissa = np.uint64(0)
    digits = 0  # significant ones
    seen = False
    exponent = 0
    after_point = False
    while at < text.size:
        byte = text[at]
        if _ZERO <= byte <= _NINE:
            seen = True
            if digits < 19:  # more would overflow and are left to Python anyway
                mantissa = mantissa * np.uint64(10) + np.uint64(byte - _ZERO)
            digits += 1 if mantissa > 0 else 0
            exponent -= 1 if after_point else 0
        elif byte == _POINT and not after_point:
            after_point = True
        else:
            break
        at += 1
    if seen and at < text.size and (text[at] == _LOWER_E or text[at] == _UPPER_E):
        power, at, status = _scan_integer(text, at + 1)
        if status != FINE or abs(power) > 400:
            return 0.0, at, False
        exponent += power
    if not seen or digits > 18 or abs(exponent) > 22 or not _ends_token(text, at):
        return 0.0, at, False
    value = np.float64(mantissa)
    value = value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]
    if mantissa > np.uint64(1 << 53):  # up to 2 units in the last place off: settled if float32 cannot tell
        slack = value * 2.0**-51
        if np.float32(value - slack) != np.float32(value + slack):
            return 0.0, at, False
    return sign * value, at, True


@njit(cache=True, error_model="numpy")
def skip_comments(text, at, line, mark, other_mark):
    """Position and number of the first line from here that is neither empty nor begins with a mark."""
    while at < text.size:
        first = at
        while first < text.size and text[first] != _NEWLINE and text[first] <= _BLANK:
            first += 1
        if first < text.size and text[first] not in (_NEWLINE, mark, other_mark):
            break
        at = min(_next_line(text, first), text.size)
        line += 1
    return at, line


@njit(cache=True, error_model="numpy")
def count_tokens(text, at):
    """How many words there are, each ended by a blank or a line end."""
    tokens = 0
    before = True
    for position in range(at, text.size):
        blank = text[position] <= _BLANK
        tokens += 1 if before and not blank else 0
        before = blank
    return tokens


@njit(cache=True, error_model="numpy")
def token_end(text, at):
    while not _ends_token(text, at):
        at += 1
    return at


@njit(cache=True, error_model="numpy")
def count_line_ends(text, at):
    """Lines of any length, the rest after the last line end included; many bytes at a time."""
    ends = 0
    for position in range(at, text.size):
        ends += text[position] == _NEWLINE
    return ends + 1


@njit(cache=True, error_model="numpy")
def count_lines(text, at, shortest):
    """Lines of at least this many bytes, the rest after the last line end included."""
    lines = 0
    first = at
    for position in range(at, text.size):
        if text[position] == _NEWLINE:
            lines += 1 if position - first >= shortest else 0
            first = position + 1
    return lines + 1


@njit(cache=True, error_model="numpy")
def _after_separator(text, at):
    """Past blanks with at most one comma or semicolon among them."""
    at = _skip_blanks(text, at)
    if at < text.size and text[at] in (_COMMA, _SEMICOLON):
        at = _skip_blanks(text, at + 1)
    return at


@njit(cache=True, error_model="numpy")
def _longer(values):
    longer = np.empty(2 * values.size, values.dtype)
    longer[: values.size] = values
    return longer


@intrinsic
def _load_word(typing_context, text, at):
    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        word = builder.load(place, align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(text, types.intp), codegen


@intrinsic
def _count_zeros(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], cgutils.false_bit)  # 64 of a word that is 0

    return types.uint64(types.uint64), codegen


# load_word(array of bytes, place): eight of them as one number, the first one lowest; trailing_zeros(word).
load_word: Any = _load_word
trailing_zeros: Any = _count_zeros


@njit(cache=True, error_model="numpy")
def eight_digits(text, at):
    """How many digits stand there, up to eight, and their value: a word of text as one number, without a branch.

    D. Lemire, "Number parsing at a gigabyte per second", Softw. Pract. Exper. 2021; here the lowest byte that is no
    digit tells where they end.
    """
    digits = load_word(text, at) ^ _ZEROS
    bits = trailing_zeros(((digits + _TO_NINE) | digits) & _HIGH) & (_ALL | (_ALL - _8))  # of all that are digits
    if bits == 0:
        return np.int64(0), np.int64(0)
    digits = (digits << (_ALL - bits)) & _NIBBLES  # those behind them fall out, zeros come in front
    digits = (digits * _TENS) >> _8
    digits = ((digits & _PAIRS) * _HUNDREDS) >> _16
    digits = ((digits & _FOURS) * _THOUSANDS) >> _32
    return np.int64(bits >> np.uint64(3)), np.int64(digits)


@njit(cache=True, error_model="numpy")
def some_digits(text, at):
    """How many digits stand there, up to sixteen, and their value."""
    count, value = eight_digits(text, at)
    if count < _WORD:
        return count, value
    more, rest = eight_digits(text, at + _WORD)
    return count + more, value * _WHOLE_POWERS[more] + rest


@njit(cache=True, error_model="numpy")
def _plain_pair(text, at, bounds):
    """Two integers as nearly all rows have them: digits alone, one blank or tab between. The position after them.

    Anything else, a number out of bounds included, gives `at` itself and is left to the careful way. The caller sees to
    it that the text goes on for `_PLAIN_BYTES` per number.
    """
    digits, first = some_digits(text, at)
    between = at + digits
    more, second = some_digits(text, between + 1)
    if digits == 0 or more == 0 or (text[between] != _BLANK and text[between] != _TAB):
        return at, first, second
    if min(first, second) < bounds[0] or max(first, second) > bounds[1]:
        return at, first, second
    return between + 1 + more, first, second


@njit(cache=True, error_model="numpy")
def _plain_real(text, at):
    """A number of few digits, with or without a point: the position after it (`at` if it is none), and its value."""
    digits, value = some_digits(text, at)
    after = at + digits
    decimals = np.int64(0)
    if text[after] == _POINT:
        decimals, fraction = some_digits(text, after + 1)
        value = value * _WHOLE_POWERS[decimals] + fraction
        after += 1 + decimals
    if digits + decimals == 0 or digits + decimals > _EXACT_DIGITS:
        return at, 0.0
    return after, np.float64(value) / np.float64(_WHOLE_POWERS[decimals])


@njit(cache=True, error_model="numpy")
def _plain_rows(text, at, until, bounds, ids, weights, row):
    """Rows in the quick way, into their places from `row` on: where the first begins that is not so, and its number."""
    while at < until:
        after, first, second = _plain_pair(text, at, bounds)
        if after == at:
            break
        if weights.size:
            begin = after + 1
            blank = text[after] == _BLANK or text[after] == _TAB
            after, weights[row] = _plain_real(text, begin)
            if after == begin or not blank:
                break
        if text[after] != _NEWLINE:
            break
        ids[0, row] = first
        ids[1, row] = second
        at, row = after + 1, row + 1
    return at, row


@njit(cache=True, error_model="numpy")
def _careful_row(text, at, shape, bounds, found):
    """A whole row with anything that is allowed in it: status, its end, its real number, where that is unsettled.

    The end is that of the line, or with a status other than FINE where the trouble is; -1 stands for a settled number.
    """
    skipped, integers, reals = shape
    real, unsettled_at = 0.0, -1
    for column in range(skipped + integers + reals):
        if column:
            at = _after_separator(text, at)
        if at >= text.size or text[at] == _NEWLINE:
            return MISSING, at, real, unsettled_at
        if column < skipped + integers:
            value, after, status = _scan_integer(text, at)
            if status == FINE and column >= skipped:
                if value < bounds[0] or value > bounds[1]:
                    status = OUT_OF_RANGE
                found[column - skipped] = value
            if status != FINE:
                return status, at, real, unsettled_at
        else:
            real, after, settled = _scan_real(text, at)
            if not settled:
                unsettled_at, after = at, token_end(text, after)
        at = after
    at = _skip_blanks(text, at)
    if at < text.size and text[at] != _NEWLINE:
        return EXTRA, at, real, unsettled_at
    return FINE, at, real, unsettled_at


@njit(cache=True, error_model="numpy")
def scan_rows(text, at, line, lines, shape, bounds, signs):
    """All rows of numbers from position `at`, which is in line `line`, to the end of the text.

    lines: no fewer than may hold a row. shape: columns to skip, integers, reals (0 or 1) per row; bounds: lowest and
    highest integer allowed; signs: the byte that begins every row (0 for none) and two bytes that begin a comment.
    Returns (status, position, line), the integers (one array per column), the reals, and the (row, position, line) of
    reals left for Python.
    """
    skipped, integers, reals = shape
    lead, comment, other_comment = signs
    rows = lines + 1  # one more: a short line may begin like a row
    ids = np.empty((integers, rows), np.int64)
    weights = np.empty(rows if reals else 0, np.float64)
    unsettled = np.empty(64, np.int64)
    left = row = 0
    status = FINE
    found = np.empty(integers, np.int64)
    plain_until = text.size - _PLAIN_BYTES * 4 if integers == 2 and not lead and not skipped else 0
    while at < text.size:
        before = row
        at, row = _plain_rows(text, at, plain_until, bounds, ids, weights, row)
        line += row - before
        at = _skip_blanks(text, at)
        if at >= text.size:
            break
        if text[at] in (_NEWLINE, comment, other_comment):
            at, line = _next_line(text, at), line + 1
            continue
        if lead:
            if text[at] != lead or not _ends_token(text, at + 1):
                status = BAD_LEAD
                break
            at = _skip_blanks(text, at + 1)
        status, after, real, unsettled_at = _careful_row(text, at, shape, bounds, found)
        if status != FINE:
            at = after
            break
        if unsettled_at >= 0:
            if left + 3 > unsettled.size:
                unsettled = _longer(unsettled)
            unsettled[left], unsettled[left + 1], unsettled[left + 2] = row, unsettled_at, line
            left += 3
        for column in range(integers):
            ids[column, row] = found[column]
        if reals:
            weights[row] = real
        at, line, row = after + 1, line + 1, row + 1
    return (status, at, line), ids[:, :row], weights[:row], unsettled[:left].reshape(left // 3, 3)


@njit(cache=True, error_model="numpy")
def scan_lists(text, at, line, rows, comment):
    """One list of integers per line for `rows` lines, comments skipped; what follows must be empty.

    Returns (status, position, line), the integers, the start of each row in them, and the line of each row. With
    fewer lines than rows the start array is short: the caller compares.
    """
    room = (text.size - at) // 8 + 16
    values = np.empty(room, np.int64)
    starts = np.zeros(min(rows, count_lines(text, at, 0)) + 1, np.int64)
    lines = np.zeros(starts.size - 1, np.int64)
    filled = 0
    row = 0
    while row < starts.size - 1 and at <= text.size:  # an empty rest after the last newline is a line
        if at < text.size and text[at] == comment:
            at = _next_line(text, at)
            line += 1
            continue
        lines[row] = line
        at = _skip_blanks(text, at)
        while at < text.size and text[at] != _NEWLINE:
            value, after, status = _scan_integer(text, at)
            if status != FINE:
                return (status, at, line), values[:filled], starts[: row + 1], lines
            if filled == values.size:
                values = _longer(values)
            values[filled] = value
            filled += 1
            at = _skip_blanks(text, after)
        at += 1
        line += 1
        row += 1
        starts[row] = filled
    while at < text.size:
        at = _skip_blanks(text, at)
        if at < text.size and text[at] != _NEWLINE and text[at] != comment:
            return (EXTRA_LINE, at, line), values[:filled], starts[: row + 1], lines
        at = _next_line(text, at)
        line += 1
    return (FINE, at, line), values[:filled], starts[: row + 1], lines
