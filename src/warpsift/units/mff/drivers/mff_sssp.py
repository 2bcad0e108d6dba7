"""SSSP with the memory fast-forward unit: gathers the in-neighbours' distances, scatters activations.

The same super-steps as `sssp.vertex`. The weights have no way through the unit: threads load them, edge by edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import TARGET_THREADS_PER_CTA
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.algorithms.sssp.vertex import commit
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel
from warpsift.units.mff.mff_lists import gather_list, scatter_list
from warpsift.units.mff.mff_threads import bind_fast_forward


@kernel
def relax(t, vertices, in_edges, offsets, distance, pending, active, scheme, words):
    """The least distance over the in-edges; where it is better, remember it and wake the out-neighbours."""
    in_offsets, in_weights = in_edges
    vertex = scheme.vertex(t, vertices, active)
    target = t.pc_target(distance.dtype, words)
    known = t.load(distance, vertex)
    best = t.var(known)
    begin, end = t.load(in_offsets, vertex), t.load(in_offsets, vertex, offset=1)
    for first, k, gathered in gather_list(t, target, begin, end):
        best.set(t.minimum(best, gathered + t.load(in_weights, first + k)))
    t.exit_where(best >= known)
    t.store(pending, vertex, best)
    scatter_list(t, t.load(offsets, vertex), t.load(offsets, vertex, offset=1))


def run(gpu: Gpu, graph: CsrGraph, options: SsspOptions, active_set: type[ActiveSet] = ActiveSet) -> Outcome:
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
    edges = {"in_edges": device.in_sources, "out_edges": device.targets}
    steps = 0
    while active.schedule() and steps != options.max_iterations:
        vertices = active.vertices()
        before = distance.host[vertices]
        bind_fast_forward(gpu, **edges, values=distance, active=active.following)
        in_edges = (device.in_offsets, device.in_weights)
        arguments = (active.list, in_edges, device.offsets, distance, pending, active.current, active.scheme)
        shape: dict[str, Any] = {"threads_per_cta": TARGET_THREADS_PER_CTA}
        gpu.launch(relax, active.threads, *arguments, options.target_words, phase="compute", **shape)
        state = (active.list, pending, distance, active.current, active.scheme)
        gpu.launch(commit, active.threads, *state, phase="commit")
        improved = vertices[distance.host[vertices] < before]
        work.nodes_processed += vertices.size
        work.relaxations += improved.size
        work.edges_touched += int(in_degrees[vertices].sum() + out_degrees[improved].sum())
        steps += 1
    work.duplicates = work.nodes_processed - int(np.sum(distance.host < INFINITY))
    return Outcome(distance.host.copy(), steps, work)
