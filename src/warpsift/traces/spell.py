"""Writing instruction lines: an `OP` as the SASS that would have made it, as bytes.

    ALU       a dependent chain `IADD3 R0, R0`, then comparisons that depend on nothing (FADD, FSETP: floating point);
              the last is BRA if another run follows, EXIT if it is the warp's last
    LOAD      LDG.E     STORE   STG.E     ATOMIC  ATOMG.E.ADD, or RED.E.ADD if nobody reads the old value
    SHARED    LDS, or STS if nobody waits for it          BARRIER  BAR.SYNC
A scoreboard slot becomes a destination register, and who waits for the slot reads that register. All these opcodes
are in Accel-Sim's tables from Pascal to Ampere.
"""

from __future__ import annotations

import numpy as np

from warpsift.simt import stream as s
from warpsift.traces.compiled import BYTES, INTS, ONE_OP, OPS, PAIR, TABLE, compiled, i64
from warpsift.traces.lanes import lane_addresses, shared_addresses, store_addresses

_TEXTS = ["IADD3", "FADD", "ISETP", "FSETP", "BRA", "EXIT", "BAR.SYNC", "LDS", "STS"]
IADD, FADD, ISETP, FSETP, BRA, EXIT, BAR, LDS, STS = range(9)
_SUFFIXES = (".U8", ".U16", "", ".64", ".128")  # by width: 1, 2, 4, 8, 16 bytes
LDG, STG, ATOMG, RED = (len(_TEXTS) + len(_SUFFIXES) * k for k in range(4))
_TEXTS += [name + end for name in ("LDG.E", "STG.E", "ATOMG.E.ADD", "RED.E.ADD") for end in _SUFFIXES]
OPCODES = np.zeros((len(_TEXTS), 16), np.uint8)  # zero-terminated
for _row, _text in zip(OPCODES, _TEXTS, strict=True):
    _row[: len(_text)] = np.frombuffer(_text.encode(), np.uint8)

CHAIN_REGISTER, FREE_REGISTER = 0, 2  # R0: the ALU chain and with it addresses; R2 is never written
FIRST_REGISTER, REGISTERS = 4, 32  # loads go to R4 to R31; 32 registers leave 2048 threads on an SM of 65536
MOST_SOURCES = 4  # MAX_SRC of Accel-Sim's parser
PROGRAM_BYTES = 1 << 16  # the program counter starts again here, as a loop does: the stream has none
INSTRUCTION_BYTES = 16  # Volta and later; Accel-Sim assumes it for all
LONGEST_ALU_LINE, LONGEST_MEMORY_LINE = 64, 64 + 32 * 20

# Columns of the register table.
SLOT, SERIAL = 0, 1
# Columns of `count`.
INDEX, LOADS, DROPPED, NEXT_REGISTER, WIDTH = range(5)


@compiled(i64(BYTES, i64, i64))
def put_opcode(out, at, opcode):
    for k in range(OPCODES.shape[1]):
        if OPCODES[opcode, k] == 0:
            break
        out[at] = OPCODES[opcode, k]
        at += 1
    out[at] = 32
    return at + 1


@compiled(i64(BYTES, i64, i64))
def put_decimal(out, at, value):
    if value < 0:
        out[at] = 45
        at += 1
        value = -value
    digits = 1
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + value % 10
        value //= 10
    out[at + digits] = 32
    return at + digits + 1


@compiled(i64(BYTES, i64, i64, i64))
def put_hex(out, at, value, digits):
    while digits < 16 and (value >> (4 * digits)) != 0:
        digits += 1
    for k in range(digits):
        digit = (value >> (4 * (digits - 1 - k))) & 15
        out[at + k] = digit + (48 if digit < 10 else 87)
    out[at + digits] = 32
    return at + digits + 1


@compiled(i64(BYTES, i64, i64))
def put_register(out, at, number):
    out[at] = 82
    return put_decimal(out, at + 1, number)


@compiled(i64(BYTES, i64, INTS, i64, i64, i64))
def put_start(out, at, count, mask, dest, opcode):
    """PC, mask, destination and opcode."""
    at = put_hex(out, at, (count[INDEX] * INSTRUCTION_BYTES) % PROGRAM_BYTES, 4)
    count[INDEX] += 1
    at = put_hex(out, at, mask, 8)
    if dest >= 0:
        out[at] = 49
        out[at + 1] = 32
        at = put_register(out, at + 2, dest)
    else:
        out[at] = 48
        out[at + 1] = 32
        at += 2
    return put_opcode(out, at, opcode)


@compiled(i64(BYTES, i64))
def put_end(out, at):
    """The immediate, which nothing here has, and the end of the line."""
    out[at] = 48
    out[at + 1] = 10
    return at + 2


@compiled(i64(i64, TABLE, INTS))
def sources_of(wait, registers, sources):
    """Registers in flight on the slots of a wait mask, latest first; they are taken as waited for. How many."""
    found = 0
    for number in range(FIRST_REGISTER, REGISTERS):
        slot = registers[number, SLOT]
        if slot >= 0 and (wait >> slot) & 1:
            registers[number, SLOT] = -1
            at = found
            while at > 0 and registers[sources[at - 1], SERIAL] < registers[number, SERIAL]:
                sources[at] = sources[at - 1]
                at -= 1
            sources[at] = number
            found += 1
    return found


@compiled(i64(TABLE, INTS, i64, i64))
def take_register(registers, count, slot, width):
    """A destination for a load: the next that nothing is in flight to, or the oldest. Pairs where words are wide."""
    step = 2 if width > 4 else 1
    chosen = np.int64(-1)
    oldest = np.int64(FIRST_REGISTER)
    places = (REGISTERS - FIRST_REGISTER) // step
    for k in range(places):
        number = FIRST_REGISTER + (count[NEXT_REGISTER] + k) % places * step
        if registers[number, SLOT] < 0 and (step == 1 or registers[number + 1, SLOT] < 0):
            chosen = number
            break
        if registers[number, SERIAL] < registers[oldest, SERIAL]:
            oldest = number
    if chosen < 0:
        chosen = oldest
    count[NEXT_REGISTER] = (chosen - FIRST_REGISTER) // step + 1
    count[LOADS] += 1
    registers[chosen, SLOT] = slot
    registers[chosen, SERIAL] = count[LOADS]
    return chosen


@compiled(i64(BYTES, i64, ONE_OP, TABLE, INTS, i64))
def put_alu(out, at, op, registers, count, last_opcode):
    """A run of ALU instructions; `last_opcode` BRA or EXIT replaces the last one, -1 does not."""
    sources = np.zeros(REGISTERS, np.int64)
    waiting = sources_of(np.int64(op.wait), registers, sources)
    used = 0
    mask = (np.int64(1) << np.int64(op.lanes)) - 1
    total, chain, floats = np.int64(op.count), np.int64(op.detail), np.int64(op.array)
    for k in range(total):
        chained = k < chain
        is_float = k < floats
        opcode = (FADD if is_float else IADD) if chained else (FSETP if is_float else ISETP)
        dest = CHAIN_REGISTER if chained else -1
        if k == total - 1 and last_opcode >= 0 and not is_float:
            opcode = last_opcode
            dest = -1
        at = put_start(out, at, count, mask, dest, opcode)
        mine = min(waiting - used, MOST_SOURCES)
        if mine > 0:
            at = put_decimal(out, at, mine)
            for j in range(used, used + mine):
                at = put_register(out, at, sources[j])
            used += mine
        else:
            at = put_decimal(out, at, 1)
            at = put_register(out, at, CHAIN_REGISTER if chained else FREE_REGISTER)
        at = put_decimal(out, at, 0)
        at = put_end(out, at)
    count[DROPPED] += waiting - used
    return at


@compiled(i64(BYTES, i64, INTS))
def put_addresses(out, at, address):
    """Addresses as the tracer writes them: base and stride if they have one, else base and deltas."""
    strided = address.size > 1
    for k in range(2, address.size):
        strided = strided and address[k] - address[k - 1] == address[1] - address[0]
    out[at] = 49 if strided else 50
    out[at + 1] = 32
    out[at + 2] = 48
    out[at + 3] = 120
    at = put_hex(out, at + 4, address[0], 1)
    if strided:
        return put_decimal(out, at, address[1] - address[0])
    for k in range(1, address.size):
        at = put_decimal(out, at, address[k] - address[k - 1])
    return at


@compiled(i64(BYTES, i64, ONE_OP, INTS, TABLE, INTS))
def put_memory(out, at, op, transactions, registers, count):
    """A memory instruction: what it waits for are its sources, its slot is its destination."""
    sources = np.zeros(REGISTERS, np.int64)
    waiting = sources_of(np.int64(op.wait), registers, sources)
    kind, lanes = np.int64(op.kind), np.int64(op.lanes)
    wanted = op.slot != s.NO_SLOT
    width = count[WIDTH]
    size = 0
    while (1 << size) < width and size < 4:
        size += 1
    address = np.empty(lanes, np.int64)
    if kind == s.SHARED:
        opcode = LDS if wanted else STS
        shared_addresses(lanes, np.int64(op.count), address)
    else:
        opcode = size + (LDG if kind == s.LOAD else STG if kind == s.STORE else ATOMG if wanted else RED)
        first = np.int64(op.first)
        lines = np.int64(op.transactions)
        if kind == s.STORE:
            store_addresses(lanes, transactions[first:], lines, width, address)
        else:
            lane_addresses(kind, lanes, transactions[first : first + lines], width, address)
    dest = take_register(registers, count, np.int64(op.slot), width) if wanted else np.int64(-1)
    at = put_start(out, at, count, (np.int64(1) << lanes) - 1, dest, opcode)
    mine = min(waiting, MOST_SOURCES - 1)
    count[DROPPED] += waiting - mine
    at = put_decimal(out, at, mine + 1)
    at = put_register(out, at, CHAIN_REGISTER)
    for j in range(mine):
        at = put_register(out, at, sources[j])
    at = put_decimal(out, at, width)
    at = put_addresses(out, at, address)
    return put_end(out, at)


@compiled(i64(BYTES, i64, INTS, i64, i64))
def put_plain(out, at, count, mask, opcode):
    """BAR.SYNC, EXIT: no registers, no addresses."""
    at = put_start(out, at, count, mask, -1, opcode)
    at = put_decimal(out, at, 0)
    at = put_decimal(out, at, 0)
    return put_end(out, at)


@compiled(i64(OPS, i64))
def missing_exit(ops, lanes):
    """The lanes that no EXIT covers when the warp's instructions are written, as a mask; 0 for an empty warp."""
    everyone = (np.int64(1) << lanes) - 1
    if ops.size == 0:
        return np.int64(0)
    last = ops[ops.size - 1]
    if last.kind != s.ALU or last.array == last.count:
        return everyone
    return everyone & ~((np.int64(1) << np.int64(last.lanes)) - 1)


@compiled(PAIR(BYTES, i64, OPS, INTS, INTS, i64))
def put_warp(out, at, ops, transactions, widths, lanes):
    """All instructions of a warp; (end in `out`, dependences that did not fit the sources)."""
    registers = np.zeros((REGISTERS, 2), np.int64)
    registers[:, SLOT] = -1
    count = np.zeros(5, np.int64)
    for k in range(ops.size):
        op = ops[k]
        if op.kind == s.ALU:
            last = BRA if k + 1 < ops.size else EXIT
            if k + 1 < ops.size and ops[k + 1].kind != s.ALU:
                last = -1
            at = put_alu(out, at, op, registers, count, last)
        elif op.kind == s.BARRIER:
            at = put_plain(out, at, count, (np.int64(1) << np.int64(op.lanes)) - 1, BAR)
        else:
            count[WIDTH] = 4 if op.kind == s.SHARED else widths[op.array]
            at = put_memory(out, at, op, transactions, registers, count)
    rest = missing_exit(ops, lanes)
    if rest != 0:
        at = put_plain(out, at, count, rest, EXIT)
    return at, count[DROPPED]


@compiled(PAIR(OPS))
def room_for(ops):
    """Bytes that a warp's lines can take, and how many lines there are without an added EXIT."""
    size = np.int64(LONGEST_ALU_LINE)
    lines = np.int64(0)
    for op in ops:
        if op.kind == s.ALU:
            size += np.int64(op.count) * LONGEST_ALU_LINE
            lines += np.int64(op.count)
        else:
            size += LONGEST_MEMORY_LINE
            lines += 1
    return size, lines
