"""Unrolled loops: the same answers, the iterations that compiled code would run, and loads side by side."""

from __future__ import annotations

import numpy as np
import pytest

import warpsift
from warpsift.engine import Engine
from warpsift.machines import load_machine
from warpsift.simt import Gpu, kernel
from warpsift.simt.alu_classes import BESIDE
from warpsift.simt.stream import ALU, LOAD
from warpsift.simt.unrolling import in_turn, interleaved


@kernel
def gather_sum(t, offsets, index, values, out):
    total = t.var(0)
    for k in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        total += t.load(values, t.load(index, k))
    t.store(out, t.id, total)


@kernel
def chase(t, following, hops, out):
    place = t.var(t.id)
    for _ in t.range(0, t.load(hops, t.id)):
        place.set(t.load(following, place))
    t.store(out, t.id, place)


@kernel
def scatter(t, offsets, index, out):
    for k in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        t.atomic_add(out, t.load(index, k), 1, used=False)


@kernel
def nested(t, offsets, out):
    total = t.var(0)
    for k in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        for j in t.range(0, 3):
            total += j * k
    t.store(out, t.id, total)


class Tape:
    """Keeps the stream."""

    def __init__(self) -> None:
        self.chunks = []

    def begin(self, info): ...
    def end(self): ...

    def chunk(self, part):
        self.chunks.append(part)

    def kinds(self, warp: int = 0) -> list[int]:
        part = self.chunks[-1]
        return part.ops["kind"][part.warp_first[warp] : part.warp_first[warp + 1]].tolist()


def lists(lengths: np.ndarray, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return offsets, np.random.default_rng(seed).integers(0, 64, offsets[-1]).astype(np.int32)


def record(text, unroll: int, lengths: np.ndarray, sink=None):
    offsets, index = lists(lengths)
    tape = sink or Tape()
    gpu = Gpu(tape, unroll=unroll)
    device = [gpu.memory.array("offsets", offsets), gpu.memory.array("index", index)]
    if text is gather_sum:
        device.append(gpu.memory.array("values", np.arange(64, dtype=np.int32)))
    if text is nested:
        device.pop()
    out = gpu.memory.full("out", max(64, lengths.size), 0, np.int32)
    gpu.launch(text, lengths.size, *device, out, phase="test")
    return tape, out.host.copy()


@pytest.mark.parametrize("text", [gather_sum, scatter, nested])
@pytest.mark.parametrize("unroll", [2, 3, 4, 8])
def test_the_answer_is_the_same(text, unroll):
    lengths = np.random.default_rng(1).integers(0, 23, 100)
    assert np.array_equal(record(text, 1, lengths)[1], record(text, unroll, lengths)[1])


def test_a_warp_runs_its_longest_groups_and_then_its_longest_rest():
    """32 threads with lists of their own: the loads of compiled code, counted by hand."""
    lengths = np.array([0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 2, 30] + [0] * 20)
    groups, rest = max(n // 4 for n in lengths), max(n % 4 for n in lengths)
    loads = record(gather_sum, 4, lengths)[0].kinds().count(LOAD)
    assert loads == 2 + 2 * (4 * groups + rest)
    assert record(gather_sum, 1, lengths)[0].kinds().count(LOAD) == 2 + 2 * max(lengths)


def test_loads_of_a_group_stand_side_by_side():
    kinds = record(gather_sum, 4, np.full(32, 8))[0].kinds()
    text = "".join("L" if kind == LOAD else "a" if kind == ALU else "." for kind in kinds)
    assert text.count("LLLL") == 4  # two groups: indices, then values
    assert (
        "LL"
        not in "".join("L" if kind == LOAD else "a" for kind in record(gather_sum, 1, np.full(32, 8))[0].kinds())[6:]
    )


def test_stores_and_nested_loops_keep_their_order():
    kinds = record(scatter, 4, np.full(32, 8))[0].kinds()
    assert "LL" not in "".join("L" if kind == LOAD else "a" for kind in kinds)[6:]
    plain, same = record(nested, 1, np.full(32, 8))[0], record(nested, 4, np.full(32, 8))[0]
    outer = [ops["count"].sum() for ops in (plain.chunks[-1].ops, same.chunks[-1].ops)]
    assert outer[1] < outer[0] + 8 * 8  # only the inner loop is unrolled, whose three iterations are a rest


def cycles_of(text, arrays, unroll: int) -> int:
    engine = Engine(load_machine("gtx980"), checks=True)
    gpu = Gpu(engine, unroll=unroll)
    device = [gpu.memory.array(name, values) for name, values in arrays.items()]
    gpu.launch(text, 1, *device, gpu.memory.empty("out", 1, np.int32), phase="test", threads_per_cta=32)
    return engine.launches[-1].counters["cycles"]


def test_a_lone_thread_gathers_four_at_a_time():
    """A list of 1,000 in one thread, all misses: with four loads in flight it takes a third of the time or less."""
    far = (np.random.default_rng(2).permutation(1 << 14)[:1000] * 32).astype(np.int32)
    arrays = {
        "offsets": np.array([0, 1000], np.int32),
        "index": far,
        "values": np.arange(1 << 19, dtype=np.int32),
    }
    one, four = (cycles_of(gather_sum, arrays, unroll) for unroll in (1, 4))
    assert 2.6 < one / four < 4.5


def test_a_chain_of_pointers_is_as_slow_as_before():
    steps = np.random.default_rng(2).permutation(1 << 12).astype(np.int32)
    ring = np.empty(1 << 12, np.int32)
    ring[steps] = np.roll(steps, 1)
    arrays = {"following": ring, "hops": np.array([400], np.int32)}
    one, four = (cycles_of(chase, arrays, unroll) for unroll in (1, 4))
    assert 0.85 < four / one <= 1.0  # only compares and branches are saved


def test_programs_side_by_side_and_in_turn():
    a, b = ((2,), (0, 0), (15, BESIDE)), ((2,), (0, 0))
    assert interleaved([a, b]) == ((2,), (2,), (0, 0), (0, 1), (15, BESIDE))
    assert in_turn([b, b]) == ((2,), (0, 0), (2, 1), (0, 2))


@pytest.mark.parametrize("name", ["pagerank", "sssp", "wcc", "bfs", "bc"])
def test_algorithms_give_the_same_answers(name):
    for overrides in ({"compiler.unroll": 4}, {"compiler.unroll": 1}):
        result = warpsift.simulate(name, "kron-7", style="vertex", gpu="gtx980", overrides=overrides)
        assert result.check == "pass"
