"""Unrolled loops in the machine beside their texts, and how much of a log the machine takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tapes import Tape
from support.traced_launches import STYLES, both, run, same
from warpsift.simt import Gpu, Residency, kernel, recorder
from warpsift.simt import gpu as launching
from warpsift.simt.vector_machine import instruction_set as i

pytestmark = pytest.mark.skipif(not launching.JIT_ENABLED, reason="the machine is compiled code")


@pytest.fixture(autouse=True)
def trace_everything(monkeypatch):
    monkeypatch.setattr(launching, "SMALLEST_TRACED", 0)
    monkeypatch.setattr(launching, "PATIENCE_S", -1.0)


@pytest.mark.parametrize(("algorithm", "style"), STYLES)
@pytest.mark.parametrize("unroll", [2, 3, 4, 16])
def test_unrolled_loops_are_traced(algorithm, style, unroll, monkeypatch):
    monkeypatch.setattr(recorder, "LOGGED_ELEMENTS", 3000)
    choices = {"visibility_ctas": 1, "overrides": {"compiler.unroll": unroll}}
    ours, answer, gpu = run(algorithm, style, "kron-8", traces=True, **choices)
    assert gpu._machine is not None and not gpu._untraceable
    theirs, expected, _ = run(algorithm, style, "kron-8", traces=False, **choices)
    assert np.array_equal(answer, expected) and same(ours, theirs)


PARTS = ("gather", "chain", "shared", "where", "store", "atomic", "alu", "spend", "other", "pair")


def body_of(t, parts, k, variables, arrays):
    """The body of a loop; it stands here since a loop with a loop in its text is not unrolled."""
    total, place = variables
    index, values, out, sums, box = arrays
    element = k.astype(np.int32)
    for part in parts:
        if part == "gather":
            total += t.load(values, t.load(index, k))
        elif part == "chain":
            place.set(t.load(index, place))
        elif part == "shared":
            total += box.load(element & 63)
        elif part == "where":
            with t.where((element & 1) == 0):
                total += t.load(index, k, offset=1)
        elif part == "store":
            t.store(out, t.id, total)
        elif part == "atomic":
            t.atomic_add(sums, element & 7, 1, used=False)
        elif part == "alu":
            total += element * 3 - 1
        elif part == "spend":
            t.spend(3)
        elif part == "other":
            total.set(5)
        else:
            total += t.load(index, k) * t.load(values, t.load(index, k, offset=2))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4),
    st.integers(2, 6),
    st.integers(1, 3),
    st.sampled_from((np.int32, np.int64)),
    st.integers(0, 2**32 - 1),
)
def test_random_bodies_of_unrolled_loops(parts, unroll, step, kind, seed):
    """Loads that may stand side by side, and whatever forbids it: stores, conditions, chains from one to the next."""
    asked = []

    @kernel(guard=False)
    def text(t, lengths, index, values, out, sums):
        asked.append(t)
        box = t.shared(np.int32, 64)
        box.store(t.in_cta, t.id)
        t.barrier()
        total, place = t.var(0), t.var(t.lane)
        for _ in t.range(0, 2):
            begin = t.load(lengths, t.id)
            for k in t.range(begin, begin + t.load(lengths, t.id, offset=64), step):
                body_of(t, parts, k, (total, place), (index, values, out, sums, box))
        t.store(out, t.id, total + place)

    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 20, 192).astype(kind)
    index = rng.integers(0, 64, 64).astype(np.int32)
    both(text, 128, lengths, index, np.arange(64, dtype=np.int32), np.zeros(128, np.int32), np.zeros(8, np.int32),
         unroll=unroll, threads_per_cta=64)  # fmt: skip
    assert any(row[i.OP] == i.GROUP for row in asked[0].trace.rows)  # traced, and unrolled


def test_an_unrolled_group_larger_than_a_usual_log(monkeypatch):
    monkeypatch.setattr(recorder, "LOGGED_ELEMENTS", 100)

    @kernel
    def small(t, lists, out):
        t.store(out, t.id, t.load(lists, t.id))

    @kernel
    def text(t, lists, out):
        total = t.var(0)
        for k in t.range(0, 9):
            total += t.load(lists, k) + t.load(lists, t.id + k) + t.load(lists, k, offset=1)
        t.store(out, t.id, total)

    sink = Tape()
    gpu = Gpu(sink, memory_bytes=1 << 22, unroll=4)
    lists, out = gpu.memory.array("lists", np.arange(900)), gpu.memory.empty("out", 800, np.int64)
    gpu.launch(small, 800, lists, out, phase="p")  # the machine's log is made for this one
    gpu.launch(text, 800, lists, out, phase="p")
    assert not gpu._untraceable
    both(text, 800, np.arange(900), np.zeros(800, np.int64), unroll=4)


@kernel(guard=False)
def one_long_list(t, words, out):
    """One thread of the launch walks a list, the others have nothing."""
    total = t.var(0)
    for k in t.range(0, t.select(t.id == 7, 2000, 1)):
        total += t.load(words, k)
    t.store(out, t.id, total)


@pytest.mark.parametrize("unroll", [1, 4])
def test_few_threads_of_a_large_batch_fill_few_logs(unroll, monkeypatch):
    kept = []
    keep = recorder.Recorder.keep
    monkeypatch.setattr(recorder.Recorder, "keep", lambda self, log: (kept.append(log), keep(self, log)))
    gpu = Gpu(Tape(), memory_bytes=1 << 22, residency=Residency(128, 2048), unroll=unroll)
    words, out = gpu.memory.array("words", np.arange(2000)), gpu.memory.empty("out", 1 << 18, np.int64)
    gpu.launch(one_long_list, len(out), words, out, phase="p")
    assert gpu._machine is not None and out.host[7] == np.arange(2000).sum()
    assert sum(len(log.rows) for log in kept) > 2000
    assert len(kept) < 12  # one for each load of the long list, if room is kept for all threads
