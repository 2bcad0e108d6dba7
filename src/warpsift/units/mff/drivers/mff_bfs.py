"""BFS with the memory fast-forward unit: the neighbours' loop becomes one PC_scatter_set per 32 edges.

The same super-steps as `bfs.vertex`; activation is unchecked, or it would not be scatter only (MFF paper, section 6.2).
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel
from warpsift.units.mff.mff_lists import refuse_checked_activation, scatter_list
from warpsift.units.mff.mff_threads import bind_fast_forward


@kernel
def advance(t, vertices, offsets, levels, level, active, scheme):
    """Visit the active vertices; have the unit activate the neighbours of those that were not visited."""
    vertex = scheme.vertex(t, vertices, active)
    t.exit_where(t.load(levels, vertex) != INFINITY)
    t.store(levels, vertex, level)
    scatter_list(t, t.load(offsets, vertex), t.load(offsets, vertex, offset=1))


def run(gpu: Gpu, graph: CsrGraph, options: BfsOptions, active_set: type[ActiveSet] = ActiveSet) -> Outcome:
    assert options.source is not None
    refuse_checked_activation(options)
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
        bind_fast_forward(gpu, out_edges=device.targets, active=active.following)
        arguments = (active.list, device.offsets, levels, level, active.current, active.scheme)
        gpu.launch(advance, active.threads, *arguments, phase="compute", **launch_shape(options))
        level += 1
    work.duplicates = work.nodes_processed - int((levels.host < INFINITY).sum())
    return Outcome(levels.host.copy(), level, work)
