"""y = Ax in three mappings, as gunrock/loops runs them on a V100: float values, int32 indices, 128 threads per CTA.

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
from warpsift.validation.spmv_search import merge_coordinate, upper_bound

BLOCK = 128
ITEMS_PER_THREAD = 5  # of the merge path, for values of four bytes
TILE = BLOCK * ITEMS_PER_THREAD
UNROLLED = 4  # ptxas, for a loop whose trip count is known at run time only


@kernel
def thread_per_row(t, offsets, indices, values, x, y):
    """As ptxas leaves a loop of unknown length: four entries at once, so four gathers in flight, then the rest."""
    begin, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    total = t.var(0.0)
    for entry in t.range(begin, end - (UNROLLED - 1), UNROLLED):
        columns = [t.load(indices, entry, offset=k) for k in range(UNROLLED)]
        numbers = [t.load(values, entry, offset=k) for k in range(UNROLLED)]
        words = [t.load(x, column) for column in columns]
        for number, word in zip(numbers, words, strict=True):
            total.set(t.fma(number, word, total))
    for entry in t.range(begin + ((end - begin) & -UNROLLED), end):
        total.set(t.fma(t.load(values, entry), t.load(x, t.load(indices, entry)), total))
    t.store(y, t.id, total)


@kernel(guard=False)
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
        place = mine + upper_bound(t, starts, mine, atom)
        row = rows_of.load(place)
        entry = t.load(offsets, row) + atom - starts.load(place)
        t.atomic_add(y, row, t.load(values, entry) * t.load(x, t.load(indices, entry)), used=False)


@kernel(guard=False)
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
    for _ in range(ITEMS_PER_THREAD):  # unrolled
        number = first_entry + entry
        more = (number < ends.load(row)) & (number < entries)
        with t.where(more):
            product = t.load(values, number) * t.load(x, t.load(indices, number))
            t.atomic_add(y, t.minimum(first_row + row, rows - 1), product, used=False)
            entry += 1
        with t.otherwise(more):
            row += 1


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
    """Time of the kernel alone, in the L2 what the host copied last; `Launch.host_us` comes on top where it waits."""
    engine = Engine(machine)
    spmv(graph, mapping, engine, Residency(machine.sm.count, machine.sm.threads))
    try:
        return engine.seconds(engine.launches[-1].counters.cycles)
    finally:
        engine.close()
