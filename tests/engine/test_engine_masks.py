"""Masks of several words: against Python sets, and machines with more SMs, slices and ports than one word has bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.engine import Engine
from warpsift.engine.core import masks
from warpsift.engine.core.arena import Arena
from warpsift.engine.core.jit import from_python
from warpsift.machines import load_machine
from warpsift.simt import Gpu, Residency, kernel

add, remove, has, find, anything, empty = map(
    from_python,
    (masks.mask_add, masks.mask_remove, masks.mask_has, masks.mask_next, masks.mask_any, masks.mask_empty),
)


@settings(deadline=None)
@given(st.integers(1, 200), st.data())
def test_a_mask_is_a_set(count, data):
    arena, words, naive = Arena(), masks.words_for(count), set()
    mask = arena.table("mask", np.int64, words)
    for member, put in data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.booleans()), max_size=20)):
        (add if put else remove)(mask, member)
        (naive.add if put else naive.discard)(member)
        assert bool(has(mask, member)) == put
    first = data.draw(st.integers(0, count - 1))
    assert find(mask, words, first) == min(naive, key=lambda m: (m < first, m), default=-1)
    assert bool(anything(mask, words)) == bool(naive)
    empty(mask, words)
    assert not arena.arrays["mask"].any()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 128, 130])
def test_all_members(count):
    words = masks.all_members(count)
    assert len(words) == masks.words_for(count)
    assert sum(int(word).bit_count() for word in words.view(np.uint64)) == count


@kernel
def add_neighbours(t, values, out):
    t.store(out, t.id, t.load(values, t.id) + t.load(values, t.id, offset=4096))
    t.atomic_add(out, t.id % 64, 1, used=False)


@pytest.mark.parametrize(
    ("sms", "slices", "channels"), [(63, 64, 8), (64, 64, 8), (65, 64, 8), (80, 64, 64), (108, 80, 40), (142, 96, 12)]
)
def test_machines_beyond_one_word(sms, slices, channels):
    """Every SM gets work, every slice and channel serves it, and every balance of the test mode holds."""
    overrides = {
        "sm.count": sms,
        "l2.slices": slices,
        "dram.channels": channels,
        "l2.size_bytes": slices * 16 * 128 * 64,
    }
    machine = load_machine("gtx980", overrides)
    engine = Engine(machine, checks=True)
    gpu = Gpu(engine, residency=Residency(sms, machine.sm.threads))
    n = sms * 256 * 2
    values, out = gpu.memory.array("values", np.arange(n + 4096, dtype=np.int32)), gpu.memory.empty("out", n)
    gpu.launch(add_neighbours, n, values, out, phase="test", threads_per_cta=256)
    (result,) = engine.launches
    assert len(result.instructions_per_sm) == sms and min(result.instructions_per_sm) > 0
    assert (engine._arena.arrays["l2.slices"]["tail"] > 0).all()
    assert result.counters.ctas_completed == 2 * sms
