"""SSSP with the memory fast-forward unit: gathers the in-neighbours' distances, scatters activations.

The same super-steps as `sssp.vertex`. The weights have no way through the unit: threads load them, edge by edge.
"""

from __future__ import annotations

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import TARGET_SHAPE
from warpsift.algorithms.sssp import vertex as on_cores
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
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


def by_the_unit(
    gpu: Gpu, device: DeviceGraph, active: ActiveSet, distance: DeviceArray, pending: DeviceArray, options: SsspOptions
) -> None:
    edges = {"in_edges": device.in_sources, "out_edges": device.targets}
    bind_fast_forward(gpu, **edges, values=distance, active=active.following)
    in_edges = (device.in_offsets, device.in_weights)
    arguments = (active.list, in_edges, device.offsets, distance, pending, active.current, active.scheme)
    gpu.launch(relax, active.threads, *arguments, options.target_words, phase="compute", **TARGET_SHAPE)


def run(gpu: Gpu, graph: CsrGraph, options: SsspOptions, active_set: type[ActiveSet] = ActiveSet) -> Outcome:
    return on_cores.run(gpu, graph, options, by_the_unit, active_set)
