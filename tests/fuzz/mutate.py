"""New inputs from old ones: bits, bytes, numbers, words and lines changed, cut, repeated and spliced.

Structure matters more than noise: most mutations keep an input nearly valid, so that it reaches beyond the first check.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBERS = (
    *(b"0", b"-1", b"1", b"-0", b"2147483647", b"2147483648", b"-2147483648", b"4294967296", b"400000000"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551615", b"1e308", b"1e-400", b"nan", b"-inf"),
    *(b"1_0", b"0x1f", b"07", b"3.5", b"9" * 400, b"9" * 5000, b"\xd9\xa3", b"1e999999999", b"+5", b"1.", b".5"),
)
WORDS = (
    *(b"", b" ", b"\t", b"\r", b"\n", b"\n\n\n\n", b"\0", b"\x1b[2J", b"\xff\xfe", b"\xc3\xa9", b"'", b'"', b"$", b"#"),
    *(b"%", b"c ", b"p sp 2 1\n", b"=", b"==", b",", b";", b"..", b"[", b"]", b"{", b"}", b"[[", b"true", b"none"),
    *(b"%%MatrixMarket matrix array real symmetric\n", b" and ", b"::", b"~random", b"@1/9", b"null", b"default"),
)
LONGEST = 900_000


def _place(dice: random.Random, data: bytes) -> int:
    return dice.randrange(len(data) + 1)


def _span(dice: random.Random, data: bytes) -> tuple[int, int]:
    start = _place(dice, data)
    return start, min(len(data), start + int(dice.expovariate(0.1)) + 1)


def flip(dice: random.Random, data: bytes, _: bytes) -> bytes:
    if not data:
        return b"\x80"
    changed = bytearray(data)
    changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def replace_byte(dice: random.Random, data: bytes, _: bytes) -> bytes:
    at = _place(dice, data)
    return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]


def cut(dice: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(dice, data)
    return data[:start] + data[end:]


def truncate(dice: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: _place(dice, data)]


def repeat(dice: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(dice, data)
    times = 2 + int(dice.paretovariate(0.6))  # mostly a few, now and then very many
    times = min(times, (LONGEST - len(data)) // max(end - start, 1))
    return data[:start] + data[start:end] * max(times, 1) + data[end:]


def insert_word(dice: random.Random, data: bytes, _: bytes) -> bytes:
    at = _place(dice, data)
    return data[:at] + dice.choice(WORDS) + data[at:]


def change_number(dice: random.Random, data: bytes, _: bytes) -> bytes:
    found = list(re.finditer(rb"\d+", data[:100_000]))
    if not found:
        return insert_word(dice, data, b"")
    one = dice.choice(found)
    near = str(int(one[0][:18]) + dice.choice((-1, 1, 2, 10))).encode()
    return data[: one.start()] + (near if dice.random() < 0.5 else dice.choice(NUMBERS)) + data[one.end() :]


def splice(dice: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(dice, other)
    at, until = _span(dice, data)
    return data[:at] + other[start:end] + data[until:]


def move_line(dice: random.Random, data: bytes, _: bytes) -> bytes:
    lines = data.split(b"\n")
    line = lines.pop(dice.randrange(len(lines)))
    if dice.random() < 0.7:
        lines.insert(dice.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


MUTATIONS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    *(flip, replace_byte, cut, truncate, repeat, insert_word, insert_word),
    *(change_number, change_number, change_number, splice, move_line),
)


def mutated(dice: random.Random, data: bytes, other: bytes) -> bytes:
    """The input after one to a few mutations; `other` is what may be spliced in."""
    for _ in range(1 + int(dice.expovariate(0.8))):
        data = dice.choice(MUTATIONS)(dice, data, other)
    return data[:LONGEST]
