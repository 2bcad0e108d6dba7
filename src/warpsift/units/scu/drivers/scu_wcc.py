"""WCC with the SCU: label propagation by the operators of SSSP (not in the paper; our own addition).

A proposal's cost is the label that its source carries, so the enhanced unit's best-cost filter drops proposals that
an earlier one of the same expansion has beaten, and grouping orders the rest by the destination's memory block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.wcc.frontier import contract
from warpsift.algorithms.wcc.wcc_options import WccOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_frontier import Expansion, Growing, Ledger, prepare_with, set_length
from warpsift.units.scu.scu_spec import ScuSpec


@kernel
def mask_winners(t, nodes, flags, lookup, mask):
    """Bitmask of the candidates that lowered a label and hold their entry of the lookup table."""
    keep = t.var(0)
    with t.where(t.load(flags, t.id) == 1):
        keep.set(t.select(t.load(lookup, t.load(nodes, t.id)) == t.id, 1, 0))
    word = t.ballot(keep == 1)
    with t.where(t.lane == 0):
        t.store(mask, t.id >> 5, word)


def run(gpu: Gpu, graph: CsrGraph, options: WccOptions, spec: ScuSpec | None = None, enhanced: bool = True) -> Outcome:
    scu = Scu(gpu, spec)
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.array("labels", np.arange(graph.nodes, dtype=np.int32))
    lookup = gpu.memory.empty("lookup", graph.nodes)
    nodes = Queue(gpu, "node_frontier", graph.nodes, node=np.int32)
    edges = Queue(gpu, "edge_frontier", graph.edges, node=np.int32, proposal=np.int32, flag=np.int32)
    masks = Growing(gpu, "contract_mask", np.uint32)
    expansion = Expansion(scu, carried_dtype=np.int32)
    near_group = None
    if enhanced and graph.nodes:
        filter_bytes, group_bytes = scu.spec.sssp_filter_bytes, scu.spec.sssp_group_bytes
        expansion.filter = scu.filter_table("expand_filter", filter_bytes, graph.nodes, cost_dtype=np.dtype(np.int32))
        if scu.spec.grouping:
            expansion.group = scu.group_table("expand_group", group_bytes, graph.nodes)
            near_group = scu.group_table("near_group", group_bytes, graph.nodes)
    nodes.fill(node=np.arange(graph.nodes))
    rows = [(device.offsets, device.targets, graph.out_degrees)]
    if not graph.is_symmetric:
        rows.append((device.in_offsets, device.in_sources, graph.in_edges.out_degrees))
    work, ledger = Work(edges=graph.edges), Ledger()
    iterations = 0
    while len(nodes) and iterations != options.max_iterations:
        iterations += 1
        ledger.node_elements += len(nodes)
        _expand(gpu, rows, labels, nodes, edges, expansion)
        ledger.expanded += sum(int(degrees[nodes.node.host[: len(nodes)]].sum()) for _, _, degrees in rows)
        ledger.edge_elements += len(edges)
        count = len(edges)
        gpu.launch(contract, count, edges.node, edges.proposal, labels, lookup, edges.flag, phase="contract")
        mask = masks.mask(count)
        gpu.launch(mask_winners, count, edges.node, edges.flag, lookup, mask, phase="contract")
        lowered = int(edges.flag.host[:count].sum())
        order = None
        if near_group is not None:
            order, _ = scu.data_compaction(edges.node, mask, count, group=near_group, phase="compact")
        nodes.reserve(count)
        _, n = scu.data_compaction(edges.node, mask, count, out=nodes.node, group=order, phase="compact")
        set_length(nodes, n)
        work.relaxations += lowered
        work.duplicates += lowered - n
    work.nodes_processed, work.edges_touched = ledger.node_elements, ledger.edge_elements
    return Outcome(labels.host.copy(), iterations, work, ledger.notes())


def _expand(gpu: Gpu, rows: list[Any], labels: DeviceArray, nodes: Queue, edges: Queue, expansion: Expansion) -> None:
    """Neighbours in every direction with the proposed label, one direction behind the other."""
    scu, count = expansion.scu, len(nodes)
    frontier = nodes.node.host[:count]
    edges.reserve(sum(int(degrees[frontier].sum()) for _, _, degrees in rows))
    index, counts = expansion.lists(count)
    carried = expansion.carried.room(count)
    filled = 0
    for offsets, targets, _ in rows:
        gpu.launch(prepare_with, count, nodes.node, offsets, labels, index, counts, carried, phase="prepare")
        costs = {"cost_base": carried} if expansion.filter is not None else {}
        chosen = expansion.steps(targets, count, **costs)
        lists = (index, counts, count)
        _, n = scu.access_expansion_compaction(targets, *lists, out=edges.node, at=filled, phase="expand", **chosen)
        scu.replication_compaction(carried, counts, count, out=edges.proposal, at=filled, phase="expand", **chosen)
        filled += n
    set_length(edges, filled)
