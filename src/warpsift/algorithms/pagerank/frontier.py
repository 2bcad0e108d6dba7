"""PageRank in the frontier style: expand all edges with their source's rank, then one atomicAdd per edge.

Geil, Wang and Owens, HPEC 2014, as the SCU paper runs it (section 2.3): expansion, rank update, dampening and
convergence check, four phases an iteration, every node active in each.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.gathering import gather_edges
from warpsift.algorithms.pagerank.convergence import Convergence, converge
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel


@kernel(guard=False)
def expand(t, nodes, offsets, targets, rank, edges, shares, edge_count):
    """Write every edge's target and the share of its source's rank."""
    begin, degree = t.var(0), t.var(0)
    share = t.var(0.0)
    with t.where(t.id < nodes):
        first = t.load(offsets, t.id)
        begin.set(first)
        degree.set(t.load(offsets, t.id, offset=1) - first)
        with t.where(degree > 0):
            share.set(t.load(rank, t.id) / degree.astype(np.float32))

    def emit(edge, at, value):
        t.store(edges, at, t.load(targets, edge))
        t.store(shares, at, value)

    gather_edges(t, begin, degree, share, edge_count, emit)


@kernel
def rank_update(t, edges, shares, sums):
    t.atomic_add(sums, t.load(edges, t.id), t.load(shares, t.id), used=False)


@kernel
def dampen(t, sums, base, factor):
    t.store(sums, t.id, t.fma(t.load(sums, t.id), factor, base))


@kernel
def clear(t, sums):
    t.store(sums, t.id, np.float32(0))


def dampening(graph: CsrGraph, options: PagerankOptions, rank: np.ndarray) -> tuple[np.float32, np.float32]:
    """base and factor of `rank = base + factor * sum`; the host adds the dangling nodes' rank to the base."""
    scale = 1.0 / max(graph.nodes, 1) if options.normalize else 1.0
    base = options.damping * scale
    if options.dangling and graph.nodes:
        base += (1 - options.damping) * float(rank[graph.out_degrees == 0].sum(dtype=np.float64)) / graph.nodes
    return np.float32(base), np.float32(1 - options.damping)


def run(gpu: Gpu, graph: CsrGraph, options: PagerankOptions) -> Outcome:
    device = DeviceGraph(gpu, graph)
    mean_rank = 1.0 / max(graph.nodes, 1) if options.normalize else 1.0
    ranks = [gpu.memory.full(f"rank{k}", graph.nodes, mean_rank, np.float32) for k in range(2)]
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32, share=np.float32)
    stop = Convergence(gpu, mean_rank, options)
    work = Work(edges=graph.edges)
    while graph.nodes and not stop.exhausted:
        old, new = ranks
        edges.clear()
        arguments = (graph.nodes, device.offsets, device.targets, old, edges.target, edges.share, edges.counter)
        gpu.launch(expand, graph.nodes, *arguments, phase="expand", compaction=True)
        gpu.launch(clear, graph.nodes, new, phase="rank_update")
        gpu.launch(rank_update, len(edges), edges.target, edges.share, new, phase="rank_update")
        base, factor = dampening(graph, options, old.host)
        gpu.launch(dampen, graph.nodes, new, base, factor, phase="dampen")
        stop.reset()
        gpu.launch(converge, graph.nodes, new, old, stop.largest, phase="converge")
        work.nodes_processed += graph.nodes
        work.edges_touched += len(edges)
        ranks = [new, old]
        if stop.reached():
            break
        gpu.progressed(stop.progress)
    return Outcome(ranks[0].host.copy(), stop.iterations, work, {"stopped": stop.reason, "change": stop.change})
