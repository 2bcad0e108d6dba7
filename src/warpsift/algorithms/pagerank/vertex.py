"""PageRank in the vertex style: every vertex pulls the shares of its in-neighbours.

The MFF paper's Fig. 2, bulk-synchronous: V holds rank / outdegree of the super-step before, so that the loop over the
in-edges only gathers and adds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.operators.target_occupancy import launch_shape
from warpsift.algorithms.options import OptionError
from warpsift.algorithms.pagerank.convergence import Convergence, record_change
from warpsift.algorithms.pagerank.frontier import dampening
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.simt.temporal_window import coalescing_over

Dampening = tuple[np.float32, np.float32]  # base and factor
ComputeStage = Callable[[Gpu, DeviceGraph, DeviceArray, DeviceArray, Dampening, PagerankOptions], None]


@kernel
def pull(t, in_offsets, in_sources, shares, total, base, factor):
    """The new rank of each vertex: base + factor * sum of the shares of its in-neighbours."""
    sum_ = t.var(0.0)
    for edge in t.range(t.load(in_offsets, t.id), t.load(in_offsets, t.id, offset=1)):
        sum_ += t.load(shares, t.load(in_sources, edge))
    t.store(total, t.id, t.fma(sum_, factor, base))


@kernel
def apply(t, total, rank, inverse_degree, shares, largest):
    """Commit the ranks, prepare the shares of the next super-step, and find the largest change."""
    new = t.load(total, t.id)
    change = abs(new - t.load(rank, t.id))
    t.store(rank, t.id, new)
    t.store(shares, t.id, new * t.load(inverse_degree, t.id))
    record_change(t, change, largest)


def on_the_cores(
    gpu: Gpu, device: DeviceGraph, shares: DeviceArray, total: DeviceArray, damped: Dampening, options: PagerankOptions
) -> None:
    arguments = (device.in_offsets, device.in_sources, shares, total, *damped)
    with coalescing_over(gpu, options.temporal_window, (device.in_sources.name, shares.name)):
        gpu.launch(pull, device.nodes, *arguments, phase="compute", **launch_shape(options))


def run(gpu: Gpu, graph: CsrGraph, options: PagerankOptions, compute: ComputeStage = on_the_cores) -> Outcome:
    """The super-steps; a unit may do their compute stage."""
    if options.temporal_window != 1 and compute is not on_the_cores:
        raise OptionError("temporal_window is for the plain GPU, but a unit does the loads here: leave one of them out")
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
    while nodes and not stop.exhausted:
        compute(gpu, device, shares, total, dampening(graph, options, rank.host), options)
        stop.reset()
        gpu.launch(apply, nodes, total, rank, inverse_degree, shares, stop.largest, phase="commit")
        work.nodes_processed += nodes
        work.edges_touched += graph.edges
        if stop.reached():
            break
        gpu.progressed(stop.progress)
    return Outcome(rank.host.copy(), stop.iterations, work, {"stopped": stop.reason, "change": stop.change})
