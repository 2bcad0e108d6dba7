"""Traced kernels beside their texts: the same answers, memory and stream, bit for bit, and the same errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from support.tapes import Tape
from support.traced_launches import STYLES, both, run, same
from warpsift.simt import DeviceMemoryError, Gpu, KernelError, kernel, recorder
from warpsift.simt import gpu as launching
from warpsift.simt.vector_machine import machine_launch, warp_order

pytestmark = pytest.mark.skipif(not launching.JIT_ENABLED, reason="the machine is compiled code")


@pytest.fixture(autouse=True)
def trace_everything(monkeypatch):
    monkeypatch.setattr(launching, "SMALLEST_TRACED", 0)
    monkeypatch.setattr(launching, "PATIENCE_S", -1.0)


@pytest.mark.parametrize(("algorithm", "style"), STYLES)
@pytest.mark.parametrize("graph", ["grid-5x7", "kron-8"])
def test_every_algorithm_is_traced_and_its_stream_is_that_of_its_text(algorithm, style, graph, monkeypatch):
    monkeypatch.setattr(recorder, "LOGGED_ELEMENTS", 3000)  # so that the log is full within a wave
    ours, answer, gpu = run(algorithm, style, graph, traces=True, visibility_ctas=1)
    assert gpu._machine is not None and not gpu._untraceable
    theirs, expected, plain = run(algorithm, style, graph, traces=False, visibility_ctas=1)
    assert plain._machine is None
    assert np.array_equal(answer, expected) and same(ours, theirs)


@pytest.mark.parametrize("choice", [{"split_kernels": True}, {"filter_kernel": True}, {"history_culling": False}])
def test_the_variants_of_bfs(choice):
    ours, answer, _ = run("bfs", "frontier", "kron-7", traces=True, **choice)
    theirs, expected, _ = run("bfs", "frontier", "kron-7", traces=False, **choice)
    assert np.array_equal(answer, expected) and same(ours, theirs)


# ---------------------------------------------------------------------- random kernels
KINDS = (np.int32, np.int64, np.uint32, np.uint8, np.float32, np.float64, np.bool_)
BINARY = ("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "min", "max", "/")
step = st.tuples(
    st.sampled_from(
        (*BINARY, "~", "neg", "abs", "cast", "select", "fma", "where", "set", "scan", "sum", "any", "store")
    ),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(KINDS),
    st.sampled_from((-3, 0, 1, 2, 31, 40, 7)),
)


def apply(t, name, a, b, kind, number):
    """One instruction of a random kernel, or None if NumPy has none of these types either."""
    operators = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "//": lambda: a // b, "%": lambda: a % b,
        "<<": lambda: a << b, ">>": lambda: a >> b, "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
        "==": lambda: a == b, "!=": lambda: a != b, "<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b,
        ">=": lambda: a >= b, "min": lambda: t.minimum(a, b), "max": lambda: t.maximum(a, b), "/": lambda: a / b,
        "~": lambda: ~a, "neg": lambda: -a, "abs": lambda: abs(a), "cast": lambda: a.astype(kind),
        "select": lambda: t.select(a != 0, a, b), "fma": lambda: t.fma(a, b, number),
        "scan": lambda: t.warp_scan(a), "sum": lambda: t.warp_sum(a), "any": lambda: t.warp_any(a != 0),
    }  # fmt: skip
    return operators[name]()


def is_defined(name, a, b, kind) -> bool:
    """Whether NumPy knows the operation, and no float beyond an integer's range is cast, which the host decides."""
    left, right = np.ones(1, a.dtype), np.ones(1, b.dtype)
    if name == "cast":
        return a.dtype.kind != "f" or np.dtype(kind).kind in "fb"
    unary = {"~": np.invert, "neg": np.negative, "abs": np.abs}
    binary = {
        "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.mod, "<<": np.left_shift,
        ">>": np.right_shift, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "/": np.divide,
        "fma": np.multiply,
    }  # fmt: skip
    try:
        if name in unary:
            unary[name](left)
        elif name in binary:
            binary[name](left, right)
    except TypeError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(st.lists(step, min_size=1, max_size=14), st.integers(0, 2**32 - 1))
def test_random_kernels_compute_and_record_the_same(steps, seed):
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(0, 50, 96).astype(kind) for kind in KINDS]
    outputs = [np.zeros(96, kind) for kind in KINDS]

    @kernel
    def text(t, *arrays):
        values = [t.load(array, t.id) for array in arrays[: len(KINDS)]]
        out = dict(zip((np.dtype(kind) for kind in KINDS), arrays[len(KINDS) :], strict=True))
        variable = t.var(values[0])
        for name, left, right, kind, number in steps:
            a, b = values[left % len(values)], values[right % len(values)]
            if name == "where":
                with t.where(a != 0):
                    t.store(out[b.dtype], t.id, b)
                    variable.set(b)
                values.append(variable + number)
            elif name == "set":
                variable.set(number)
            elif name == "store":
                t.store(out[a.dtype], t.id, a)
            elif is_defined(name, a, b, kind):
                made = apply(t, name, a, b, kind, number)
                if made.dtype in out:
                    values.append(made)
        for value in values[len(KINDS) :]:
            t.store(out[value.dtype], t.id, value)

    gpu = Gpu(Tape(), memory_bytes=1 << 22)
    gpu.traces = False
    held = [gpu.memory.array(f"a{k}", values) for k, values in enumerate((*inputs, *outputs))]
    try:
        gpu.launch(text, 90, *held, phase="p", threads_per_cta=64)
    except Exception:
        return  # what the text itself may not do is compared elsewhere
    with np.errstate(all="ignore"):
        both(text, 90, *inputs, *outputs, threads_per_cta=64)


# ---------------------------------------------------------------------- loops and memory
def test_loops_conditions_and_shared_memory():
    @kernel(guard=False, races=True)
    def text(t, lengths, out, sums):
        box = t.shared(np.int32, 64)
        box.store(t.in_cta, t.id * 3)
        t.barrier()
        total, left = t.var(0), t.var(t.load(lengths, t.id))
        for k in t.range(0, t.load(lengths, t.id)):
            total += box.load((t.in_cta + k) & 63)
            with t.where((k & 1) == 0):
                t.store(out, t.id, total, offset=0)
            with t.otherwise((k & 1) == 0):
                t.atomic_add(sums, k & 7, total, used=False)

        def something_left():
            return left > 0

        for _ in t.loop_while(something_left):
            for _ in t.range(t.lane, left, step=32):
                t.atomic_max(sums, left & 7, total)
            left -= 5
        before = box.look_and_put(t.in_cta >> 1, total)
        t.store(out, t.id, t.shuffle(before, 3) + t.popcount(t.ballot(total > 4)))

    rng = np.random.default_rng(3)
    both(text, 256, rng.integers(0, 40, 256).astype(np.int32), np.zeros(256, np.int32), np.zeros(8, np.int32),
         threads_per_cta=64)  # fmt: skip


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.float32, np.int64, np.float64])
def test_atomics_in_the_order_in_which_warps_arrive(kind):
    @kernel
    def text(t, index, values, sums, least, old):
        t.store(old, t.id, t.atomic_add(sums, t.load(index, t.id), t.load(values, t.id)))
        with t.where(t.lane < 20):
            t.atomic_add(least, t.load(index, t.id), t.load(values, t.id), used=False)

    rng = np.random.default_rng(5)
    values = rng.random(300).astype(kind) if np.dtype(kind).kind == "f" else rng.integers(0, 9, 300).astype(kind)
    index = rng.integers(0, 6, 300).astype(np.int32)
    both(text, 300, index, values, np.zeros(6, kind), np.zeros(6, kind), np.zeros(300, kind))


def test_the_order_of_warps_is_numpys():
    @njit
    def shuffled(words, count):
        order = np.zeros(count, np.int64)
        warp_order.shuffle(words, order, count)
        return order

    for seed in range(40):
        theirs = np.random.default_rng(seed)
        words = warp_order.words_of(np.random.default_rng(seed))
        for count in (1, 2, 3, 5, 8, 33, 128, 1000, 70_000 if seed < 2 else 17):
            assert np.array_equal(shuffled(words, count), theirs.permutation(count))


def test_what_a_text_carries_from_iteration_to_iteration_is_not_traced():
    @kernel
    def text(t, out):
        seen = []
        for k in t.range(0, 3):
            seen.append(k)
            t.store(out, t.id, len(seen))

    assert both(text, 64, np.zeros(64, np.int32))[0].tolist() == [3] * 64


def test_more_programs_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(machine_launch, "FIRST_PROGRAMS", 8)

    @kernel
    def text(t, x):
        value = t.load(x, t.id)
        for k in range(40):
            for _ in range(k):
                value = value + 1
            t.store(x, t.id, value)

    both(text, 64, np.zeros(64, np.int32))


# ---------------------------------------------------------------------- errors
@kernel
def leaves_its_array(t, x):
    t.load(x, t.id, offset=1)


@kernel
def leaves_shared_memory(t, x):
    t.shared(np.int32, 8).store(t.in_cta, 1)


@kernel
def parts_at_a_barrier(t, x):
    with t.where(t.load(x, t.id) == 0):
        t.barrier()


@pytest.mark.parametrize("text", [leaves_its_array, leaves_shared_memory, parts_at_a_barrier])
def test_errors_are_those_of_the_text(text):
    said = []
    for traces in (True, False):
        gpu = Gpu(Tape(), memory_bytes=1 << 20)
        gpu.traces = traces
        x = gpu.memory.array("x", np.arange(64, dtype=np.int32))
        with pytest.raises((DeviceMemoryError, KernelError)) as error:
            gpu.launch(text, 64, x, phase="p", threads_per_cta=32)
        assert (gpu._machine is not None) == traces
        said.append((type(error.value), str(error.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("traced", [True, False])
def test_a_failed_kernel_leaves_nothing_behind(traced):
    sinks = [Tape(), Tape()]

    @kernel
    def works(t, x):
        t.store(x, t.id, 2)

    for sink, fails in zip(sinks, (True, False), strict=True):
        gpu = Gpu(sink, memory_bytes=1 << 20)
        x = gpu.memory.empty("x", 64)
        if fails:
            with pytest.raises(DeviceMemoryError):
                gpu.launch(leaves_its_array, 64, x, phase="p")
        gpu.traces = traced
        gpu.launch(works, 64, x, phase="p")
    ours, clean = (sink.chunks[0] for sink in sinks)
    assert np.array_equal(ours.transactions, clean.transactions)
    assert np.array_equal(ours.ops["kind"], clean.ops["kind"])
