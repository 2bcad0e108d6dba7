"""PageRank with the reorder unit: the rank update gets its edges block by block, shares of one node added in the hash.

All else is the frontier style's (algorithms/pagerank/frontier.py). One atomic stands for all shares of a node that meet
in the hash; sums are taken in another order, so ranks differ in their last digits.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.pagerank.convergence import Convergence, converge
from warpsift.algorithms.pagerank.frontier import clear, dampen, dampening, expand
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel
from warpsift.units.iru.iru_spec import IruSpec
from warpsift.units.iru.iru_threads import iru_stream


@kernel
def rank_update(t, edges, sums):
    target, share, _, present = t.iru_load(edges)
    with t.where(present == 1):
        t.atomic_add(sums, target, share, used=False)


def run(gpu: Gpu, graph: CsrGraph, options: PagerankOptions, spec: IruSpec, parts: int) -> Outcome:
    device = DeviceGraph(gpu, graph)
    mean_rank = 1.0 / max(graph.nodes, 1) if options.normalize else 1.0
    ranks = [gpu.memory.full(f"rank{k}", graph.nodes, mean_rank, np.float32) for k in range(2)]
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32, share=np.float32)
    stop = Convergence(gpu, mean_rank, options)
    work, merged = Work(edges=graph.edges), 0
    while graph.nodes and not stop.exhausted:
        old, new = ranks
        edges.clear()
        arguments = (graph.nodes, device.offsets, device.targets, old, edges.target, edges.share, edges.counter)
        gpu.launch(expand, graph.nodes, *arguments, phase="expand", compaction=True)
        gpu.launch(clear, graph.nodes, new, phase="rank_update")
        count = len(edges)
        with iru_stream(gpu, edges.target, count, spec=spec, parts=parts, values=edges.share, merge="add") as stream:
            gpu.launch(rank_update, count, edges.target, new, phase="rank_update")
            merged += stream.count - stream.kept
        base, factor = dampening(graph, options, old.host)
        gpu.launch(dampen, graph.nodes, new, base, factor, phase="dampen")
        stop.reset()
        gpu.launch(converge, graph.nodes, new, old, stop.largest, phase="converge")
        work.nodes_processed += graph.nodes
        work.edges_touched += count
        ranks = [new, old]
        if stop.reached():
            break
        gpu.progressed(stop.progress)
    notes: dict[str, object] = {"stopped": stop.reason, "change": stop.change, "merged_elements": merged}
    return Outcome(ranks[0].host.copy(), stop.iterations, work, notes)
