"""PageRank with the memory fast-forward unit: the in-edges' loop reads gathered words (MFF paper, Fig. 2).

The same super-steps as `pagerank.vertex`, and the same order of additions, so the ranks are equal to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.target_occupancy import TARGET_THREADS_PER_CTA
from warpsift.algorithms.pagerank.convergence import Convergence
from warpsift.algorithms.pagerank.frontier import dampening
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.algorithms.pagerank.vertex import apply
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel
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


def run(gpu: Gpu, graph: CsrGraph, options: PagerankOptions) -> Outcome:
    device = DeviceGraph(gpu, graph)
    nodes = graph.nodes
    mean_rank = 1.0 / max(nodes, 1) if options.normalize else 1.0
    inverse = (1 / np.maximum(graph.out_degrees, 1)).astype(np.float32)
    rank = gpu.memory.full("rank", nodes, mean_rank, np.float32)
    total = gpu.memory.empty("total", nodes, np.float32)
    inverse_degree = gpu.memory.array("inverse_degree", inverse)
    shares = gpu.memory.array("shares", rank.host * inverse)
    stop = Convergence(gpu, mean_rank, options)
    work = Work(edges=graph.edges)
    bind_fast_forward(gpu, in_edges=device.in_sources, values=shares)
    shape: dict[str, Any] = {"threads_per_cta": TARGET_THREADS_PER_CTA}
    while nodes and not stop.exhausted:
        base, factor = dampening(graph, options, rank.host)
        arguments = (device.in_offsets, total, base, factor, options.target_words)
        gpu.launch(pull, nodes, *arguments, phase="compute", **shape)
        stop.reset()
        gpu.launch(apply, nodes, total, rank, inverse_degree, shares, stop.largest, phase="commit")
        work.nodes_processed += nodes
        work.edges_touched += graph.edges
        if stop.reached():
            break
    return Outcome(rank.host.copy(), stop.iterations, work, {"stopped": stop.reason, "change": stop.change})
