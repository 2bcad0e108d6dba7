"""Reading any line of a trace, word by word: from bytes to a row of numbers, or to an error that names the word.

    0070 ffffffff 1 R6 LDG.E 1 R2 4 1 0x7f2c4a000000 4 0
    PC   mask     dests opcode sources width mode addresses immediate

Address modes: 0 lists an address per active lane, 1 gives a base and a stride (active lanes are neighbours), 2 a base
and the difference from each active lane to the next. The width comes from the opcode, as Accel-Sim takes it, since
NVBit can report it wrongly. A row has the columns below; an error leaves its code and the word in `state`. Most lines
need none of this: see `quick_line.py`.
"""

from __future__ import annotations  # noqa: I001 (many characters on few lines)

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.traces.characters import (
    DOT, EQUALS, HASH, MINUS, NINE, RETURN, SMALL, SMALL_A, SMALL_C, SMALL_F, SMALL_H, SMALL_I, SMALL_L,
    SMALL_N, SMALL_T, SMALL_W, SMALL_X, SPACE, TAB, ZERO, A, B, D, E, F, I, R, S, U, W, Z,
)  # fmt: skip
from warpsift.traces.compiled import BYTES, INTS, compiled, i64, void
from warpsift.traces.opcodes import ADDRESSED_ALU, ALU, BARRIER, FIRST_MEMORY, UNSUPPORTED, class_of

# Columns of a row. A directive (codes below) keeps its numbers in the source columns.
CODE, MASK, WIDTH, DEST, DEST_SPAN, EXTENDED, SOURCES, SOURCE = range(8)
MOST_SOURCES, MOST_DESTS = 8, 4  # Accel-Sim's parser stops at 4 and 1; later tracers list more
COLUMNS = SOURCE + MOST_SOURCES
BEGIN_BLOCK, BLOCK_ID, WARP, INSTRUCTIONS, END_BLOCK = range(100, 105)

NO_REGISTER = -1
ZERO_REGISTER = 255  # RZ

# Columns of `state`.
AT, LINE_END, TOKEN, TOKEN_END, LINE_NUMBERS, ERROR, OPCODE, OPCODE_END = range(8)
STATE = 8

MESSAGES = {
    1: "the line ends too early",
    2: "expected a decimal number",
    3: "expected a hexadecimal number",
    4: "expected a register such as R12",
    5: f"too many registers: at most {MOST_DESTS} destinations and {MOST_SOURCES} sources",
    6: "unknown address mode; 0 (list), 1 (base and stride) and 2 (base and deltas) are known",
    7: "mode 1 (base and stride) needs neighbouring active lanes",
    8: "a memory instruction without addresses (its width is 0)",
    9: "too many bits: masks have 32, addresses at most 52",
    10: "tensor memory accelerator instructions cannot be timed",
    11: "expected 'thread block = x,y,z', 'warp = n' or 'insts = n'",
    12: "an instruction with addresses that is not known as a memory instruction",
}
TOO_SHORT, NOT_DECIMAL, NOT_HEX, NOT_REGISTER, MANY_REGISTERS, BAD_MODE, GAPS, NO_ADDRESSES, TOO_BIG = range(1, 10)
TENSOR, BAD_DIRECTIVE, NOT_MEMORY = 10, 11, 12
ADDRESS_BITS = 52  # the line number must fit a transaction (simt/stream.py); NVIDIA's addresses have 49 bits


@compiled(i64(BYTES, INTS))
def next_token(text, state):
    """Find the next word of the line; 0 if there is none, or after an error, whose word stays."""
    if state[ERROR] != 0:
        return 0
    at = state[AT]
    end = state[LINE_END]
    while at < end and (text[at] == SPACE or text[at] == TAB or text[at] == RETURN):
        at += 1
    state[TOKEN] = at
    while at < end and text[at] != SPACE and text[at] != TAB and text[at] != RETURN:
        at += 1
    state[TOKEN_END] = at
    state[AT] = at
    if state[TOKEN] == at:
        return 0
    return 1


@compiled(i64(INTS, i64))
def fail(state, code):
    if state[ERROR] == 0:
        state[ERROR] = code
    return np.int64(0)


@compiled(i64(BYTES, INTS))
def decimal(text, state):
    """The next word as a signed decimal number."""
    if next_token(text, state) == 0:
        return fail(state, TOO_SHORT)
    at = state[TOKEN]
    negative = text[at] == MINUS
    if negative:
        at += 1
    digits = state[TOKEN_END] - at
    if digits < 1 or digits > 18:
        return fail(state, NOT_DECIMAL)
    value = np.int64(0)
    for k in range(at, state[TOKEN_END]):
        digit = np.int64(text[k]) - ZERO
        if digit < 0 or digit > 9:
            return fail(state, NOT_DECIMAL)
        value = value * 10 + digit
    return -value if negative else value


@compiled(i64(BYTES, INTS, i64))
def hexadecimal(text, state, most_bits):
    """The next word as a hexadecimal number, with or without 0x."""
    if next_token(text, state) == 0:
        return fail(state, TOO_SHORT)
    at = state[TOKEN]
    end = state[TOKEN_END]
    if end - at > 2 and text[at] == ZERO and (text[at + 1] | SMALL) == SMALL_X:
        at += 2
    while end - at > 1 and text[at] == ZERO:
        at += 1
    if end - at > 15:
        return fail(state, TOO_BIG)
    value = np.int64(0)
    for k in range(at, end):
        letter = np.int64(text[k])
        if ZERO <= letter <= NINE:
            digit = letter - ZERO
        elif SMALL_A <= (letter | SMALL) <= SMALL_F:
            digit = (letter | SMALL) - SMALL_A + 10
        else:
            return fail(state, NOT_HEX)
        value = value << 4 | digit
    if value >> most_bits:
        return fail(state, TOO_BIG)
    return value


@compiled(i64(BYTES, INTS))
def register(text, state):
    """The next word as a register number; NO_REGISTER for RZ and for uniform and predicate registers."""
    if next_token(text, state) == 0:
        return fail(state, TOO_SHORT)
    at = state[TOKEN]
    general = text[at] == R
    while at < state[TOKEN_END] and A <= text[at] <= Z:
        at += 1
    digits = state[TOKEN_END] - at
    if at == state[TOKEN] or digits < 1 or digits > 3:
        return fail(state, NOT_REGISTER)
    value = np.int64(0)
    for k in range(at, state[TOKEN_END]):
        if not ZERO <= text[k] <= NINE:
            return fail(state, NOT_REGISTER)
        value = value * 10 + np.int64(text[k]) - ZERO
    if not general or at - state[TOKEN] != 1 or value >= ZERO_REGISTER:
        return np.int64(NO_REGISTER)
    return value


@compiled(void(BYTES, i64, i64, INTS))
def modifier(text, begin, end, row):
    """One part of an opcode after a dot: .64 and .U8 give the width, .E a 64-bit address, .WIDE a 64-bit result."""
    if end - begin == 1 and text[begin] == E:
        row[EXTENDED] = 1
    if end - begin == 4 and text[begin] == W and text[begin + 1] == I:  # WIDE
        row[DEST_SPAN] = 2
    if end - begin == 3 and text[begin] == A and text[begin + 1] == R and row[CODE] == BARRIER:  # BAR.ARV: no wait
        row[CODE] = ALU
    if text[begin] == U or text[begin] == S or text[begin] == F:
        begin += 1
    bits = np.int64(0)
    for k in range(begin, end):
        if not ZERO <= text[k] <= NINE or bits > 1024:
            return
        bits = bits * 10 + np.int64(text[k]) - ZERO
    if row[WIDTH] == 0 and bits >= 8:
        row[WIDTH] = min(bits // 8, 16)


@compiled(void(BYTES, INTS, INTS, INTS, INTS))
def opcode(text, state, row, hashes, codes):
    """The next word as an opcode: its class and what its modifiers say."""
    if next_token(text, state) == 0:
        fail(state, TOO_SHORT)
        return
    end = state[OPCODE_END] = state[TOKEN_END]
    at = state[OPCODE] = state[TOKEN]
    while at < end and text[at] != DOT:
        at += 1
    row[CODE] = class_of(text, state[TOKEN], at, hashes, codes)
    row[WIDTH] = 0
    row[EXTENDED] = 0
    row[DEST_SPAN] = 2 if text[state[TOKEN]] == D and row[CODE] < FIRST_MEMORY else 1  # DADD, DFMA: 64 bits
    while at < end:
        begin = at + 1
        at = begin
        while at < end and text[at] != DOT:
            at += 1
        if at > begin:
            modifier(text, begin, at, row)
    if row[WIDTH] == 0:
        row[WIDTH] = 4
    if row[CODE] >= FIRST_MEMORY:
        row[DEST_SPAN] = (row[WIDTH] + 3) // 4
    if row[CODE] == UNSUPPORTED:
        fail(state, TENSOR)


@compiled(void(BYTES, INTS, i64, INTS))
def lane_addresses(text, state, mask, out):
    """The addresses of the active lanes, in lane order."""
    mode = decimal(text, state)
    lanes = 0
    gap = False
    last = -1
    for lane in range(WARP_SIZE):
        if (mask >> lane) & 1:
            gap = gap or (lanes > 0 and last != lane - 1)
            last = lane
            lanes += 1
    if mode < 0 or mode > 2:
        fail(state, BAD_MODE)
    if state[ERROR] != 0 or lanes == 0:
        return
    if mode == 0:
        for k in range(lanes):
            out[k] = hexadecimal(text, state, ADDRESS_BITS)
        return
    out[0] = hexadecimal(text, state, ADDRESS_BITS)
    if mode == 1:
        if gap:
            fail(state, GAPS)
        stride = decimal(text, state)
        for k in range(1, lanes):
            out[k] = out[k - 1] + stride
    else:
        for k in range(1, lanes):
            out[k] = out[k - 1] + decimal(text, state)
    for k in range(1, lanes):
        if out[k] < 0 or out[k] >> ADDRESS_BITS:
            fail(state, TOO_BIG)


@compiled(void(BYTES, INTS, INTS, INTS, INTS, INTS))
def instruction(text, state, row, addresses, hashes, codes):
    """One instruction line."""
    if state[LINE_NUMBERS] != 0:
        decimal(text, state)
    hexadecimal(text, state, 60)  # program counter
    row[MASK] = hexadecimal(text, state, WARP_SIZE)
    count = decimal(text, state)
    if count < 0 or count > MOST_DESTS:
        fail(state, MANY_REGISTERS)
    row[DEST] = NO_REGISTER
    for k in range(count):
        found = register(text, state)
        if k == 0:
            row[DEST] = found
        if state[ERROR] != 0:
            return
    opcode(text, state, row, hashes, codes)
    count = decimal(text, state)
    if count < 0 or count > MOST_SOURCES:
        fail(state, MANY_REGISTERS)
    if state[ERROR] != 0:
        return
    row[SOURCES] = count
    for k in range(count):
        row[SOURCE + k] = register(text, state)
    width = decimal(text, state)
    if width == 0:
        if row[CODE] >= FIRST_MEMORY and row[MASK] != 0:
            fail(state, NO_ADDRESSES)
        return
    if row[CODE] < FIRST_MEMORY and row[CODE] != ADDRESSED_ALU:
        fail(state, NOT_MEMORY)
        return
    lane_addresses(text, state, row[MASK], addresses)


@compiled(i64(BYTES, INTS, INTS))
def directive(text, state, row):
    """A line that is no instruction; 0 if it is to be skipped."""
    begin = state[AT]
    while begin < state[LINE_END] and text[begin] <= SPACE:
        begin += 1
    first = text[begin]
    second = text[begin + 1] if begin + 1 < state[LINE_END] else 0
    if first == HASH:  # #BEGIN_TB, #END_TB or a comment
        row[CODE] = BEGIN_BLOCK if second == B else END_BLOCK
        return 1 if second in (B, E) else 0
    if first == SMALL_C:  # cluster id, cluster cta, cluster rank
        return 0
    if first == SMALL_T and second == SMALL_H:
        row[CODE] = BLOCK_ID
    elif first == SMALL_W and second == SMALL_A:
        row[CODE] = WARP
    elif first == SMALL_I and second == SMALL_N:
        row[CODE] = INSTRUCTIONS
    else:
        fail(state, BAD_DIRECTIVE)
        return 1
    wanted = 3 if row[CODE] == BLOCK_ID else 1
    at = begin
    while at < state[LINE_END] and text[at] != EQUALS:
        at += 1
    for k in range(wanted):
        value = np.int64(0)
        at += 1
        while at < state[LINE_END] and text[at] == SPACE:
            at += 1
        if at >= state[LINE_END] or not ZERO <= text[at] <= NINE:
            fail(state, BAD_DIRECTIVE)
        while at < state[LINE_END] and ZERO <= text[at] <= NINE and value < 1 << 40:
            value = value * 10 + np.int64(text[at]) - ZERO
            at += 1
        row[SOURCE + k] = value
    return 1


@compiled(i64(BYTES, INTS, INTS, INTS, INTS, INTS))
def any_line(text, state, row, addresses, hashes, codes):
    """The line from state[AT] to state[LINE_END] into `row`; 0 if there is nothing in it. `state` tells of an error."""
    if next_token(text, state) == 0:
        return np.int64(0)
    first = text[state[TOKEN]]
    state[AT] = state[TOKEN]
    hexadecimal_digit = ZERO <= first <= NINE or SMALL_A <= first <= SMALL_F or A <= first <= F
    cluster = first == SMALL_C and state[LINE_END] > state[AT] + 1 and text[state[AT] + 1] == SMALL_L
    if hexadecimal_digit and not cluster:
        instruction(text, state, row, addresses, hashes, codes)
        return np.int64(1)
    return np.int64(directive(text, state, row))
