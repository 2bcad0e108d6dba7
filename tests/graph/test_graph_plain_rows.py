"""The quick way through rows of digits against the careful one: the same numbers, the same complaints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.graph.limits import limits_of
from warpsift.graph.readers.text import GraphText, RowShape, read_rows

PADDING = "\n" + "# the quick way stops short of the end of a text\n" * 2
numbers = st.one_of(st.integers(0, 12), st.integers(0, 10**18), st.integers(10**18, 2**63 + 5), st.integers(-3, -1))
reals = st.sampled_from(
    [
        "1",
        "0.5",
        ".25",
        "3.",
        ".",
        "123456789.123456",
        "1234567890.123456",
        "-2e3",
        "1.0000000000000000001",
        "inf",
        "x",
        "1,",
        "",
        "7\r",
    ]
)
rows = st.lists(st.tuples(numbers, numbers, st.sampled_from([" ", "\t"]), reals), min_size=1, max_size=6)


def outcome(text: str, weighted: bool) -> tuple[object, ...]:
    shape = RowShape("u v w" if weighted else "u v", reals=int(weighted), highest=10**17 + 10**18)
    try:
        ends, weights = read_rows(GraphText("f", bytearray((text + PADDING).encode()), limits_of(None)), shape)
    except Exception as error:
        return type(error), str(error)
    return ends.tolist(), None if weights is None else weights.tolist()


@settings(max_examples=150, deadline=None)
@given(rows, st.booleans())
def test_plain_rows_are_read_as_careful_ones(table, weighted):
    plain = [f"{u}{blank}{v}" + (f"{blank}{w}" if weighted else "") for u, v, blank, w in table]
    careful = [" " + row for row in plain]  # a blank in front is nothing that the quick way takes
    assert outcome("\n".join(plain), weighted) == outcome("\n".join(careful), weighted)


@pytest.mark.parametrize("digits", [15, 16, 17, 18, 19])
def test_numbers_of_many_digits(digits):
    text = GraphText("f", bytearray((f"{'1' * digits} 2" + PADDING).encode()), limits_of(None))
    ends, _ = read_rows(text, RowShape("u v"))
    assert ends.tolist() == [[int("1" * digits)], [2]]
    assert ends.dtype == np.int64
