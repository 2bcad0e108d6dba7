"""Coalescing against a naive per-lane oracle, and the test vectors of the MFF paper's Figs. 3 and 4."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_simt as naive
from support.tapes import Tape
from warpsift.simt import Chunk, Gpu, kernel
from warpsift.simt.stream import ALU, ATOMIC, LINE_SHIFT, LOAD, REPEAT_SHIFT, SHARED, STORE


@kernel
def read(t, index, values):
    t.load(values, t.load(index, t.id))


@kernel
def write(t, index, values):
    t.store(values, t.load(index, t.id), 1)


@kernel
def count(t, index, values):
    t.atomic_add(values, t.load(index, t.id), 1, used=False)


def record(text, index: np.ndarray, length: int, dtype=np.int32) -> tuple[Chunk, int]:
    """Run a kernel over the indexes; gives the chunk and the address of `values`."""
    sink = Tape()
    gpu = Gpu(sink, memory_bytes=1 << 24)
    where = gpu.memory.array("index", index.astype(np.int32))
    values = gpu.memory.empty("values", length, dtype)
    gpu.launch(text, index.size, where, values, phase="test", threads_per_cta=64)
    assert len(sink.chunks) == 1
    return sink.chunks[0], values.address


def transactions(chunk: Chunk, op) -> list[tuple[int, int, int]]:
    """(line, repeat, sectors) of one instruction."""
    words = chunk.transactions[op["first"] : int(op["first"]) + int(op["transactions"])].tolist()
    return [(w >> LINE_SHIFT, (w >> REPEAT_SHIFT) & 255, w & 15) for w in words]


def accesses(chunk: Chunk, kind: int, skip: int) -> list:
    """Per warp, its instruction of this kind after `skip` others of the kind."""
    found = []
    for w in range(chunk.warps):
        ops = chunk.ops[chunk.warp_first[w] : chunk.warp_first[w + 1]]
        mine = ops[ops["kind"] == kind]
        if len(mine) > skip:
            found.append(mine[skip])
    return found


indexes = st.lists(st.integers(0, 999), min_size=1, max_size=150)


@settings(max_examples=60, deadline=None)
@given(indexes, st.sampled_from([np.int8, np.int16, np.int32, np.int64]))
def test_loads_and_stores_touch_each_line_once(index, dtype):
    size = np.dtype(dtype).itemsize
    for text, kind, skip in ((read, LOAD, 1), (write, STORE, 0)):
        chunk, base = record(text, np.array(index), 1000, dtype)
        for w, op in enumerate(accesses(chunk, kind, skip)):
            lanes = index[32 * w : 32 * w + 32]
            assert op["lanes"] == len(lanes)
            expected = naive.line_transactions([base + size * i for i in lanes])
            assert [(line, sectors) for line, _, sectors in transactions(chunk, op)] == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=100))
def test_atomics_take_turns_on_one_address(index):
    chunk, base = record(count, np.array(index), 64)
    for w, op in enumerate(accesses(chunk, ATOMIC, 0)):
        lanes = [base + 4 * i for i in index[32 * w : 32 * w + 32]]
        found = {4 * line + sectors.bit_length() - 1: repeat for line, repeat, sectors in transactions(chunk, op)}
        assert found == naive.atomic_transactions(lanes)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 255), min_size=32, max_size=32), st.sampled_from([np.int32, np.int64]))
def test_bank_passes(index, dtype):
    @kernel
    def touch(t, where):
        t.shared(dtype, 256).load(t.load(where, t.id))

    sink = Tape()
    gpu = Gpu(sink, memory_bytes=1 << 20)
    gpu.launch(touch, 32, gpu.memory.array("where", np.array(index, np.int32)), phase="test", threads_per_cta=32)
    (op,) = accesses(sink.chunks[0], SHARED, 0)
    size = np.dtype(dtype).itemsize
    assert op["count"] == naive.bank_passes([size * i for i in index], size)
    assert sink.info[0].shared_bytes_per_cta == 256 * size


def test_unit_stride_is_one_line_and_wide_elements_are_two():
    for dtype, lines in ((np.int32, 1), (np.int64, 2), (np.int8, 1)):
        chunk, _ = record(read, np.arange(32), 1000, dtype)
        assert accesses(chunk, LOAD, 1)[0]["transactions"] == lines


def test_figure_3_of_the_mff_paper():
    """V[3] is wanted by threads 0, 1 and 2: twice by the plain GPU, whose warp meets it in two iterations."""
    offsets = np.array([0, 8, 9, 15, 17], np.int32)
    column = np.zeros(17, np.int32)
    column[[0, 1, 8, 9, 10, 15, 16]] = 0, 3, 3, 1, 3, 0, 1

    @kernel
    def first_two(t, rows, columns, values):
        begin = t.load(rows, t.id)
        end = t.minimum(t.load(rows, t.id, offset=1), begin + 2)
        for edge in t.range(begin, end):
            t.load(values, t.load(columns, edge) * 32)  # vertices apart by a line, as in the figure's blocks

    sink = Tape()
    gpu = Gpu(sink, memory_bytes=1 << 20)
    rows, columns = gpu.memory.array("R", offsets), gpu.memory.array("C", column)
    values = gpu.memory.empty("V", 4 * 32)
    gpu.launch(first_two, 4, rows, columns, values, phase="test", threads_per_cta=32)
    wanted = values.address // 128 + 3
    requests = [line for op in accesses_all(sink.chunks[0], LOAD) for line, _, _ in transactions(sink.chunks[0], op)]
    assert requests.count(wanted) == 2


def accesses_all(chunk: Chunk, kind: int) -> list:
    return [op for op in chunk.ops if op["kind"] == kind]


def test_figure_4_of_the_mff_paper():
    """Requests of one moment merge, requests of different moments do not: 11 requests to 4 blocks.

    The text gives the first two moments (four requests to one block, then three more to it) and the total; the
    moments after them are ours.
    """
    moments = [[0] * 4, [0] * 3, [1, 1], [1], [2, 2], [2], [3, 3], [3], [0, 1], [2]]
    requests = 0
    for blocks in moments:
        chunk, _ = record(read, np.array(blocks) * 32, 128)
        requests += int(accesses(chunk, LOAD, 1)[0]["transactions"])
    assert requests == 11


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 65, 1000])
def test_every_warp_has_one_contiguous_run_and_the_guard_drops_the_rest(n):
    chunk, _ = record(read, np.arange(n), 1000)
    assert chunk.warps == 2 * chunk.ctas == 2 * -(-n // 64)
    loads = accesses(chunk, LOAD, 1)
    assert sum(int(op["lanes"]) for op in loads) == n
    assert chunk.warp_first[0] == 0 and chunk.warp_first[-1] == len(chunk.ops)
    assert (chunk.ops["kind"] == ALU).sum() >= chunk.warps
