"""SSSP in the vertex style: an active vertex pulls the best distance over its in-edges and wakes its out-neighbours.

Harish and Narayanan, HiPC 2007, as the MFF paper runs it (section 6.1): gather distances of in-neighbours, add the
weights, keep the least; if that is an improvement, activate the out-neighbours. Bulk-synchronous: a super-step reads
the distances of the one before, and a second launch commits the new ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel

ComputeStage = Callable[[Gpu, DeviceGraph, ActiveSet, DeviceArray, DeviceArray, SsspOptions], None]


@kernel
def relax(t, vertices, in_edges, out_edges, distance, pending, active, scheme):
    """The least distance over the in-edges; where it is better, remember it and wake the out-neighbours."""
    in_offsets, in_sources, in_weights = in_edges
    vertex = scheme.vertex(t, vertices, active)
    known = t.load(distance, vertex)
    best = t.var(known)
    for edge in t.range(t.load(in_offsets, vertex), t.load(in_offsets, vertex, offset=1)):
        cost = t.load(distance, t.load(in_sources, edge)) + t.load(in_weights, edge)
        best.set(t.minimum(best, cost))
    t.exit_where(best >= known)
    t.store(pending, vertex, best)
    offsets, targets = out_edges
    for edge in t.range(t.load(offsets, vertex), t.load(offsets, vertex, offset=1)):
        scheme.activate(t, t.load(targets, edge))


@kernel
def commit(t, vertices, pending, values, active, scheme):
    """Make the super-step's improvements visible."""
    vertex = scheme.vertex(t, vertices, active)
    new = t.load(pending, vertex)
    with t.where(new < t.load(values, vertex)):
        t.store(values, vertex, new)


def on_the_cores(
    gpu: Gpu, device: DeviceGraph, active: ActiveSet, distance: DeviceArray, pending: DeviceArray, options: SsspOptions
) -> None:
    in_edges = (device.in_offsets, device.in_sources, device.in_weights)
    arguments = (active.list, in_edges, (device.offsets, device.targets), distance, pending, active.current)
    gpu.launch(relax, active.threads, *arguments, active.scheme, phase="compute", **launch_shape(options))


def run(
    gpu: Gpu,
    graph: CsrGraph,
    options: SsspOptions,
    compute: ComputeStage = on_the_cores,
    active_set: type[ActiveSet] = ActiveSet,
) -> Outcome:
    """The super-steps; a unit may do their compute stage, or their scheduling."""
    assert options.source is not None and graph.weights is not None
    device = DeviceGraph(gpu, graph)
    kind = graph.weights.dtype
    distance = gpu.memory.full("distance", graph.nodes, INFINITY, kind)
    pending = gpu.memory.full("pending", graph.nodes, INFINITY, kind)
    distance.host[options.source] = 0
    active = active_set(gpu, graph.nodes, options)
    active.start(graph.neighbours(options.source))
    work = Work(edges=graph.edges)
    in_degrees, out_degrees = graph.in_edges.out_degrees, graph.out_degrees
    steps = 0
    while active.schedule() and steps != options.max_iterations:
        vertices = active.vertices()
        before = distance.host[vertices]
        compute(gpu, device, active, distance, pending, options)
        state = (active.list, pending, distance, active.current, active.scheme)
        gpu.launch(commit, active.threads, *state, phase="commit")
        improved = vertices[distance.host[vertices] < before]
        work.nodes_processed += vertices.size
        work.relaxations += improved.size
        work.edges_touched += int(in_degrees[vertices].sum() + out_degrees[improved].sum())
        steps += 1
        gpu.progressed(1 - vertices.size / graph.nodes if steps > 2 else 0)
    work.duplicates = work.nodes_processed - int(np.sum(distance.host < INFINITY))
    return Outcome(distance.host.copy(), steps, work)
