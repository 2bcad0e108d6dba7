"""The reference programs as warpsift kernels: one thread per element or vertex, CTAs of 256, edge loops not unrolled.

`PROGRAMS[name](gpu, parameter)` runs one and returns whether its answer is right. Arrays are allocated in the order in
which the CUDA programs allocate theirs, so that addresses fall into the same channels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.algorithms.answer_check import cheapest_arcs
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.simt.alu_classes import COMPARE, CONTROL, LOGIC
from warpsift.validation import inputs

INFINITY = 1 << 30
SMALL = 1 << 16  # elements of gather and histogram


@kernel
def stream(t, a, b, c):
    t.store(c, t.id, t.load(a, t.id) + t.load(b, t.id))


@kernel
def gather(t, index, values, out):
    t.store(out, t.id, t.load(values, t.load(index, t.id)))


@kernel
def histogram(t, key, counts):
    t.atomic_add(counts, t.load(key, t.id), 1, used=False)


@kernel
def flag(t, frontier, visited, flags):
    vertex = t.load(frontier, t.id)
    t.store(flags, t.id, ((t.load(visited, vertex >> 5) >> (vertex & 31)) & 1) ^ 1)


@kernel(guard=False)
def compact(t, frontier, flags, out, cursor, n):
    """Hillis-Steele scan in shared memory, one atomic per CTA."""
    size = t.batch.threads_per_cta
    sums, base = t.shared(np.int32, size), t.shared(np.int32, 1)
    me = t.in_cta
    kept = t.var(0)
    with t.where(t.id < n):
        kept.set(t.load(flags, t.id))
    sums.store(me, kept)
    t.barrier()
    distance = 1
    while distance < size:
        t.spend(3, classes=(LOGIC, COMPARE, CONTROL))  # the loop's
        left = t.var(0)
        with t.where(me >= distance):
            left.set(sums.load(me - distance))
        t.barrier()
        sums.store(me, sums.load(me) + left)
        t.barrier()
        distance *= 2
    with t.where(me == size - 1):
        base.store(0, t.atomic_add(cursor, 0, sums.load(me)))
    t.barrier()
    with t.where(kept != 0):
        t.store(out, base.load(0) + sums.load(me) - 1, t.load(frontier, t.id))


@kernel
def pull(t, in_offsets, in_sources, x, y, base):
    total = t.var(0.0)
    edge, end = t.load(in_offsets, t.id), t.load(in_offsets, t.id, offset=1)
    for e in t.range(edge, end):
        total += t.load(x, t.load(in_sources, e))
    t.store(y, t.id, t.fma(total, np.float32(0.85), base))


@kernel(races=True)
def bfs_step(t, offsets, targets, levels, changed, current):
    t.exit_where(t.load(levels, t.id) != current)
    edge, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    for e in t.range(edge, end):
        vertex = t.load(targets, e)
        with t.where(t.load(levels, vertex) == INFINITY):
            t.store(levels, vertex, current + 1)
            t.store(changed, 0, 1)


@kernel
def relax(t, offsets, targets, weights, cost, update, active):
    t.exit_where(t.load(active, t.id) == 0)
    t.store(active, t.id, 0)
    mine = t.load(cost, t.id)
    edge, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    for e in t.range(edge, end):
        target = t.load(targets, e)
        t.address(update, target)  # clang 16 places this before the load of the weight, which so waits for the target
        t.atomic_min(update, target, mine + t.load(weights, e), used=False)


@kernel
def push(t, offsets, targets, in_offsets, in_sources, labels, update, active):
    t.exit_where(t.load(active, t.id) == 0)
    t.store(active, t.id, 0)
    mine = t.load(labels, t.id)
    for rows, neighbours in ((offsets, targets), (in_offsets, in_sources)):
        edge, end = t.load(rows, t.id), t.load(rows, t.id, offset=1)
        for e in t.range(edge, end):
            t.atomic_min(update, t.load(neighbours, e), mine, used=False)


@kernel
def commit(t, values, update, active, changed):
    new = t.load(update, t.id)
    with t.where(new < t.load(values, t.id)):
        t.store(values, t.id, new)
        t.store(active, t.id, 1)
        t.store(changed, 0, 1)


def run_stream(gpu: Gpu, parameter: str) -> bool:
    n = 1 << int(parameter)
    i = np.arange(n)
    a = gpu.memory.array("a", (i & 1023).astype(np.float32))
    b = gpu.memory.array("b", (i >> 10).astype(np.float32))
    c = gpu.memory.empty("c", n, np.float32)
    gpu.launch(stream, n, a, b, c, phase="stream")
    return bool((c.host == a.host + b.host).all())


def run_gather(gpu: Gpu, parameter: str) -> bool:
    words = int(parameter) // 4
    index = gpu.memory.array("index", inputs.gather_indexes(SMALL, int(parameter)))
    values = gpu.memory.array("values", (np.arange(words) & 0xFFFF).astype(np.float32))
    out = gpu.memory.empty("out", SMALL, np.float32)
    gpu.launch(gather, SMALL, index, values, out, phase="gather")
    return bool((out.host == values.host[index.host]).all())


def run_histogram(gpu: Gpu, parameter: str) -> bool:
    key = gpu.memory.array("key", inputs.histogram_keys(SMALL, int(parameter)))
    counts = gpu.memory.empty("counts", 1 << int(parameter))
    gpu.launch(histogram, SMALL, key, counts, phase="histogram")
    return bool((counts.host == np.bincount(key.host, minlength=len(counts))).all())


def run_contract(gpu: Gpu, parameter: str) -> bool:
    n = inputs.UNIVERSE
    frontier = gpu.memory.array("frontier", inputs.edge_frontier(n))
    visited = gpu.memory.array("visited", inputs.visited_mask(int(parameter)))
    flags, out, cursor = gpu.memory.empty("flags", n), gpu.memory.empty("out", n), gpu.memory.empty("cursor", 1)
    gpu.launch(flag, n, frontier, visited, flags, phase="flag")
    gpu.launch(compact, n, frontier, flags, out, cursor, n, phase="compact", compaction=True)
    kept = frontier.host[flags.host == 1]
    return bool((np.sort(out.host[: cursor.host[0]]) == np.sort(kept)).all()) and cursor.host[0] == kept.size


def run_pull(gpu: Gpu, parameter: str) -> bool:
    g = inputs.graph(parameter)
    offsets, sources = inputs.in_edges(g)
    degree = np.maximum(g.out_degrees, 1).astype(np.float32)
    in_offsets, in_sources = gpu.memory.array("in_offsets", offsets), gpu.memory.array("in_sources", sources)
    x = gpu.memory.array("x", np.float32(1) / np.float32(g.nodes) / degree)
    y = gpu.memory.empty("y", g.nodes, np.float32)
    base = np.float32(0.15 / g.nodes)
    gpu.launch(pull, g.nodes, in_offsets, in_sources, x, y, base, phase="pull")
    sums = np.bincount(g.targets, weights=x.host[g.sources], minlength=g.nodes)
    return bool(np.allclose(y.host, 0.15 / g.nodes + 0.85 * sums, rtol=1e-4))


def run_bfs(gpu: Gpu, parameter: str) -> bool:
    g = inputs.graph(parameter)
    offsets, targets = _rows(gpu, g)
    levels, changed = gpu.memory.full("levels", g.nodes, INFINITY), gpu.memory.full("changed", 1, 1)
    levels.host[0] = 0
    current = 0
    while changed.host[0]:
        changed.host[0] = 0
        gpu.launch(bfs_step, g.nodes, offsets, targets, levels, changed, current, phase="bfs")
        current += 1
    want = np.full(g.nodes, INFINITY)
    want[0], depth = 0, 0
    while (want == depth).any():
        reached = g.targets[want[g.sources] == depth]
        want[reached] = np.minimum(want[reached], depth + 1)
        depth += 1
    return bool((levels.host == want).all())


def run_sssp(gpu: Gpu, parameter: str) -> bool:
    g = inputs.graph(parameter)
    rows = _rows(gpu, g)
    assert g.weights is not None
    weights = gpu.memory.array("weights", g.weights)
    start, active = np.full(g.nodes, INFINITY, np.int32), np.zeros(g.nodes, np.int32)
    start[0], active[0] = 0, 1

    def one(values: DeviceArray, update: DeviceArray, awake: DeviceArray) -> None:
        gpu.launch(relax, g.nodes, *rows, weights, values, update, awake, phase="push")

    answer = _rounds(gpu, start, active, one)
    from scipy.sparse.csgraph import dijkstra

    want = dijkstra(cheapest_arcs(g), indices=0)
    return bool((answer == np.where(np.isinf(want), INFINITY, want)).all())


def run_wcc(gpu: Gpu, parameter: str) -> bool:
    g = inputs.graph(parameter)
    rows = _rows(gpu, g)
    offsets, sources = inputs.in_edges(g)
    columns = (gpu.memory.array("in_offsets", offsets), gpu.memory.array("in_sources", sources))

    def one(values: DeviceArray, update: DeviceArray, awake: DeviceArray) -> None:
        gpu.launch(push, g.nodes, *rows, *columns, values, update, awake, phase="push")

    answer = _rounds(gpu, np.arange(g.nodes, dtype=np.int32), np.ones(g.nodes, np.int32), one)
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(g.to_scipy(), connection="weak")
    smallest = np.full(count, g.nodes)
    np.minimum.at(smallest, label, np.arange(g.nodes))
    return bool((answer == smallest[label]).all())


def _rows(gpu: Gpu, g: CsrGraph) -> tuple[DeviceArray, DeviceArray]:
    return gpu.memory.array("offsets", g.offsets, np.int32), gpu.memory.array("targets", g.targets)


def _rounds(gpu: Gpu, start: np.ndarray, active: np.ndarray, one: Callable[..., None]) -> np.ndarray:
    """Push and commit until nothing changes."""
    values, update = gpu.memory.array("values", start), gpu.memory.array("update", start)
    awake, changed = gpu.memory.array("active", active), gpu.memory.full("changed", 1, 1)
    while changed.host[0]:
        changed.host[0] = 0
        one(values, update, awake)
        gpu.launch(commit, len(values), values, update, awake, changed, phase="commit")
    return values.host


PROGRAMS: dict[str, Callable[[Gpu, str], bool]] = {
    "stream": run_stream,
    "gather": run_gather,
    "hist": run_histogram,
    "contract": run_contract,
    "pr": run_pull,
    "bfs": run_bfs,
    "sssp": run_sssp,
    "wcc": run_wcc,
}
