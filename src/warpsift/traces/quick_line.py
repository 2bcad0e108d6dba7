"""The usual instruction line, read in one go: words one space apart, opcodes that have been seen, no fault.

Nearly all lines of a trace are like that. This reader looks at each byte about once and gives up at the first thing
that is not as usual; `scan_text.instruction` then reads the line from its beginning and says what is wrong, if
anything is. Short numbers are read eight bytes at a time: their digits are told apart from what follows, and summed
up, by arithmetic on the whole word (Lemire, "Quickly parsing eight digits", 2018).
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.words import ctz, popcount
from warpsift.hardware import WARP_SIZE
from warpsift.traces.characters import MINUS, NEWLINE, NINE, SPACE, ZERO, R
from warpsift.traces.compiled import BYTES, INTS, PAIR, TABLE, byte, compiled, eight_bytes, i64, inlined, void
from warpsift.traces.opcodes import FIRST_MEMORY
from warpsift.traces.scan_text import (
    ADDRESS_BITS,
    CODE,
    DEST,
    DEST_SPAN,
    EXTENDED,
    MASK,
    MOST_DESTS,
    MOST_SOURCES,
    NO_REGISTER,
    OPCODE,
    OPCODE_END,
    SOURCE,
    SOURCES,
    WIDTH,
    ZERO_REGISTER,
)

UNUSUAL = -1  # in place of where the reader stands
EIGHT = 0x0101010101010101
HIGH_BITS = np.int64(-0x7F7F7F7F7F7F7F80)  # 0x80 in every byte
ALL_LANES = EIGHT * ord("f")  # the mask of a full warp
FULL_MASK = (1 << WARP_SIZE) - 1
NO_DIGIT = 16
HEX = np.full(256, NO_DIGIT, np.uint8)  # the value of a hexadecimal digit
for _digits in ("0123456789abcdef", "0123456789ABCDEF"):
    HEX[np.frombuffer(_digits.encode(), np.uint8)] = range(16)

# A row of the table of opcodes that have been seen: the word, eight bytes per column, and what it stands for.
OPCODE_WORDS = 4  # longer ones are read by scan_text every time
SEEN_CODE, SEEN_WIDTH, SEEN_SPAN, SEEN_EXTENDED = range(OPCODE_WORDS, OPCODE_WORDS + 4)
SEEN_COLUMNS = OPCODE_WORDS + 4
SEEN_BITS = 10  # of the table's size; a program has some ten different opcodes
GOLDEN = np.int64(-7046029254386353131)  # 2**64 / golden ratio, odd (Knuth, The Art of Computer Programming 6.4)


def no_opcodes() -> np.ndarray:
    """A table in which no opcode has been seen."""
    return np.zeros((1 << SEEN_BITS, SEEN_COLUMNS), np.int64)


@inlined(i64(i64))
def bytes_to_space(word):
    """How many of eight bytes, the lowest first, lie before a space; 8 if there is none."""
    other = word ^ (EIGHT * SPACE)
    spaces = (other - EIGHT) & (other ^ -1) & HIGH_BITS
    return ctz(spaces) >> 3 if spaces != 0 else np.int64(8)


@inlined(i64(i64, i64))
def low_bytes(word, count):
    """The lowest bytes of a word, others 0."""
    return word if count == 8 else word & ((np.int64(1) << (8 * count)) - 1)


@inlined(PAIR(BYTES, i64))
def quick_hexadecimal(text, at):
    """A number of at most 13 digits in front of a space, and where it ends; with or without 0x."""
    if byte(text, at) == ZERO and byte(text, at + 1) == ord("x"):
        at += 2
    begin = at
    value = np.int64(0)
    digit = np.int64(HEX[byte(text, at)])
    while digit != NO_DIGIT:
        value = value << 4 | digit
        at += 1
        digit = np.int64(HEX[byte(text, at)])
    if at == begin or at - begin > ADDRESS_BITS // 4 or byte(text, at) != SPACE:
        return value, np.int64(UNUSUAL)
    return value, at


@compiled(PAIR(BYTES, i64))
def long_decimal(text, at):
    """A signed number in front of a space or the line's end, digit by digit, and where it ends."""
    negative = byte(text, at) == MINUS
    if negative:
        at += 1
    begin = at
    value = np.int64(0)
    while ZERO <= byte(text, at) <= NINE and at - begin <= 18:
        value = value * 10 + byte(text, at) - ZERO
        at += 1
    after = byte(text, at)
    if at == begin or at - begin > 18 or (after != SPACE and after != NEWLINE):
        return value, np.int64(UNUSUAL)
    return -value if negative else value, at


@inlined(PAIR(BYTES, i64))
def quick_decimal(text, at):
    """A signed number in front of a space or the line's end, and where it ends."""
    sign = np.int64(1) if byte(text, at) == MINUS else np.int64(0)
    digits = eight_bytes(text, at + sign) ^ (EIGHT * ZERO)  # 0 to 9 each; what is no digit is more
    others = ((digits + EIGHT * (128 - 10)) | digits) & HIGH_BITS  # wrong above the lowest, which alone is asked for
    if others == 0:
        return long_decimal(text, at)
    count = ctz(others) >> 3
    end = at + sign + count
    after = byte(text, end)
    if count == 0 or (after != SPACE and after != NEWLINE):
        return np.int64(0), np.int64(UNUSUAL)
    value = digits << (64 - 8 * count)  # the last digit to the top: leading zeros below
    value = (value * (10 * 256 + 1)) >> 8  # pairs of digits
    value = ((value & 0x00FF00FF00FF00FF) * (100 * 65536 + 1)) >> 16  # fours
    value = ((value & 0x0000FFFF0000FFFF) * (10000 * (1 << 32) + 1)) >> 32
    return -value if sign != 0 else value, end


@inlined(PAIR(BYTES, i64))
def quick_register(text, at):
    """A register R0 to R999 in front of a space, and where its word ends."""
    if byte(text, at) != R:
        return np.int64(0), np.int64(UNUSUAL)
    value, end = quick_decimal(text, at + 1)
    if end == UNUSUAL or end - at > 4 or byte(text, at + 1) == MINUS or byte(text, end) != SPACE:
        return value, np.int64(UNUSUAL)
    return value if value < ZERO_REGISTER else np.int64(NO_REGISTER), end


@inlined(i64(BYTES, i64, i64))
def place_in_table(text, at, length):
    """The row of the table in which an opcode would be."""
    begins = low_bytes(eight_bytes(text, at), min(length, np.int64(8)))
    ends = eight_bytes(text, at + length - 8) if length > 8 else np.int64(0)
    mixed = ((begins * GOLDEN) ^ ends) * GOLDEN
    return (mixed >> (64 - SEEN_BITS)) & ((1 << SEEN_BITS) - 1)


@inlined(i64(BYTES, i64, INTS, TABLE))
def quick_opcode(text, at, row, seen):
    """An opcode that has been seen before; where it ends."""
    length = bytes_to_space(eight_bytes(text, at))
    more = length
    while more == 8 and length < 8 * OPCODE_WORDS:
        more = bytes_to_space(eight_bytes(text, at + length))
        length += more
    if length == 0 or length >= 8 * OPCODE_WORDS:
        return np.int64(UNUSUAL)
    known = place_in_table(text, at, length)
    for k in range(OPCODE_WORDS):
        here = min(max(length - 8 * k, np.int64(0)), np.int64(8))
        if seen[known, k] != low_bytes(eight_bytes(text, at + 8 * k), here):
            return np.int64(UNUSUAL)
        if here < 8:
            break
    row[CODE] = seen[known, SEEN_CODE]
    row[WIDTH] = seen[known, SEEN_WIDTH]
    row[DEST_SPAN] = seen[known, SEEN_SPAN]
    row[EXTENDED] = seen[known, SEEN_EXTENDED]
    return at + length


@compiled(void(BYTES, INTS, INTS, TABLE))
def remember_opcode(text, state, row, seen):
    """The opcode that `scan_text` has just read is from now on one that has been seen; `row` has what it stands for."""
    at = state[OPCODE]
    length = state[OPCODE_END] - at
    if length >= 8 * OPCODE_WORDS:
        return
    known = place_in_table(text, at, length)
    for k in range(OPCODE_WORDS):
        here = min(max(length - 8 * k, np.int64(0)), np.int64(8))
        seen[known, k] = low_bytes(eight_bytes(text, at + 8 * k), here)
    seen[known, SEEN_CODE] = row[CODE]
    seen[known, SEEN_WIDTH] = row[WIDTH]
    seen[known, SEEN_SPAN] = row[DEST_SPAN]
    seen[known, SEEN_EXTENDED] = row[EXTENDED]


@inlined(i64(BYTES, i64, i64, INTS))
def quick_addresses(text, at, mask, out):
    """The mode and the addresses of the active lanes, in lane order; where they end."""
    mode = byte(text, at) - ZERO
    lanes = popcount(mask)
    if mode < 1 or mode > 2 or byte(text, at + 1) != SPACE or lanes == 0:
        return np.int64(UNUSUAL)
    address, at = quick_hexadecimal(text, at + 2)
    if at == UNUSUAL:
        return at
    out[0] = address
    every = address  # all addresses or'ed: what shows in its upper bits is out of range
    if mode == 1:
        neighbours = mask // (mask & -mask)
        step, at = quick_decimal(text, at + 1)
        if neighbours & (neighbours + 1):
            return np.int64(UNUSUAL)
        for k in range(1, lanes):
            address += step
            every |= address
            out[k] = address
    else:
        for k in range(1, lanes):
            step, end = quick_decimal(text, at + 1)
            if end == UNUSUAL or byte(text, at) != SPACE:
                return np.int64(UNUSUAL)
            at = end
            address += step
            every |= address
            out[k] = address
    return at if every >> ADDRESS_BITS == 0 else np.int64(UNUSUAL)


@inlined(i64(BYTES, i64, i64, INTS, i64))
def quick_registers(text, at, most, row, column):
    """A count of registers and their numbers, from `column` of the row on; the count is `most` at most.

    Gives (where they end) * 16 + the count.
    """
    count = byte(text, at) - ZERO
    if count < 0 or count > most or byte(text, at + 1) != SPACE:
        return np.int64(UNUSUAL)
    at += 1
    for k in range(count):
        register, at = quick_register(text, at + 1)
        if at == UNUSUAL:
            return at
        row[column + k] = register
    return at << 4 | count


@inlined(i64(BYTES, i64, i64, INTS, INTS, TABLE))
def quick_instruction(text, at, line_numbers, row, addresses, seen):
    """One instruction line into `row`; where it ends, before the newline or earlier, or UNUSUAL."""
    if line_numbers != 0:
        negative = byte(text, at) == MINUS  # a directive, to scan_text
        _, at = quick_decimal(text, at)
        if at == UNUSUAL or byte(text, at) != SPACE or negative:
            return np.int64(UNUSUAL)
        at += 1
    _, at = quick_hexadecimal(text, at)  # program counter
    if at == UNUSUAL:
        return at
    mask = np.int64(FULL_MASK)
    if eight_bytes(text, at + 1) == ALL_LANES and byte(text, at + 9) == SPACE:
        at += 9
    else:
        mask, at = quick_hexadecimal(text, at + 1)
        if at == UNUSUAL or mask > FULL_MASK:
            return np.int64(UNUSUAL)
    row[MASK] = mask
    at = quick_registers(text, at + 1, np.int64(MOST_DESTS), row, np.int64(SOURCE))
    if at == UNUSUAL:
        return at
    row[DEST] = row[SOURCE] if at & 15 else np.int64(NO_REGISTER)
    at = quick_opcode(text, (at >> 4) + 1, row, seen)
    if at == UNUSUAL:
        return at
    at = quick_registers(text, at + 1, np.int64(MOST_SOURCES), row, np.int64(SOURCE))
    if at == UNUSUAL:
        return at
    row[SOURCES] = at & 15
    width, at = quick_decimal(text, (at >> 4) + 1)
    if at == UNUSUAL or (width != 0) != (row[CODE] >= FIRST_MEMORY):
        return np.int64(UNUSUAL)
    if width == 0:
        return at
    return quick_addresses(text, at + 1, mask, addresses) if byte(text, at) == SPACE else np.int64(UNUSUAL)
