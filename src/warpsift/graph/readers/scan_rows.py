"""Numbers out of text, compiled: the inner loop of every text format.

Two scanners: `scan_rows` for formats with a fixed number of columns per line, `scan_lists` for METIS, where a line
is a list of any length and an empty line means something. Both stop at the first thing they do not understand and
say which line and byte it is; the words of the error are made in `text.py`. Real numbers come out correctly rounded
to float32: the few that the quick way cannot settle are left to Python's float().
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, NOT_INTEGER, MISSING, EXTRA, TOO_LARGE, OUT_OF_RANGE, BAD_LEAD, EXTRA_LINE = range(8)

_NEWLINE, _TAB, _RETURN, _BLANK, _COMMA, _SEMICOLON = 10, 9, 13, 32, 44, 59
_PLUS, _MINUS, _POINT, _ZERO, _NINE, _UPPER_E, _LOWER_E = 43, 45, 46, 48, 57, 69, 101
_POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact in double precision up to 1e22
_LARGEST = np.int64(2**63 - 1)
_PLAIN_DIGITS = 18  # of an integer that fits whatever its digits are
_PLAIN_BYTES = _PLAIN_DIGITS + 2
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


@njit(cache=True, error_model="numpy")
def _plain_integers(text, at, bounds, found):
    """Integers as nearly all rows have them: digits alone, one blank or tab between. The position after the last.

    Anything else, a number out of bounds included, gives `at` itself and is left to the careful way. The caller sees to
    it that the text goes on for `_PLAIN_BYTES` per integer.
    """
    begin = at
    for column in range(found.size):
        if column:
            if text[at] != _BLANK and text[at] != _TAB:
                return begin
            at += 1
        first = at
        value = np.int64(0)
        digit = np.int64(text[at]) - _ZERO
        while 0 <= digit <= 9 and at - first < _PLAIN_DIGITS:
            value = 10 * value + digit
            at += 1
            digit = np.int64(text[at]) - _ZERO
        if at == first or 0 <= digit <= 9 or value < bounds[0] or value > bounds[1]:
            return begin
        found[column] = value
    return at


@njit(cache=True, error_model="numpy")
def _plain_row(text, at, bounds, reals, found):
    """A whole row in the quick way: the position of its line end (or `at` itself) and its real number."""
    after = _plain_integers(text, at, bounds, found)
    if after == at:
        return at, 0.0
    real = 0.0
    if reals:
        if (text[after] != _BLANK and text[after] != _TAB) or _ends_token(text, after + 1):
            return at, 0.0
        real, after, settled = _scan_real(text, after + 1)
        if not settled or after >= text.size:
            return at, 0.0
    return (after, real) if text[after] == _NEWLINE else (at, 0.0)


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
    plain_until = text.size - _PLAIN_BYTES * (integers + 1) if integers and not lead and not skipped else 0
    while at < text.size:
        after, real = _plain_row(text, at, bounds, reals, found) if at < plain_until else (at, 0.0)
        if after == at:
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
