"""BFS with the memory fast-forward unit: the neighbours' loop becomes one PC_scatter_set per 32 edges.

The same super-steps as `bfs.vertex`; activation is unchecked, or it would not be scatter only (MFF paper, section 6.2).
"""

from __future__ import annotations

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.bfs import vertex as on_cores
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.mff.mff_lists import refuse_checked_activation, scatter_list
from warpsift.units.mff.mff_threads import bind_fast_forward


@kernel
def advance(t, vertices, offsets, levels, level, active, scheme):
    """Visit the active vertices; have the unit activate the neighbours of those that were not visited."""
    vertex = scheme.vertex(t, vertices, active)
    t.exit_where(t.load(levels, vertex) != INFINITY)
    t.store(levels, vertex, level)
    scatter_list(t, t.load(offsets, vertex), t.load(offsets, vertex, offset=1))


def by_the_unit(
    gpu: Gpu, device: DeviceGraph, active: ActiveSet, levels: DeviceArray, level: int, options: BfsOptions
) -> None:
    bind_fast_forward(gpu, out_edges=device.targets, active=active.following)
    arguments = (active.list, device.offsets, levels, level, active.current, active.scheme)
    gpu.launch(advance, active.threads, *arguments, phase="compute", **launch_shape(options))


def run(gpu: Gpu, graph: CsrGraph, options: BfsOptions, active_set: type[ActiveSet] = ActiveSet) -> Outcome:
    refuse_checked_activation(options)
    return on_cores.run(gpu, graph, options, by_the_unit, active_set)
