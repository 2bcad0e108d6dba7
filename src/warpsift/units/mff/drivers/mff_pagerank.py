"""PageRank with the memory fast-forward unit: the in-edges' loop reads gathered words (MFF paper, Fig. 2).

The same super-steps as `pagerank.vertex`, and the same order of additions, so the ranks are equal to the last bit.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.target_occupancy import TARGET_SHAPE
from warpsift.algorithms.pagerank import vertex as on_cores
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.algorithms.pagerank.vertex import Dampening
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.mff.mff_lists import gather_list
from warpsift.units.mff.mff_threads import bind_fast_forward


@kernel
def pull(t, in_offsets, total, base, factor, words):
    """The new rank of each vertex: base + factor * sum of the gathered shares of its in-neighbours."""
    target = t.pc_target(np.float32, words)
    sum_ = t.var(0.0)
    for _, _, share in gather_list(t, target, t.load(in_offsets, t.id), t.load(in_offsets, t.id, offset=1)):
        sum_ += share
    t.store(total, t.id, t.fma(sum_, factor, base))


def by_the_unit(
    gpu: Gpu, device: DeviceGraph, shares: DeviceArray, total: DeviceArray, damped: Dampening, options: PagerankOptions
) -> None:
    bind_fast_forward(gpu, in_edges=device.in_sources, values=shares)
    arguments = (device.in_offsets, total, *damped, options.target_words)
    gpu.launch(pull, device.nodes, *arguments, phase="compute", **TARGET_SHAPE)


def run(gpu: Gpu, graph: CsrGraph, options: PagerankOptions) -> Outcome:
    return on_cores.run(gpu, graph, options, by_the_unit)
