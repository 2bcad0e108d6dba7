"""PC_gather, PC_scatter_set and PC_wait inside kernels: what they compute, what they record, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_mff
from support.tapes import Tape
from warpsift.algorithms import ALGORITHMS, OptionError
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import load_graph
from warpsift.simt import Counter, DeviceMemoryError, Gpu, KernelError, kernel
from warpsift.simt.stream import COMMAND, POST
from warpsift.units.mff.drivers import DRIVERS
from warpsift.units.mff.mff_threads import bind_fast_forward


@kernel
def copy_lists(t, begins, sizes, out, words):
    """out[thread * 32 + k] = V[C[begin + k]]."""
    target = t.pc_target(np.float32, words)
    begin, size = t.load(begins, t.id), t.load(sizes, t.id)
    t.pc_gather(target, begin, size)
    t.pc_wait()
    for k in t.range(0, size):
        t.store(out, t.id * 32 + k, target.load(k))


@kernel
def activate_lists(t, begins, sizes):
    t.pc_scatter_set(t.load(begins, t.id), t.load(sizes, t.id))


def lists(seed, threads, vertices=500, edges=3000):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, vertices, edges).astype(np.int32)
    sizes = rng.integers(0, 33, threads).astype(np.int32)
    begins = rng.integers(0, edges - 32, threads).astype(np.int32)
    return columns, begins, sizes


def small_gpu(sink=None):
    return Gpu(sink or Counter(), memory_bytes=16 << 20)


def bound(gpu, columns, vertices=500):
    values = np.arange(vertices, dtype=np.float32) * 0.5
    edges = gpu.memory.array("edges", columns)
    active = gpu.memory.empty("active", (vertices + 31) // 32, np.uint32)
    v = gpu.memory.array("values", values)
    bind_fast_forward(gpu, in_edges=edges, out_edges=edges, values=v, active=active)
    return values, active


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), threads=st.integers(1, 300))
def test_gather_returns_the_words(seed, threads):
    columns, begins, sizes = lists(seed, threads)
    gpu = small_gpu()
    values, _ = bound(gpu, columns)
    out = gpu.memory.full("out", threads * 32, -1, np.float32)
    arrays = gpu.memory.array("b", begins), gpu.memory.array("s", sizes)
    gpu.launch(copy_lists, threads, *arrays, out, 32, phase="compute", threads_per_cta=64)
    for thread, words in enumerate(naive_mff.gather(columns, values, begins, sizes)):
        assert out.host[thread * 32 : thread * 32 + len(words)].tolist() == words


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), threads=st.integers(1, 300), dtype=st.sampled_from([np.uint32, np.uint8]))
def test_scatter_sets_exactly_the_named_vertices(seed, threads, dtype):
    columns, begins, sizes = lists(seed, threads)
    gpu = small_gpu()
    length = 16 if dtype is np.uint32 else 500
    active = gpu.memory.empty("active", length, dtype)
    bind_fast_forward(gpu, out_edges=gpu.memory.array("edges", columns), active=active)
    arrays = gpu.memory.array("b", begins), gpu.memory.array("s", sizes)
    gpu.launch(activate_lists, threads, *arrays, phase="compute")
    flags = active.host.view(np.uint8)
    flags = np.unpackbits(flags, bitorder="little", count=500) if dtype is np.uint32 else flags
    assert np.array_equal(flags.astype(bool), naive_mff.scatter(columns, 500, begins, sizes))


def test_one_command_per_warp_with_an_entry_per_thread():
    columns, begins, sizes = lists(3, 64)
    sizes[:] = 5
    sizes[7] = 0
    tape = Tape()
    gpu = small_gpu(tape)
    bound(gpu, columns)
    out = gpu.memory.empty("out", 64 * 32, np.float32)
    arrays = gpu.memory.array("b", begins), gpu.memory.array("s", sizes)
    gpu.launch(copy_lists, 64, *arrays, out, 32, phase="compute", threads_per_cta=64)
    gpu.launch(activate_lists, 64, *arrays, phase="compute", threads_per_cta=64)
    for (_, (chunk,)), kind in zip(tape.launches, (COMMAND, POST), strict=True):
        commands = chunk.ops[chunk.ops["kind"] == kind]
        assert commands["transactions"].tolist() == [31, 32]
        entries = chunk.commands[commands["first"][0] : commands["first"][0] + 31]
        lanes = [lane for lane in range(32) if lane != 7]
        assert ((entries >> 8) & 255).tolist() == lanes
        assert (entries >> 16).tolist() == begins[lanes].tolist()
        assert (entries & 255).tolist() == [5] * 31


def test_the_wait_waits_for_the_gather():
    columns, begins, sizes = lists(3, 32)
    tape = Tape()
    gpu = small_gpu(tape)
    bound(gpu, columns)
    out = gpu.memory.empty("out", 32 * 32, np.float32)
    arrays = gpu.memory.array("b", begins), gpu.memory.array("s", sizes)
    gpu.launch(copy_lists, 32, *arrays, out, 32, phase="compute", threads_per_cta=32)
    ops = tape.launches[0][1][0].ops
    at = int(np.flatnonzero(ops["kind"] == COMMAND)[0])
    assert (ops["wait"][at + 1] >> ops["slot"][at]) & 1


def test_a_target_takes_four_kilobytes_per_warp():
    columns, begins, sizes = lists(3, 128)
    tape = Tape()
    gpu = small_gpu(tape)
    bound(gpu, columns)
    out = gpu.memory.empty("out", 128 * 32, np.float32)
    arrays = gpu.memory.array("b", begins), gpu.memory.array("s", sizes)
    gpu.launch(copy_lists, 128, *arrays, out, 32, phase="compute", threads_per_cta=128)
    assert tape.launches[0][0].shared_bytes_per_cta == 4 * 4096


# ---------------------------------------------------------------------------------------------------- refusals
def refused(gpu, function, *arguments, error=KernelError):
    with pytest.raises(error) as caught:
        gpu.launch(kernel(function), 32, *arguments, phase="compute", threads_per_cta=32)
    return str(caught.value)


def test_size_over_32():
    gpu = small_gpu()
    bound(gpu, np.zeros(100, np.int32))
    assert refused(gpu, lambda t: t.pc_scatter_set(0, 33)) == (
        "t.pc_scatter_set(): size 33 is not in 0..32; longer lists take several calls: "
        "for first in t.range(begin, end, step=32)"
    )


def test_reading_before_the_wait():
    gpu = small_gpu()
    bound(gpu, np.zeros(100, np.int32))

    def reads(t):
        target = t.pc_target(np.float32)
        t.pc_gather(target, 0, 4)
        target.load(0)

    assert refused(gpu, reads) == (
        "the target of t.pc_gather() is read before its words have come: call t.pc_wait() first"
    )


def test_gathering_twice_into_a_target():
    gpu = small_gpu()
    bound(gpu, np.zeros(100, np.int32))

    def twice(t):
        target = t.pc_target(np.float32)
        t.pc_gather(target, 0, 4)
        t.pc_gather(target, 4, 4)

    assert refused(gpu, twice) == (
        "t.pc_gather() into a target whose words are still under way: call t.pc_wait() first"
    )


def test_ending_without_a_wait():
    gpu = small_gpu()
    bound(gpu, np.zeros(100, np.int32))
    assert refused(gpu, lambda t: t.pc_gather(t.pc_target(np.float32), 0, 4)) == (
        "the kernel ends while words of t.pc_gather() are under way: call t.pc_wait() before"
    )


def test_target_too_small():
    gpu = small_gpu()
    bound(gpu, np.zeros(100, np.int32))
    assert refused(gpu, lambda t: t.pc_gather(t.pc_target(np.float32, words=8), 0, 9)) == (
        "t.pc_gather() of 9 words into a target of 8 words per thread: "
        "make it with t.pc_target(dtype, words=9) or gather less at a time"
    )


def test_target_of_another_type():
    gpu = small_gpu()
    bound(gpu, np.zeros(100, np.int32))
    assert refused(gpu, lambda t: t.pc_gather(t.pc_target(np.int32), 0, 1)) == (
        "t.pc_gather(): the target holds int32, but values = 'values' holds float32: "
        "make it with t.pc_target(np.float32)"
    )


def test_nothing_bound():
    gpu = small_gpu()
    assert refused(gpu, lambda t: t.pc_scatter_set(0, 1)) == (
        "t.pc_scatter_set: kernels have no such call; a special unit adds its calls when its arrays are bound, "
        "before the launch"
    )
    bind_fast_forward(gpu)
    assert refused(gpu, lambda t: t.pc_scatter_set(0, 1)) == (
        "t.pc_scatter_set() over out-edges, but no out-edge CSR is bound: "
        "call bind_fast_forward(gpu, out_edges=...) before the launch"
    )
    bind_fast_forward(gpu, in_edges=gpu.memory.empty("edges", 4))
    assert refused(gpu, lambda t: t.pc_gather(t.pc_target(), 0, 1)) == (
        "t.pc_gather() without vertex values: call bind_fast_forward(gpu, values=...)"
    )


def test_lists_that_leave_their_arrays():
    gpu = small_gpu()
    bound(gpu, np.full(100, 500, np.int32))
    assert refused(gpu, lambda t: t.pc_scatter_set(90, 11), error=DeviceMemoryError) == (
        "t.pc_scatter_set(): elements 90 to 100 are outside of array 'edges', which has 100 elements"
    )
    assert refused(gpu, lambda t: t.pc_gather(t.pc_target(), 0, 1), error=DeviceMemoryError) == (
        "t.pc_gather(): 'edges' names vertex 500, but 'values' has 500 elements"
    )


def test_eight_byte_values_are_refused():
    gpu = small_gpu()
    with pytest.raises(KernelError) as caught:
        bind_fast_forward(gpu, values=gpu.memory.empty("wide", 4, np.float64))
    assert str(caught.value) == (
        "bind_fast_forward: values = 'wide' holds 8-byte elements; the fast-forward unit moves 4-byte words"
    )


# ---------------------------------------------------------------------------------------------------- algorithms
GRAPHS = ["delaunay-9", "rmat-9", "kron-8", "web-1000", "collab-800", "grid-20x20", "road-900"]


@pytest.mark.parametrize("name", sorted(DRIVERS))
@pytest.mark.parametrize("graph", GRAPHS)
def test_same_answer_and_super_steps_as_the_plain_gpu(graph, name):
    algorithm = ALGORITHMS[name]
    for choice in ({}, {"bit_setting": "byte"}, {"active": "all", "target_words": 5}):
        prepared, options = algorithm.prepare(load_graph(graph), algorithm.options(**choice))
        plain = algorithm.styles["vertex"](small_gpu(), prepared, options)
        unit = DRIVERS[name](small_gpu(), prepared, options)
        assert np.array_equal(unit.values, plain.values)
        assert (unit.iterations, unit.work) == (plain.iterations, plain.work)
        assert algorithm.check(prepared, unit, options).passed


def test_the_plain_gpu_at_the_units_occupancy():
    tape = Tape()
    prepared, options = ALGORITHMS["pagerank"].prepare(load_graph("rmat-8"), PagerankOptions(occupancy="target"))
    ALGORITHMS["pagerank"].styles["vertex"](small_gpu(tape), prepared, options)
    pull = next(launch for launch, _ in tape.launches if launch.phase == "compute")
    assert (pull.threads_per_cta, pull.shared_bytes_per_cta) == (128, 16384)


def test_checked_activation_gives_the_same_levels_with_fewer_activations():
    algorithm = ALGORITHMS["bfs"]
    graph, options = algorithm.prepare(load_graph("kron-8"), algorithm.options())
    _, checked = algorithm.prepare(graph, algorithm.options(checked_activation=True, source=options.source))
    plain = algorithm.styles["vertex"](small_gpu(), graph, options)
    fewer = algorithm.styles["vertex"](small_gpu(), graph, checked)
    assert np.array_equal(plain.values, fewer.values)
    assert fewer.work.nodes_processed < plain.work.nodes_processed
    with pytest.raises(OptionError) as caught:
        DRIVERS["bfs"](small_gpu(), graph, checked)
    assert str(caught.value) == (
        "checked_activation is not possible with the fast-forward unit: PC_scatter_set cannot test a vertex; "
        "drop the option, or run without the unit"
    )


def test_options_out_of_range():
    with pytest.raises(OptionError, match="occupancy must be 'full' or 'target', not 'half'"):
        PagerankOptions(occupancy="half")
    with pytest.raises(OptionError, match="target_words must lie between 1 and 32, not 33"):
        PagerankOptions(target_words=33)
