"""y = Ax in three mappings, as gunrock/loops runs them on a V100: float values, int32 indices, 128 threads per CTA.

The texts follow the machine code: gunrock/loops' kernels compiled for sm_70 (NVVM of CUDA 13.0, ptxas 12.4), where
compilers unroll and order loads. Its indices are 64 bits wide, so that arithmetic on them takes two instructions.

`thread_mapped`: a thread per row. `group_mapped`: a warp takes 32 rows, lays their entries end to end by a scan, and
its lanes take entry after entry, with a search for the row and an atomic each. `merge_path`: every thread takes five
steps along the merge path of row ends and entries (Merrill and Garland, SC 2016), an atomic per entry. Osama,
Porumbescu and Owens, "A programming model for GPU load balancing", PPoPP 2023.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.engine import Engine
from warpsift.graph import CsrGraph
from warpsift.hardware import WARP_SIZE
from warpsift.machines import Machine
from warpsift.simt import Gpu, Residency, kernel
from warpsift.simt.alu_classes import ADD, COMPARE, CONTROL, LOGIC
from warpsift.validation.spmv_search import merge_coordinate, upper_bound

BLOCK = 128
ITEMS_PER_THREAD = 5  # of the merge path, for values of four bytes
TILE = BLOCK * ITEMS_PER_THREAD
SEARCH_SETUP, SEARCH_END = 13, 6  # around the search of a group: moves, 64-bit differences, a test that never fails
# Orders in which ptxas loads and adds up 16, 8, 4 entries of a row: index, value, address of x, x, multiply-add
SIXTEEN = """
i0 i1 i2 i3 v0 v1 i4 i5 i6 a0 a1 x0 x1 x2 v2 x4 f0 a3 v3 f1 x3 a5 i7 v4 x5 v5 f2 i8 a6 v6 x6 i10 f3 v7 f4 a7 f5 x7 i9
a8 v8 i11 f6 x8 i13 i14 i12 i15 a9 f7 a10 x9 a11 v9 f8 x10 v11 a13 x11 a12 v10 a14 x13 x12 v12 v13 a15 x14 v14 v15 x15
f9 f10 f11 f12 f13 f14 f15"""
EIGHT = """
i0 i1 i2 v0 i3 i4 i5 i6 i7 v1 v2 v3 x0 a1 a2 a4 x2 x4 a7 v7 v5 v6 x7 f0 x1 a3 a5 x3 a6 v4 x5 x6 f1 f2 f3 f4 f5 f6 f7"""
FOUR = "i0 i1 i2 i3 v0 v1 v2 v3 x0 x1 x2 x3 f0 f1 f2 f3"
ONE = "i0 v0 x0 f0"


def _add_up(t, order, entry, arrays, total):
    """Entries of a row from this one on, loaded and multiplied in the given order."""
    indices, values, x = arrays
    columns, numbers, words = {}, {}, {}
    for step in order.split():
        k = int(step[1:])
        if step[0] == "i":
            columns[k] = t.load(indices, entry, offset=k)
        elif step[0] == "v":
            numbers[k] = t.load(values, entry, offset=k)
        elif step[0] == "a":
            t.address(x, columns[k])
        elif step[0] == "x":
            words[k] = t.load(x, columns[k])
        else:
            total.set(t.fma(words[k], numbers[k], total))


@kernel(code_bytes=2816)
def thread_per_row(t, offsets, indices, values, x, y):
    """Up to three entries, then sixteen at a time, then eight, then four: so nvcc and ptxas unroll the loop."""
    begin, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    arrays = (indices, values, x)
    total = t.var(0.0)
    odd = (end - begin) & 3
    with t.where(odd > 0):
        _add_up(t, ONE, begin, arrays, total)
    with t.where(odd > 1):
        third = odd > 2  # a predicate: threads without a third entry take their second again, which moves nothing more
        last = begin + t.select(third, 2, 1)
        column, number = t.load(indices, begin, offset=1), t.load(values, begin, offset=1)
        last_column = t.load(indices, last)
        word = t.load(x, column)
        last_number, last_word = t.load(values, last), t.load(x, last_column)
        total.set(t.fma(word, number, total))
        total.set(t.select(third, t.fma(last_word, last_number, total), total))
    first = begin + odd
    for entry in t.range(first, end - 12, 16):
        _add_up(t, SIXTEEN, entry, arrays, total)
    left = (end - first) & 15
    with t.where(left > 4):
        _add_up(t, EIGHT, end - left, arrays, total)
    with t.where((left & 4) > 0):
        _add_up(t, FOUR, end - 4, arrays, total)
    t.store(y, t.id, total)


@kernel(guard=False, code_bytes=2560)
def warp_per_rows(t, offsets, indices, values, x, y, rows):
    degree, row_of = t.var(0), t.var(-1)
    with t.where(t.id < rows):
        row_of.set(t.id)
        degree.set(t.load(offsets, t.id, offset=1) - t.load(offsets, t.id))
    rows_of, starts = t.shared(np.int32, BLOCK), t.shared(np.int32, BLOCK)
    totals = t.shared(np.int32, BLOCK // WARP_SIZE)
    rows_of.store(t.in_cta, row_of)
    start = t.warp_scan(degree) - degree
    starts.store(t.in_cta, start)
    warp = t.in_cta // WARP_SIZE
    with t.where(t.lane == WARP_SIZE - 1):
        totals.store(warp, start + degree)
    mine = warp * WARP_SIZE
    for atom in t.range(t.lane, totals.load(warp), WARP_SIZE):
        t.spend(SEARCH_SETUP, chained=False, classes=(LOGIC, ADD))
        place = mine + upper_bound(t, starts, mine, atom)
        t.spend(SEARCH_END, classes=(ADD, ADD, LOGIC, ADD, COMPARE, CONTROL))
        row = rows_of.load(place)
        entry = t.load(offsets, row) + atom - starts.load(place)
        t.atomic_add(y, row, t.load(values, entry) * t.load(x, t.load(indices, entry)), used=False)


@kernel(guard=False, code_bytes=4352)
def merge_path(t, offsets, indices, values, x, y, rows, entries):
    tile_at = t.shared(np.int32, 2)
    with t.where(t.in_cta < 2):  # two threads find where the CTA's part of the path begins and ends
        diagonal = t.minimum((t.cta + t.in_cta) * TILE, rows + entries)
        found = merge_coordinate(t, diagonal, rows, entries, lambda k: t.load(offsets, k, offset=1), 0)
        tile_at.store(t.in_cta, found)
    t.barrier()
    first_row, last_row = tile_at.load(0), tile_at.load(1)
    first_entry = t.cta * TILE - first_row
    tile_rows = last_row - first_row
    tile_entries = t.minimum((t.cta + 1) * TILE, rows + entries) - last_row - first_entry
    ends = t.shared(np.int32, ITEMS_PER_THREAD + TILE + 1)
    for item in t.range(t.in_cta, tile_rows + ITEMS_PER_THREAD, BLOCK):
        ends.store(item, t.load(offsets, t.minimum(first_row + item, rows - 1), offset=1))
    t.barrier()
    diagonal = t.minimum(t.in_cta * ITEMS_PER_THREAD, tile_rows + tile_entries)
    row = t.var(merge_coordinate(t, diagonal, tile_rows, tile_entries, ends.load, first_entry))
    entry = t.var(diagonal - row)
    t.barrier()
    limit = t.var(ends.load(row))
    for item in range(ITEMS_PER_THREAD):  # unrolled
        number = first_entry + entry
        more = number < limit
        with t.where(more):
            nearest = t.minimum(number, entries - 1)
            column, value = t.load(indices, nearest), t.load(values, nearest)
            t.atomic_add(y, first_row + row, value * t.load(x, column), used=False)
            entry += 1
        if item < ITEMS_PER_THREAD - 1:
            with t.otherwise(more):
                row += 1
                limit.set(ends.load(row))


@kernel
def copied(t, array):
    """The host has just copied an array to the card, or made it there: its lines pass the L2."""
    word = t.load(array, t.id * 8)  # a word of every sector
    with t.where(word == -1):
        t.store(array, t.id * 8, word)


def _thread_mapped(gpu, arrays, rows, entries):
    gpu.launch(thread_per_row, rows, *arrays, phase="spmv", threads_per_cta=BLOCK)


def _group_mapped(gpu, arrays, rows, entries):
    gpu.launch(warp_per_rows, rows, *arrays, rows, phase="spmv", threads_per_cta=BLOCK)


def _merge_path(gpu, arrays, rows, entries):
    ctas = -(-(rows + entries) // TILE)
    gpu.launch(merge_path, ctas * BLOCK, *arrays, rows, entries, phase="spmv", threads_per_cta=BLOCK)


MAPPINGS: dict[str, Callable[..., None]] = {
    "thread_mapped": _thread_mapped,
    "group_mapped": _group_mapped,
    "merge_path": _merge_path,
}
# Microseconds between the timer's events outside of the kernel: what the two smallest matrices (ca-HepTh, delaunay_n13,
# under 30 us, in no summary) take beyond the model's kernels. The merge path's launch copies its schedule on the host.
HOST_US = {"thread_mapped": 9, "group_mapped": 10, "merge_path": 15}


def spmv(graph: CsrGraph, mapping: str, sink, residency: Residency) -> np.ndarray:
    """One launch over the matrix of a graph, all values 1, with x = 1, 2, ... modulo 8; gives y."""
    gpu = Gpu(sink, residency=residency)
    arrays = (
        gpu.memory.array("offsets", graph.offsets.astype(np.int32)),
        gpu.memory.array("indices", graph.targets.astype(np.int32)),
        gpu.memory.array("values", np.ones(graph.edges, np.float32)),
        gpu.memory.array("x", input_vector(graph.nodes)),
        gpu.memory.array("y", np.zeros(graph.nodes, np.float32)),
    )
    for array in arrays:
        gpu.launch(copied, -(-len(array) // 8), array, phase="copy")
    MAPPINGS[mapping](gpu, arrays, graph.nodes, graph.edges)
    return arrays[-1].host.copy()


def input_vector(nodes: int) -> np.ndarray:
    return (1 + np.arange(nodes) % 8).astype(np.float32)


def seconds(machine: Machine, graph: CsrGraph, mapping: str) -> float:
    """Time of the kernel alone, in the L2 what the host copied last; `HOST_US` comes on top."""
    engine = Engine(machine)
    spmv(graph, mapping, engine, Residency(machine.sm.count, machine.sm.threads))
    try:
        return engine.seconds(engine.launches[-1].counters.cycles)
    finally:
        engine.close()
