"""The validation kernels: one thread per element or vertex, 256 threads per CTA, as the reference's CUDA programs."""

from __future__ import annotations

import numpy as np

from warpsift.engine.validate import inputs
from warpsift.engine.validate.inputs import INFINITE, make_graph
from warpsift.simt import Gpu, kernel


@kernel
def stream(t, a, b, c):
    t.store(c, t.id, t.load(a, t.id) + t.load(b, t.id))


@kernel
def gather(t, index, v, out):
    t.store(out, t.id, t.load(v, t.load(index, t.id)))


@kernel
def hist(t, key, count):
    t.atomic_add(count, t.load(key, t.id), 1, used=False)


@kernel
def chase(t, links, out, hops):
    at = t.var(0)
    for _ in t.range(0, t.id + hops):
        at.set(t.load(links, at))
    t.store(out, t.id, at)


@kernel
def flag(t, frontier, visited, flags):
    v = t.load(frontier, t.id)
    t.store(flags, t.id, ((t.load(visited, v >> 5) >> (v & 31)) & 1) ^ 1)


@kernel
def compact(t, frontier, flags, out, cursor):
    s = t.shared(np.int32, 256)
    base = t.shared(np.int32, 1)
    me = t.in_cta
    f = t.load(flags, t.id)
    s.store(me, f)
    t.barrier()
    d = 1
    while d < 256:  # inclusive scan
        x = t.var(0)
        with t.where(me >= d):
            x.set(s.load(me - d))
        t.barrier()
        s.store(me, s.load(me) + x)
        t.barrier()
        t.spend(3)  # shift, compare, branch of the loop over d
        d *= 2
    with t.where(me == 255):
        base.store(0, t.atomic_add(cursor, 0, s.load(me)))
    t.barrier()
    with t.where(f != 0):
        t.store(out, base.load(0) + s.load(me) - 1, t.load(frontier, t.id))


@kernel
def pagerank(t, offsets, sources, x, y, base):
    total = t.var(0.0)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        total.set(total + t.load(x, t.load(sources, e)))
    t.store(y, t.id, t.fma(total, np.float32(0.85), np.float32(base)))


@kernel(races=True)
def bfs(t, offsets, targets, level, changed, now):
    t.exit_where(t.load(level, t.id) != now)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        v = t.load(targets, e)
        with t.where(t.load(level, v) == INFINITE):
            t.store(level, v, now + 1)
            t.store(changed, 0, 1)


@kernel
def relax(t, offsets, targets, weights, cost, update, active):
    t.exit_where(t.load(active, t.id) == 0)
    t.store(active, t.id, 0)
    c = t.load(cost, t.id)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        t.atomic_min(update, t.load(targets, e), c + t.load(weights, e), used=False)


@kernel
def push(t, offsets, targets, in_offsets, in_sources, label, update, active):
    t.exit_where(t.load(active, t.id) == 0)
    t.store(active, t.id, 0)
    mine = t.load(label, t.id)
    for e in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        t.atomic_min(update, t.load(targets, e), mine, used=False)
    for e in t.range(t.load(in_offsets, t.id), t.load(in_offsets, t.id, offset=1)):
        t.atomic_min(update, t.load(in_sources, e), mine, used=False)


@kernel
def commit(t, value, update, active, changed):
    x = t.load(update, t.id)
    with t.where(x < t.load(value, t.id)):
        t.store(value, t.id, x)
        t.store(active, t.id, 1)
        t.store(changed, 0, 1)


def run_stream(gpu: Gpu, param: str) -> None:
    n, m = 1 << int(param), gpu.memory
    a = m.array("a", (np.arange(n) & 1023).astype(np.float32))
    b = m.array("b", (np.arange(n) >> 10).astype(np.float32))
    gpu.launch(stream, n, a, b, m.empty("c", n, np.float32), phase="stream")


def run_gather(gpu: Gpu, param: str) -> None:
    n, words, m = 1 << 16, int(param) // 4, gpu.memory
    index = m.array("index", inputs.gather_indices(n, words))
    v = m.array("v", (np.arange(words) & 0xFFFF).astype(np.float32))
    gpu.launch(gather, n, index, v, m.empty("out", n, np.float32), phase="gather")


def run_hist(gpu: Gpu, param: str) -> None:
    n, m = 1 << 16, gpu.memory
    key = m.array("key", inputs.histogram_keys(n, int(param)))
    gpu.launch(hist, n, key, m.array("count", np.zeros(1 << int(param), np.int32)), phase="hist")


def run_contract(gpu: Gpu, param: str) -> None:
    n, m = 1 << 17, gpu.memory
    frontier = m.array("frontier", inputs.edge_frontier(n))
    visited = m.array("visited", inputs.visited_words(int(param)))
    flags, out = m.empty("flags", n, np.int32), m.empty("out", n, np.int32)
    cursor = m.array("cursor", np.zeros(1, np.int32))
    gpu.launch(flag, n, frontier, visited, flags, phase="flag")
    gpu.launch(compact, n, frontier, flags, out, cursor, phase="compact", compaction=True)


def run_pr(gpu: Gpu, param: str) -> None:
    g, m = make_graph(param), gpu.memory
    degree = np.maximum(np.diff(g.offsets), 1)
    offsets, sources = m.array("offsets", g.in_offsets), m.array("sources", g.in_sources)
    x = m.array("x", (1.0 / g.nodes / degree).astype(np.float32))
    y = m.empty("y", g.nodes, np.float32)
    gpu.launch(pagerank, g.nodes, offsets, sources, x, y, 0.15 / g.nodes, phase="pr")


def run_bfs(gpu: Gpu, param: str) -> None:
    g, m = make_graph(param), gpu.memory
    levels = np.full(g.nodes, INFINITE, np.int32)
    levels[0] = 0
    offsets, targets = m.array("offsets", g.offsets), m.array("targets", g.targets)
    level, changed = m.array("level", levels), m.array("changed", np.zeros(1, np.int32))
    now = 0
    changed.host[0] = 1
    while changed.host[0]:
        changed.host[0] = 0
        gpu.launch(bfs, g.nodes, offsets, targets, level, changed, now, phase="bfs")
        now += 1


def _rounds(gpu: Gpu, nodes: int, step, value, update, active) -> None:
    changed = gpu.memory.array("changed", np.ones(1, np.int32))
    while changed.host[0]:
        changed.host[0] = 0
        step()
        gpu.launch(commit, nodes, value, update, active, changed, phase="commit")


def run_sssp(gpu: Gpu, param: str) -> None:
    g, m = make_graph(param), gpu.memory
    cost, act = np.full(g.nodes, INFINITE, np.int32), np.zeros(g.nodes, np.int32)
    cost[0], act[0] = 0, 1
    offsets, targets, weights = m.array("offsets", g.offsets), m.array("targets", g.targets), m.array("w", g.weights)
    value, update, active = m.array("value", cost), m.array("update", cost), m.array("active", act)
    arguments = (offsets, targets, weights, value, update, active)
    _rounds(gpu, g.nodes, lambda: gpu.launch(relax, g.nodes, *arguments, phase="relax"), value, update, active)


def run_wcc(gpu: Gpu, param: str) -> None:
    g, m = make_graph(param), gpu.memory
    label = np.arange(g.nodes, dtype=np.int32)
    rows = (
        m.array("offsets", g.offsets),
        m.array("targets", g.targets),
        m.array("in_offsets", g.in_offsets),
        m.array("in_sources", g.in_sources),
    )
    value, update = m.array("value", label), m.array("update", label)
    active = m.array("active", np.ones(g.nodes, np.int32))
    arguments = (*rows, value, update, active)
    _rounds(gpu, g.nodes, lambda: gpu.launch(push, g.nodes, *arguments, phase="push"), value, update, active)


WORKLOADS = {
    "stream": run_stream,
    "gather": run_gather,
    "hist": run_hist,
    "contract": run_contract,
    "pr": run_pr,
    "bfs": run_bfs,
    "sssp": run_sssp,
    "wcc": run_wcc,
}
