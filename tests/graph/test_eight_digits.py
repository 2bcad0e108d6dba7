"""Digits read eight at a time beside digits read one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.graph.readers.scan_rows import eight_digits, some_digits

AFTER = b"." * 16  # both read past what they count


def one_by_one(text: bytes, most: int) -> tuple[int, int]:
    """How many digits a text begins with, up to so many, and their value."""
    count = next((place for place, byte in enumerate(text[:most]) if byte not in b"0123456789"), most)
    return count, int(text[:count] or b"0")


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.binary(min_size=16, max_size=24), st.from_regex(rb"\A[0-9]{0,17}[\s\S]{16}\Z")), st.integers(0, 3))
def test_as_one_by_one(text, at):
    padded = np.frombuffer(b"9" * at + text + AFTER, np.uint8)
    assert eight_digits(padded, at) == one_by_one(text + AFTER, 8)
    assert some_digits(padded, at) == one_by_one(text + AFTER, 16)


@pytest.mark.parametrize("stop", [b"/", b":", b" ", b"\n", b"\x00", b"\xb0", b"\xff"])
@pytest.mark.parametrize("digits", range(17))
def test_whatever_byte_ends_them(digits, stop):
    text = (b"9081726354" * 2)[:digits] + stop + AFTER
    assert some_digits(np.frombuffer(text, np.uint8), 0) == one_by_one(text, 16)
