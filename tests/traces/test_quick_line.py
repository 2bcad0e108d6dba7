"""The quick reader of usual lines against the one that reads any line: equal rows, or it gives up."""

from __future__ import annotations

import random

import numba
import numpy as np
import pytest

from warpsift.hardware import WARP_SIZE
from warpsift.traces import quick_line
from warpsift.traces import scan_text as scan
from warpsift.traces.opcodes import CODES, HASHES
from warpsift.traces.trace_file import PADDING

OPCODES = ("IADD3", "BRA", "DADD", "LDC.64", "BAR.ARV", "MUFU.RCP", "LDG.E", "STS.U8", "LDG.E.128.STRONG.GPU")
OPCODES += ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU",)  # 31 bytes, the longest that is remembered
quick_decimal = numba.njit(quick_line.quick_decimal.py_func)
quick_instruction = numba.njit(quick_line.quick_instruction.py_func)
NUMBERS = (0, 1, -4, 9, 10, 999, 1234567, -1234567, 12345678, 999999999, 123456789012345678)


class Reader:
    """Both readers on one line, with the opcodes that have been seen."""

    def __init__(self, line_numbers=0):
        self.seen, self.line_numbers = quick_line.no_opcodes(), line_numbers

    def careful(self, line):
        text, state, row, lanes = _arrays(line)
        state[scan.LINE_END], state[scan.LINE_NUMBERS] = len(line), self.line_numbers
        scan.any_line(text, state, row, lanes, HASHES, CODES)
        if state[scan.ERROR] == 0:
            quick_line.remember_opcode(text, state, row, self.seen)
        return int(state[scan.ERROR]), row, lanes

    def quick(self, line):
        text, _, row, lanes = _arrays(line)
        at = quick_instruction(text, 0, self.line_numbers, row, lanes, self.seen)
        return at, row, lanes


def _arrays(line):
    text = np.frombuffer(
        line.encode() + b"\n" + b" 7" * (PADDING // 2), np.uint8
    ).copy()  # what follows must not matter
    return text, np.zeros(scan.STATE, np.int64), np.zeros(scan.COLUMNS, np.int64), np.zeros(WARP_SIZE, np.int64)


def meaning(row, lanes):
    """What the converter looks at."""
    sources = row[scan.SOURCE : scan.SOURCE + row[scan.SOURCES]].tolist()
    wanted = lanes[: int(row[scan.MASK]).bit_count()].tolist() if row[scan.CODE] >= 10 else []
    return row[: scan.SOURCE].tolist(), sources, wanted


def some_line(rng):
    mask = rng.choice((0xFFFFFFFF, 0xFFFF, 0xF0, 1, rng.getrandbits(32), 0))
    registers = lambda most: (k := rng.randint(0, most), *(f"R{rng.choice((0, 7, 31, 254, 255))}" for _ in range(k)))  # noqa: E731
    opcode = rng.choice(OPCODES)
    words = [f"{rng.randrange(0, 4096, 16):04x}", f"{mask:08x}", *registers(4), opcode, *registers(8)]
    if opcode[:3] not in ("LDG", "RED", "STS"):
        return " ".join(map(str, (*words, 0, rng.choice(NUMBERS))))
    mode, lanes = rng.randint(0, 2), mask.bit_count()
    numbers = [f"0x{rng.getrandbits(40):x}", *(rng.choice(NUMBERS) for _ in range(lanes - 1))]
    if mode == 0:
        numbers = [f"0x{rng.getrandbits(48):x}" for _ in range(lanes)]
    return " ".join(map(str, (*words, 4, mode, *numbers[: 2 if mode == 1 else None], 0)))


def spoilt(line, rng):
    at = rng.randrange(len(line))
    return line[:at] + rng.choice(("", " ", "-", "x", "\t", "Z", "9", "\r", "ffffffff", line[:at])) + line[at + 1 :]


@pytest.mark.parametrize("line_numbers", [0, 1])
def test_a_line_that_is_taken_means_what_the_careful_reader_says(line_numbers):
    rng, reader, taken, refused = random.Random(5), Reader(line_numbers), 0, 0
    for number in range(6000):
        line = some_line(rng)
        line = f"{number % 300} {line}" if line_numbers else line
        line = spoilt(line, rng) if number % 3 == 0 else line
        at, *found = reader.quick(line)
        error, *wanted = reader.careful(line)
        if at != quick_line.UNUSUAL:
            assert (error, meaning(*found)) == (0, meaning(*wanted)), line
            assert at <= len(line), line
            taken += 1
        refused += error != 0
    assert taken > 2000  # else the quick reader is of no use
    assert refused > 500


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers(number):
    text, *_ = _arrays(f"{number} 5")
    assert quick_decimal(text, 0) == (number, len(str(number)))


@pytest.mark.parametrize("word", ["", "-", "x", "1x", "12345678x", "1234567890123456789", "--1"])
def test_what_is_no_number_is_refused(word):
    assert quick_decimal(_arrays(f"{word} 5")[0], 0)[1] == quick_line.UNUSUAL


def test_an_opcode_is_known_by_all_its_bytes():
    reader, line = Reader(), "0000 ffffffff 0 {} 0 0 0"
    reader.careful(line.format("IMAD.MOV.U32"))
    assert reader.quick(line.format("IMAD.MOV.U32"))[0] > 0
    for other in ("IMAD.MOV.U3", "IMAD.MOV.U322", "IMAD.MOX.U32", "JMAD.MOV.U32"):
        assert reader.quick(line.format(other))[0] == quick_line.UNUSUAL
