"""WCC in the vertex style: an active vertex takes the smallest label around it and wakes its neighbours.

As the MFF paper runs it (section 6.1): all vertices are active at first, then those next to a change. Gathers labels
over both directions, scatters activations over both. Bulk-synchronous like `sssp.vertex`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.algorithms.sssp.vertex import commit
from warpsift.algorithms.wcc.wcc_options import WccOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel

Rows = Sequence[tuple[DeviceArray, DeviceArray]]  # offsets and neighbours of the out-edges, then of the in-edges
ComputeStage = Callable[[Gpu, Rows, ActiveSet, DeviceArray, DeviceArray, WccOptions], None]


@kernel
def relax(t, vertices, rows, labels, pending, active, scheme):
    """The smallest label among the neighbours; where it is smaller, remember it and wake them."""
    vertex = scheme.vertex(t, vertices, active)
    known = t.load(labels, vertex)
    best = t.var(known)
    for offsets, neighbours in rows:
        for edge in t.range(t.load(offsets, vertex), t.load(offsets, vertex, offset=1)):
            best.set(t.minimum(best, t.load(labels, t.load(neighbours, edge))))
    t.exit_where(best >= known)
    t.store(pending, vertex, best)
    for offsets, neighbours in rows:
        for edge in t.range(t.load(offsets, vertex), t.load(offsets, vertex, offset=1)):
            scheme.activate(t, t.load(neighbours, edge))


def on_the_cores(
    gpu: Gpu, rows: Rows, active: ActiveSet, labels: DeviceArray, pending: DeviceArray, options: WccOptions
) -> None:
    arguments = (active.list, tuple(rows), labels, pending, active.current, active.scheme)
    gpu.launch(relax, active.threads, *arguments, phase="compute", **launch_shape(options))


def run(
    gpu: Gpu,
    graph: CsrGraph,
    options: WccOptions,
    compute: ComputeStage = on_the_cores,
    active_set: type[ActiveSet] = ActiveSet,
) -> Outcome:
    """The super-steps; a unit may do their compute stage, or their scheduling."""
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.array("labels", np.arange(graph.nodes, dtype=np.int32))
    pending = gpu.memory.array("pending", np.arange(graph.nodes, dtype=np.int32))
    rows = [(device.offsets, device.targets)]
    degrees = graph.out_degrees
    if not graph.is_symmetric:
        rows.append((device.in_offsets, device.in_sources))
        degrees = degrees + graph.in_edges.out_degrees
    active = active_set(gpu, graph.nodes, options)
    active.start(np.arange(graph.nodes))
    work = Work(edges=graph.edges)
    steps = 0
    while active.schedule() and steps != options.max_iterations:
        vertices = active.vertices()
        before = labels.host[vertices]
        compute(gpu, rows, active, labels, pending, options)
        state = (active.list, pending, labels, active.current, active.scheme)
        gpu.launch(commit, active.threads, *state, phase="commit")
        improved = vertices[labels.host[vertices] < before]
        work.nodes_processed += vertices.size
        work.relaxations += improved.size
        work.edges_touched += int(degrees[vertices].sum() + degrees[improved].sum())
        steps += 1
        gpu.progressed(1 - vertices.size / graph.nodes)
    return Outcome(labels.host.copy(), steps, work)
