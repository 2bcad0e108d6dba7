"""PageRank with the SCU: the unit expands edges and replicates each node's share along them (SCU paper, algorithm 3).

The GPU prepares lists and shares, and does everything after the expansion as the baseline does. Nothing may be
filtered and grouping gains little (section 4.6), so basic and enhanced units run the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.pagerank.convergence import Convergence, converge
from warpsift.algorithms.pagerank.frontier import clear, dampen, dampening, rank_update
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_frontier import Ledger, set_length
from warpsift.units.scu.scu_spec import ScuSpec


@kernel
def prepare(t, offsets, rank, index, counts, shares):
    """Begin and length of each node's edge list, and its rank divided by that length."""
    first = t.load(offsets, t.id)
    degree = t.load(offsets, t.id, offset=1) - first
    t.store(index, t.id, first)
    t.store(counts, t.id, degree)
    with t.where(degree > 0):
        t.store(shares, t.id, t.load(rank, t.id) / degree.astype(np.float32))


def run(
    gpu: Gpu, graph: CsrGraph, options: PagerankOptions, spec: ScuSpec | None = None, enhanced: bool = True
) -> Outcome:
    scu = Scu(gpu, spec, phase="expand")

    def expand(targets: DeviceArray, index: DeviceArray, counts: DeviceArray, shares: DeviceArray, edges: Queue) -> int:
        _, n = scu.access_expansion_compaction(targets, index, counts, out=edges.target)
        scu.replication_compaction(shares, counts, out=edges.share)
        return n

    return iterate(gpu, graph, options, expand)


def iterate(gpu: Gpu, graph: CsrGraph, options: PagerankOptions, expand: Callable[..., int]) -> Outcome:
    """PageRank, iteration by iteration; `expand` fills the edge frontier and gives its length."""
    device = DeviceGraph(gpu, graph)
    mean_rank = 1.0 / max(graph.nodes, 1) if options.normalize else 1.0
    ranks = [gpu.memory.full(f"rank{k}", graph.nodes, mean_rank, np.float32) for k in range(2)]
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32, share=np.float32)
    index, counts = (gpu.memory.empty(f"scu.{name}", graph.nodes) for name in ("index", "counts"))
    shares = gpu.memory.empty("scu.shares", graph.nodes, np.float32)
    stop = Convergence(gpu, mean_rank, options)
    work, ledger = Work(edges=graph.edges), Ledger()
    while graph.nodes and not stop.exhausted:
        old, new = ranks
        gpu.launch(prepare, graph.nodes, device.offsets, old, index, counts, shares, phase="prepare")
        n = expand(device.targets, index, counts, shares, edges)
        set_length(edges, n)
        gpu.launch(clear, graph.nodes, new, phase="rank_update")
        gpu.launch(rank_update, n, edges.target, edges.share, new, phase="rank_update")
        base, factor = dampening(graph, options, old.host)
        gpu.launch(dampen, graph.nodes, new, base, factor, phase="dampen")
        stop.reset()
        gpu.launch(converge, graph.nodes, new, old, stop.largest, phase="converge")
        ledger.node_elements += graph.nodes
        ledger.edge_elements += n
        ledger.expanded += graph.edges
        ranks = [new, old]
        if stop.reached():
            break
    work.nodes_processed, work.edges_touched = ledger.node_elements, ledger.edge_elements
    notes = {"stopped": stop.reason, "change": stop.change, **ledger.notes()}
    return Outcome(ranks[0].host.copy(), stop.iterations, work, notes)
