"""BFS in the vertex style: a thread per active vertex, which activates its neighbours by a bit vector.

Harish and Narayanan, HiPC 2007, with the bit-vector scheduling of Hong et al., PACT 2011: the MFF paper's baseline
(section 2). Neighbours are activated unchecked; whether a vertex was visited is tested when its turn comes, so that
the neighbours' loop only writes. (`checked_activation` tests first: fewer activations, one more gather per edge.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel

ComputeStage = Callable[[Gpu, DeviceGraph, ActiveSet, DeviceArray, int, BfsOptions], None]


@kernel
def advance(t, vertices, offsets, targets, levels, level, active, scheme, checked):
    """Visit the active vertices; activate the neighbours of those that were not visited."""
    vertex = scheme.vertex(t, vertices, active)
    t.exit_where(t.load(levels, vertex) != INFINITY)
    t.store(levels, vertex, level)
    for edge in t.range(t.load(offsets, vertex), t.load(offsets, vertex, offset=1)):
        neighbour = t.load(targets, edge)
        if checked:
            with t.where(t.load(levels, neighbour) == INFINITY):
                scheme.activate(t, neighbour)
        else:
            scheme.activate(t, neighbour)


def on_the_cores(
    gpu: Gpu, device: DeviceGraph, active: ActiveSet, levels: DeviceArray, level: int, options: BfsOptions
) -> None:
    state = (active.list, device.offsets, device.targets, levels, level, active.current)
    arguments = (*state, active.scheme, options.checked_activation)
    gpu.launch(advance, active.threads, *arguments, phase="compute", **launch_shape(options))


def run(
    gpu: Gpu,
    graph: CsrGraph,
    options: BfsOptions,
    compute: ComputeStage = on_the_cores,
    active_set: type[ActiveSet] = ActiveSet,
) -> Outcome:
    """The super-steps; a unit may do their compute stage, or their scheduling."""
    assert options.source is not None
    device = DeviceGraph(gpu, graph)
    levels = gpu.memory.full("levels", graph.nodes, INFINITY)
    active = active_set(gpu, graph.nodes, options)
    active.start(np.array([options.source]))
    work = Work(edges=graph.edges)
    level = 0
    while active.schedule() and level != options.max_iterations:
        fresh = active.vertices()
        work.nodes_processed += fresh.size
        fresh = fresh[levels.host[fresh] == INFINITY]
        work.edges_touched += int(graph.out_degrees[fresh].sum())
        compute(gpu, device, active, levels, level, options)
        level += 1
        gpu.progressed(work.edges_touched / max(graph.edges, 1))
    work.duplicates = work.nodes_processed - int((levels.host < INFINITY).sum())
    return Outcome(levels.host.copy(), level, work)
