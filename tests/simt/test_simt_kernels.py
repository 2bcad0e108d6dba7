"""What a kernel's text means: masks, loops, variables, collectives, dependences, counts and errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tapes import Tape
from warpsift.simt import Counter, DeviceMemoryError, Gpu, KernelError, Residency, kernel
from warpsift.simt.stream import ALU, BARRIER, LOAD, NO_SLOT, STORE


def new_gpu(**options) -> Gpu:
    return Gpu(Counter(), memory_bytes=1 << 24, **options)


def totals(gpu: Gpu):
    return gpu.sink.launches[-1].counters


# ------------------------------------------------------------------ values
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=100))
def test_loop_over_unequal_work(lengths):
    @kernel
    def triangle(t, n, out):
        total = t.var(0)
        for i in t.range(0, t.load(n, t.id)):
            total += i
        t.store(out, t.id, total)

    gpu = new_gpu()
    out = gpu.memory.empty("out", len(lengths))
    gpu.launch(triangle, len(lengths), gpu.memory.array("n", np.array(lengths, np.int32)), out, phase="test")
    assert out.host.tolist() == [n * (n - 1) // 2 for n in lengths]


def test_where_otherwise_and_nesting():
    @kernel
    def classify(t, x, out):
        value = t.load(x, t.id)
        answer = t.var(0)
        even = (value & 1) == 0
        with t.where(even):
            answer.set(2)
            with t.where(value > 10):
                answer += 100
        with t.otherwise(even):
            answer.set(1)
        t.store(out, t.id, answer)

    gpu = new_gpu()
    x = gpu.memory.array("x", np.arange(40, dtype=np.int32))
    out = gpu.memory.empty("out", 40)
    gpu.launch(classify, 40, x, out, phase="test")
    assert out.host.tolist() == [(102 if v > 10 else 2) if v % 2 == 0 else 1 for v in range(40)]


def test_while_loop_and_exit():
    @kernel
    def collatz(t, x, out):
        t.exit_where(t.load(x, t.id) == 0)
        value, steps = t.var(t.load(x, t.id)), t.var(0)
        for _ in t.loop_while(lambda: value != 1):
            value.set(t.select((value & 1) == 0, value >> 1, value * 3 + 1))
            steps.set(steps + 1)
        t.store(out, t.id, steps)

    gpu = new_gpu()
    out = gpu.memory.full("out", 8, -1)
    gpu.launch(collatz, 8, gpu.memory.array("x", np.arange(8, dtype=np.int32)), out, phase="test")
    assert out.host.tolist() == [-1, 0, 1, 7, 2, 5, 8, 16]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_collectives_against_numpy(seed):
    values = np.random.default_rng(seed).integers(0, 50, 512).astype(np.int32)

    @kernel(guard=False)
    def all_of_them(t, x, scan, total, ballot, warp_sum, warp_max, from_lane, any_big):
        value = t.load(x, t.id)
        exclusive, sum_ = t.cta_scan(value)
        t.store(scan, t.id, exclusive)
        t.store(total, t.id, sum_)
        t.store(ballot, t.id, t.ballot(value > 25))
        t.store(warp_sum, t.id, t.warp_sum(value))
        t.store(warp_max, t.id, t.warp_max(value))
        t.store(from_lane, t.id, t.shuffle(value, (t.lane + 5) & 31))
        t.store(any_big, t.id, t.cta_any(value == 49))

    gpu = new_gpu()
    outs = [gpu.memory.empty(f"o{k}", 512, np.uint32 if k == 2 else np.int32) for k in range(7)]
    gpu.launch(all_of_them, 512, gpu.memory.array("x", values), *outs, phase="test", threads_per_cta=128)
    ctas, warps = values.reshape(-1, 128), values.reshape(-1, 32)
    expected = [
        (np.cumsum(ctas, axis=1) - ctas).reshape(-1),
        np.repeat(ctas.sum(axis=1), 128),
        np.repeat(((warps > 25) << np.arange(32)).sum(axis=1), 32),
        np.repeat(warps.sum(axis=1), 32),
        np.repeat(warps.max(axis=1), 32),
        np.roll(warps, -5, axis=1).reshape(-1),
        np.repeat((ctas == 49).any(axis=1), 128),
    ]
    for out, want in zip(outs, expected, strict=True):
        assert (out.host == want).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=300))
def test_atomics_give_every_thread_a_different_place(keys):
    @kernel
    def place(t, key, counts, where):
        mine = t.load(key, t.id)
        t.store(where, t.id, t.atomic_add(counts, mine, 1))

    gpu = new_gpu()
    key = gpu.memory.array("key", np.array(keys, np.int32))
    counts, where = gpu.memory.empty("counts", 10), gpu.memory.empty("where", len(keys))
    gpu.launch(place, len(keys), key, counts, where, phase="test")
    for k in range(10):
        mine = np.array(keys) == k
        assert sorted(where.host[mine]) == list(range(mine.sum()))


def test_races_see_earlier_batches_only():
    """A thread that finds 0 writes 1: alone they are visited once, all at once everyone finds 0."""

    @kernel(races=True)
    def claim(t, flag, wins):
        with t.where(t.load(flag, 0) == 0):
            t.store(flag, 0, 1)
            t.atomic_add(wins, 0, 1, used=False)

    for together, expected in ((1, 32), (2, 64), (4, 128), (0, 8 * 32)):
        gpu = new_gpu(visibility_ctas=together, residency=Residency(4, 64))
        flag, wins = gpu.memory.empty("flag", 1), gpu.memory.empty("wins", 1)
        gpu.launch(claim, 8 * 32, flag, wins, phase="test", threads_per_cta=32)
        assert wins.host[0] == expected


def test_the_stream_does_not_depend_on_the_size_of_waves(monkeypatch):
    @kernel
    def scale(t, x, y):
        for i in t.range(0, t.load(x, t.id) & 7):
            t.store(y, t.id, i)

    monkeypatch.setattr(sys.modules["warpsift.simt.gpu"], "WAVE_THREADS_WITHOUT_RACES", 256)
    streams = []
    for sms in (1, 64):
        sink = Tape()
        gpu = Gpu(sink, memory_bytes=1 << 24, residency=Residency(sms, 256))
        x = gpu.memory.array("x", np.arange(5000, dtype=np.int32))
        gpu.launch(scale, 5000, x, gpu.memory.empty("y", 5000), phase="test")
        assert (len(sink.chunks) > 1) == (sms == 1)
        fields = ("kind", "lanes", "slot", "transactions", "wait", "count", "array", "detail")
        streams.append([np.concatenate([c.ops[f] for c in sink.chunks]).tolist() for f in fields])
    assert streams[0] == streams[1]


# ------------------------------------------------------------------ the stream
def test_independent_loads_overlap_and_a_use_waits():
    @kernel
    def add(t, a, b, c):
        t.store(c, t.id, t.load(a, t.id) + t.load(b, t.id))

    sink = Tape()
    gpu = Gpu(sink, memory_bytes=1 << 20)
    a, b, c = (gpu.memory.empty(n, 32) for n in "abc")
    gpu.launch(add, 32, a, b, c, phase="test", threads_per_cta=32)
    ops = sink.chunks[0].ops
    loads = ops[ops["kind"] == LOAD]
    assert len(loads) == 2 and loads["wait"].tolist() == [0, 0] and loads["slot"][0] != loads["slot"][1]
    both = sum(1 << int(slot) for slot in loads["slot"])
    waiting = ops[(ops["kind"] == ALU) & (ops["wait"] != 0)]
    assert waiting["wait"].tolist() == [both]
    assert ops[ops["kind"] == STORE]["slot"].tolist() == [NO_SLOT]


def test_an_address_made_early_waits_early_and_costs_no_more():
    """Where a compiler puts the arithmetic of an address before the next load, that load waits for the index."""

    def recorded(early):
        @kernel
        def scatter(t, index, values, out):
            place = t.load(index, t.id)
            if early:
                t.address(out, place)
            t.store(out, place, t.load(values, t.id))

        sink = Tape()
        gpu = Gpu(sink, memory_bytes=1 << 20)
        index, values, out = (gpu.memory.empty(n, 32) for n in ("index", "values", "out"))
        gpu.launch(scatter, 32, index, values, out, phase="test", threads_per_cta=32)
        return sink.chunks[0].ops

    late, early = recorded(False), recorded(True)
    for ops, expected in ((late, False), (early, True)):
        first, second = np.flatnonzero(ops["kind"] == LOAD)
        assert bool(ops["wait"][first + 1 : second + 1].any()) == expected
    assert late["count"].sum() == early["count"].sum()


def test_a_pointer_chase_is_a_chain():
    @kernel
    def chase(t, following, out):
        at = t.var(0)
        for _ in t.range(0, t.load(following, t.id) * 0 + 40):
            at.set(t.load(following, at))
        t.store(out, t.id, at)

    sink = Tape()
    gpu = Gpu(sink, memory_bytes=1 << 20)
    ring = gpu.memory.array("following", np.roll(np.arange(64, dtype=np.int32), -1))
    out = gpu.memory.empty("out", 1)
    gpu.launch(chase, 1, ring, out, phase="test", threads_per_cta=32)
    assert out.host[0] == 40
    in_flight, loads = 0, 0
    for op in sink.chunks[0].ops:
        in_flight &= ~int(op["wait"])
        if op["kind"] == LOAD:
            assert not in_flight, "a load was issued before the one it depends on had returned"
            in_flight = 1 << int(op["slot"])
            loads += 1
    assert loads == 41


def test_instruction_counts_of_a_small_kernel():
    """22 PTX instructions: 4 + 3 parameters, 4 for the thread's number, guard, addresses, 2 loads, add, store, ret."""

    @kernel
    def add(t, a, b, c):
        t.store(c, t.id, t.load(a, t.id) + t.load(b, t.id))

    gpu = new_gpu()
    a, b, c = (gpu.memory.empty(n, 64, np.float32) for n in "abc")
    gpu.launch(add, 64, a, b, c, phase="test", threads_per_cta=32)
    counts = totals(gpu)
    assert counts.warp_instructions == 2 * 22
    assert counts.thread_instructions == 64 * 22
    assert counts.float_instructions == 2
    assert (counts.load_instructions, counts.store_instructions, counts.transactions) == (4, 2, 6)
    assert counts.coalescing_efficiency == 1


def test_barriers_are_recorded_for_every_warp():
    @kernel(guard=False)
    def meet(t):
        t.barrier()

    sink = Tape()
    Gpu(sink, memory_bytes=1 << 20).launch(meet, 512, phase="test", threads_per_cta=128)
    assert (sink.chunks[0].ops["kind"] == BARRIER).sum() == 16


def test_no_threads_no_launch():
    @kernel
    def nothing(t):
        pass

    gpu = new_gpu()
    gpu.launch(nothing, 0, phase="test")
    assert gpu.sink.launches == []


# ------------------------------------------------------------------ errors
def fails(text, message: str, error=KernelError, guard: bool = True, n: int = 40) -> None:
    gpu = new_gpu()
    x = gpu.memory.array("x", np.arange(64, dtype=np.int32))
    with pytest.raises(error) as caught:
        gpu.launch(kernel(text, guard=guard), n, x, phase="test")
    assert str(caught.value) == message


def test_registers_are_opaque():
    fails(
        lambda t, x: np.asarray(t.load(x, t.id)),
        "a register cannot become a NumPy array: that work would not be counted. "
        "Store it to a device array and read that on the host",
    )
    fails(lambda t, x: list(t.id), "a register cannot be iterated over: use 'for i in t.range(begin, end)'")


def test_python_if_on_a_register():
    def text(t, x):
        if t.load(x, t.id) > 3:
            t.store(x, t.id, 0)

    fails(
        text,
        "a register has a value per thread and cannot decide an 'if' or 'while': "
        "use 'with t.where(condition):' or 'for i in t.range(...)'",
    )


def test_value_of_a_branch_used_outside():
    def text(t, x):
        value = t.load(x, t.id)
        with t.where(value > 3):
            inner = value + 1
        t.store(x, t.id, inner)

    fails(
        text,
        "a register made under a condition or inside a loop is used outside of it; "
        "carry the value in a variable made by t.var(...)",
    )


def test_out_of_range():
    message = "index 64 is outside of array 'x', which has 64 elements"
    fails(lambda t, x: t.load(x, t.id + 25), message, DeviceMemoryError)
    fails(lambda t, x: t.store(x, t.id - 1, 0), message.replace("64 is", "-1 is"), DeviceMemoryError)


def test_barrier_in_a_branch():
    def text(t, x):
        with t.where(t.load(x, t.id) > 3):
            t.barrier()

    fails(
        text,
        "t.barrier() is reached by only some threads of a CTA, which hangs a GPU: make the condition around it "
        "the same for the whole CTA, or write the kernel with @kernel(guard=False)",
    )


def test_constant_condition():
    def text(t, x):
        with t.where(True):
            pass

    fails(text, "a condition must be a register; for a launch-wide choice use a plain Python 'if'")


def test_odd_cta():
    gpu = new_gpu()
    with pytest.raises(KernelError, match="threads_per_cta must be a multiple of 32 up to 1024, not 100"):
        gpu.launch(kernel(lambda t: None), 5, phase="test", threads_per_cta=100)


def test_device_memory_runs_out():
    gpu = new_gpu()
    with pytest.raises(DeviceMemoryError) as caught:
        gpu.memory.empty("huge", 1 << 23)
    assert str(caught.value) == (
        "array 'huge' of 32.0 MiB does not fit the device: 0.0 of 16 MiB are taken. "
        "Use a smaller graph, or a machine with more memory, such as --set dram.size_mib=64"
    )
