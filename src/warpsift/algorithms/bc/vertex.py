"""Betweenness centrality in the vertex style: a thread per vertex, which looks at its own edges only.

Forward, as `bfs.vertex`: active vertices that have no level take this one, add up the path counts of their
in-neighbours on the level before, and wake their out-neighbours. Backward, every vertex gets a thread on every level
and those of the level add up the dependencies of their children (Jia et al., "Edge v. Node Parallelism for Graph
Centrality Metrics", GPU Computing Gems 2011, node-parallel). Both sweeps pull, so no value needs an atomic; the price
is the in-edges forward, and nodes x levels tests of a level backward.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bc.bc_options import BcOptions, sources_of
from warpsift.algorithms.bc.brandes import State
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel


@kernel
def advance(t, vertices, in_edges, out_edges, levels, paths, level, active, scheme):
    """Visit the active vertices that have no level yet: count the paths to them, wake their neighbours."""
    vertex = scheme.vertex(t, vertices, active)
    t.exit_where(t.load(levels, vertex) != INFINITY)
    t.store(levels, vertex, level)
    in_offsets, in_sources = in_edges
    count = t.var(0.0, np.float64)
    for edge in t.range(t.load(in_offsets, vertex), t.load(in_offsets, vertex, offset=1)):
        parent = t.load(in_sources, edge)
        with t.where(t.load(levels, parent) == level - 1):
            count += t.load(paths, parent)
    t.store(paths, vertex, count)
    offsets, targets = out_edges
    for edge in t.range(t.load(offsets, vertex), t.load(offsets, vertex, offset=1)):
        scheme.activate(t, t.load(targets, edge))


@kernel
def accumulate(t, offsets, targets, levels, paths, dependencies, level):
    """dependency(v) = sum over children w of paths(v) / paths(w) * (1 + dependency(w)), for the vertices of a level."""
    t.exit_where(t.load(levels, t.id) != level)
    mine = t.load(paths, t.id)
    total = t.var(0.0)
    for edge in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        child = t.load(targets, edge)
        with t.where(t.load(levels, child) == level + 1):
            ratio = (mine / t.load(paths, child)).astype(np.float32)
            total.set(total + t.fma(ratio, t.load(dependencies, child), ratio))
    t.store(dependencies, t.id, total)


class Sweeps:
    """The two sweeps of one source."""

    def __init__(self, gpu: Gpu, graph: CsrGraph, state: State, options: BcOptions) -> None:
        self._gpu = gpu
        self._graph = graph
        self._device = DeviceGraph(gpu, graph)
        self._state = state
        self._max_levels = options.max_iterations
        self._shape = launch_shape(options)
        self._active = ActiveSet(gpu, graph.nodes, options)

    def forward(self, source: int, work: Work) -> int:
        """Levels and path counts; gives the deepest level."""
        active, device, levels = self._active, self._device, self._state.levels
        rows = ((device.in_offsets, device.in_sources), (device.offsets, device.targets))
        degrees = self._graph.out_degrees + self._graph.in_edges.out_degrees
        active.start(self._graph.neighbours(source))
        level = 0
        while level != self._max_levels and active.schedule():
            level += 1
            woken = active.vertices()
            fresh = woken[levels.host[woken] == INFINITY]
            arguments = (active.list, *rows, levels, self._state.paths, level, active.current, active.scheme)
            self._gpu.launch(advance, active.threads, *arguments, phase="forward", **self._shape)
            work.nodes_processed += woken.size
            work.duplicates += woken.size - fresh.size
            work.edges_touched += int(degrees[fresh].sum())
        return level

    def backward(self, deepest: int, work: Work) -> None:
        """Dependencies of all levels but the deepest, whose are 0, and level 0, whose nobody asks for."""
        device, state = self._device, self._state
        for level in range(deepest - 1, 0, -1):
            arguments = (device.offsets, device.targets, state.levels, state.paths, state.dependencies, level)
            self._gpu.launch(accumulate, state.nodes, *arguments, phase="backward", **self._shape)
            mine = state.levels.host == level
            work.nodes_processed += int(mine.sum())
            work.edges_touched += int(self._graph.out_degrees[mine].sum())


def run(gpu: Gpu, graph: CsrGraph, options: BcOptions) -> Outcome:
    sources = sources_of(graph, options)
    state = State(gpu, graph.nodes)
    sweeps = Sweeps(gpu, graph, state, options)
    work = Work(edges=graph.edges)
    levels = 0
    for number, source in enumerate(sources, 1):
        state.begin(source)
        deepest = sweeps.forward(source, work)
        state.require_finite(source)
        sweeps.backward(deepest, work)
        state.end()
        levels += deepest
        gpu.progressed(number / len(sources))
    return Outcome(state.scores.host.copy(), levels, work, {"sources": sources})
