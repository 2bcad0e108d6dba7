"""Betweenness centrality in the frontier style: BFS with path counts outwards, dependencies level by level back.

Forward, a level is two launches as in `bfs.frontier`: `expand` writes the frontier's neighbours with their parents'
path counts to memory; `contract` adds these counts up and appends nodes that are new. A node must be counted once, so
contraction is exact: whoever lowers the level from infinity (atomicMin) keeps the node. All frontiers stay in one
array, `order`, the next behind the last, as in GAP's bc.cc (`depth_index`) and McLaughlin and Bader, "Scalable and High
Performance Betweenness Centrality on the GPU", SC 2014. Backward, `accumulate` gathers the edges of one level at a
time, deepest first, and adds to each parent its share of its children's dependencies (atomicAdd on float32).

Adding path counts is an atomicAdd on float64, which NVIDIA GPUs have since compute capability 6.0. On an older
machine it stands for a loop around atomicCAS, of which this counts one round.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bc.bc_options import BcOptions, sources_of
from warpsift.algorithms.bc.brandes import State
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.compaction import append
from warpsift.algorithms.operators.gathering import gather_edges
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel


@kernel(guard=False)
def expand(t, order, level, offsets, targets, paths, edges, shares, edge_count):
    """Write the neighbours of a level's nodes, each with the number of paths that come through this edge."""
    first, count = level
    begin, degree = t.var(0), t.var(0)
    so_far = t.var(0.0, np.float64)
    with t.where(t.id < count):
        node = t.load(order, t.id + first)
        row = t.load(offsets, node)
        begin.set(row)
        degree.set(t.load(offsets, node, offset=1) - row)
        so_far.set(t.load(paths, node))

    def emit(edge, at, share):
        t.store(edges, at, t.load(targets, edge))
        t.store(shares, at, share)

    gather_edges(t, begin, degree, so_far, edge_count, emit)


@kernel(guard=False, races=True)
def contract(t, edges, shares, count, levels, paths, depth, order, order_count):
    """Count the paths to the nodes of this depth; append those that no one has appended."""
    fresh, node = t.var(0), t.var(0)
    with t.where(t.id < count):
        node.set(t.load(edges, t.id))
        known = t.load(levels, node)
        with t.where(known >= depth):  # found on this level, or not yet
            with t.where(known == INFINITY), t.where(t.atomic_min(levels, node, depth) == INFINITY):
                fresh.set(1)
            t.atomic_add(paths, node, t.load(shares, t.id), used=False)
    append(t, fresh, order_count, (order, node))


@kernel(guard=False)
def accumulate(t, order, level, offsets, targets, levels, paths, dependencies, depth):
    """dependency(v) = sum over children w of paths(v) / paths(w) * (1 + dependency(w)), an edge per thread."""
    first, count = level
    begin, degree, node = t.var(0), t.var(0), t.var(0)
    with t.where(t.id < count):
        node.set(t.load(order, t.id + first))
        row = t.load(offsets, node)
        begin.set(row)
        degree.set(t.load(offsets, node, offset=1) - row)

    def emit(edge, _, parent):
        child = t.load(targets, edge)
        with t.where(t.load(levels, child) == depth + 1):
            ratio = (t.load(paths, parent) / t.load(paths, child)).astype(np.float32)
            share = t.fma(ratio, t.load(dependencies, child), ratio)
            t.atomic_add(dependencies, parent, share, used=False)

    gather_edges(t, begin, degree, node, None, emit)


class Sweeps:
    """The two sweeps of one source."""

    def __init__(self, gpu: Gpu, graph: CsrGraph, state: State, max_levels: int | None) -> None:
        self._gpu = gpu
        self._device = DeviceGraph(gpu, graph)
        self._state = state
        self._max_levels = max_levels
        self._order = Queue(gpu, "order", graph.nodes, node=np.int32)
        self._edges = Queue(gpu, "edge_frontier", graph.edges, node=np.int32, share=np.float64)

    def forward(self, source: int, work: Work) -> list[int]:
        """Levels and path counts; gives where in the order each level begins, and where the last ends."""
        order, edges, device, state = self._order, self._edges, self._device, self._state
        order.fill(node=np.array([source]))
        bounds = [0, 1]
        while bounds[-1] > bounds[-2] and len(bounds) - 2 != self._max_levels:
            first, last = bounds[-2:]
            edges.clear()
            arguments = (order.node, (first, last - first), device.offsets, device.targets, state.paths)
            sent = (edges.node, edges.share, edges.counter)
            self._gpu.launch(expand, last - first, *arguments, *sent, phase="expand", compaction=True)
            received = (edges.node, edges.share, len(edges), state.levels, state.paths, len(bounds) - 1)
            self._gpu.launch(contract, len(edges), *received, order.node, order.counter, phase="contract")
            work.nodes_processed += last - first
            work.edges_touched += len(edges)
            bounds.append(len(order))
        return bounds

    def backward(self, bounds: list[int], work: Work) -> None:
        """Dependencies of all levels but the deepest, whose are 0, and level 0, whose nobody asks for."""
        device, state = self._device, self._state
        ranges = list(enumerate(pairwise(bounds)))
        degrees = device.graph.out_degrees
        for depth, (first, last) in reversed(ranges[1:]):
            level = (self._order.node, (first, last - first))
            arguments = (device.offsets, device.targets, state.levels, state.paths, state.dependencies, depth)
            self._gpu.launch(accumulate, last - first, *level, *arguments, phase="accumulate")
            work.nodes_processed += last - first
            work.edges_touched += int(degrees[self._order.node.host[first:last]].sum())


def run(gpu: Gpu, graph: CsrGraph, options: BcOptions) -> Outcome:
    sources = sources_of(graph, options)
    state = State(gpu, graph.nodes)
    sweeps = Sweeps(gpu, graph, state, options.max_iterations)
    work = Work(edges=graph.edges)
    levels = 0
    for number, source in enumerate(sources, 1):
        state.begin(source)
        bounds = sweeps.forward(source, work)
        state.require_finite(source)
        sweeps.backward(bounds, work)
        state.end()
        levels += len(bounds) - 2
        gpu.progressed(number / len(sources))
    return Outcome(state.scores.host.copy(), levels, work, {"sources": sources})
