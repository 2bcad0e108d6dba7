"""WCC with the memory fast-forward unit: gathers labels and scatters activations, over the edges of both directions.

The same super-steps as `wcc.vertex`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import TARGET_THREADS_PER_CTA
from warpsift.algorithms.sssp.vertex import commit
from warpsift.algorithms.wcc.wcc_options import WccOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.mff.mff_lists import gather_list, scatter_list
from warpsift.units.mff.mff_threads import bind_fast_forward


@kernel
def relax(t, vertices, rows, labels, pending, active, scheme, words):
    """The smallest label among the neighbours; where it is smaller, remember it and wake them."""
    vertex = scheme.vertex(t, vertices, active)
    target = t.pc_target(np.int32, words)
    known = t.load(labels, vertex)
    best = t.var(known)
    for offsets, over in zip(rows, ("out", "in"), strict=False):
        begin, end = t.load(offsets, vertex), t.load(offsets, vertex, offset=1)
        for _, _, label in gather_list(t, target, begin, end, over):
            best.set(t.minimum(best, label))
    t.exit_where(best >= known)
    t.store(pending, vertex, best)
    for offsets, over in zip(rows, ("out", "in"), strict=False):
        scatter_list(t, t.load(offsets, vertex), t.load(offsets, vertex, offset=1), over)


def run(gpu: Gpu, graph: CsrGraph, options: WccOptions, active_set: type[ActiveSet] = ActiveSet) -> Outcome:
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.array("labels", np.arange(graph.nodes, dtype=np.int32))
    pending = gpu.memory.array("pending", np.arange(graph.nodes, dtype=np.int32))
    rows = [device.offsets]
    edges: dict[str, DeviceArray] = {"out_edges": device.targets}
    degrees = graph.out_degrees
    if not graph.is_symmetric:
        rows.append(device.in_offsets)
        edges["in_edges"] = device.in_sources
        degrees = degrees + graph.in_edges.out_degrees
    active = active_set(gpu, graph.nodes, options)
    active.start(np.arange(graph.nodes))
    work = Work(edges=graph.edges)
    steps = 0
    while active.schedule() and steps != options.max_iterations:
        vertices = active.vertices()
        before = labels.host[vertices]
        bind_fast_forward(gpu, **edges, values=labels, active=active.following)
        arguments = (active.list, tuple(rows), labels, pending, active.current, active.scheme)
        shape: dict[str, Any] = {"threads_per_cta": TARGET_THREADS_PER_CTA}
        gpu.launch(relax, active.threads, *arguments, options.target_words, phase="compute", **shape)
        state = (active.list, pending, labels, active.current, active.scheme)
        gpu.launch(commit, active.threads, *state, phase="commit")
        improved = vertices[labels.host[vertices] < before]
        work.nodes_processed += vertices.size
        work.relaxations += improved.size
        work.edges_touched += int(degrees[vertices].sum() + degrees[improved].sum())
        steps += 1
    return Outcome(labels.host.copy(), steps, work)
