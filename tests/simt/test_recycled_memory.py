"""Memory of chunks: nobody's is given to another, and what nobody uses is given again."""

from __future__ import annotations

import gc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.simt import recycled
from warpsift.simt.recycled import SMALLEST, Recycled


def test_memory_comes_back_when_the_last_view_is_gone():
    memory = Recycled()
    first = memory.words(SMALLEST + 5)
    where, view = first.ctypes.data, first.reshape(-1)[3:].view(np.uint8)
    del first
    assert memory.words(SMALLEST + 5).ctypes.data != where  # a view is left
    del view
    gc.collect()
    assert memory.words(SMALLEST + 6).ctypes.data == where  # of the same size class


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3 * SMALLEST), st.booleans()), max_size=40))
def test_arrays_in_use_never_share_memory(requests):
    memory, held = Recycled(), []
    for number, (count, keep) in enumerate(requests):
        words = memory.words(count)
        assert words.size == count and words.dtype == np.int64 and words.flags.c_contiguous and words.flags.writeable
        words[:] = number
        if keep:
            held.append((number, words))
    assert all((words == number).all() for number, words in held)


def test_no_more_is_kept_than_said(monkeypatch):
    monkeypatch.setattr(recycled, "KEPT_WORDS", 4 * SMALLEST)
    memory = Recycled()
    held = [memory.words(SMALLEST) for _ in range(9)]
    del held[:]
    assert memory._kept == 4 * SMALLEST == sum(words.size for kept in memory._free.values() for words in kept)


def test_it_may_outlive_what_gave_it():
    words = Recycled().words(SMALLEST)
    gc.collect()
    words[:] = 7
    assert words.sum() == 7 * SMALLEST
