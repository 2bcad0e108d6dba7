"""WCC with the memory fast-forward unit: gathers labels and scatters activations, over the edges of both directions.

The same super-steps as `wcc.vertex`.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.operators.target_occupancy import TARGET_SHAPE
from warpsift.algorithms.wcc import vertex as on_cores
from warpsift.algorithms.wcc.vertex import Rows
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


def by_the_unit(
    gpu: Gpu, rows: Rows, active: ActiveSet, labels: DeviceArray, pending: DeviceArray, options: WccOptions
) -> None:
    edges = dict(zip(("out_edges", "in_edges"), (neighbours for _, neighbours in rows), strict=False))
    bind_fast_forward(gpu, **edges, values=labels, active=active.following)
    offsets = tuple(offsets for offsets, _ in rows)
    arguments = (active.list, offsets, labels, pending, active.current, active.scheme)
    gpu.launch(relax, active.threads, *arguments, options.target_words, phase="compute", **TARGET_SHAPE)


def run(gpu: Gpu, graph: CsrGraph, options: WccOptions, active_set: type[ActiveSet] = ActiveSet) -> Outcome:
    return on_cores.run(gpu, graph, options, by_the_unit, active_set)
