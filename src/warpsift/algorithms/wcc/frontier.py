"""WCC in the frontier style: nodes whose label fell send it along their edges, in both directions.

Label propagation by the operators of the SSSP baseline: expand with the label as payload, atomicMin on the labels,
duplicates removed by a lookup table in a second launch. Not in the SCU paper; our own addition.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.compaction import append
from warpsift.algorithms.operators.gathering import gather_edges
from warpsift.algorithms.wcc.wcc_options import WccOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel


@kernel(guard=False)
def expand(t, frontier, count, offsets, targets, labels, edges, proposals, edge_count):
    """Write the neighbours of the frontier's nodes, each with the label proposed to it."""
    begin, degree, label = t.var(0), t.var(0), t.var(0)
    with t.where(t.id < count):
        node = t.load(frontier, t.id)
        first = t.load(offsets, node)
        begin.set(first)
        degree.set(t.load(offsets, node, offset=1) - first)
        label.set(t.load(labels, node))

    def emit(edge, at, proposal):
        t.store(edges, at, t.load(targets, edge))
        t.store(proposals, at, proposal)

    gather_edges(t, begin, degree, label, edge_count, emit)


@kernel(races=True)
def contract(t, nodes, proposals, labels, lookup, flags):
    """Lower labels; a thread that did so enters the lookup table."""
    node = t.load(nodes, t.id)
    proposal = t.load(proposals, t.id)
    flag = t.var(0)
    with t.where(proposal < t.load(labels, node)), t.where(t.atomic_min(labels, node, proposal) > proposal):
        t.store(lookup, node, t.id)
        flag.set(1)
    t.store(flags, t.id, flag)


@kernel(guard=False)
def compact(t, nodes, flags, count, lookup, frontier, frontier_count):
    """Append the nodes whose thread still holds the entry of the lookup table."""
    keep, node = t.var(0), t.var(0)
    with t.where(t.id < count), t.where(t.load(flags, t.id) == 1):
        node.set(t.load(nodes, t.id))
        keep.set(t.select(t.load(lookup, node) == t.id, 1, 0))
    append(t, keep, frontier_count, (frontier, node))


def run(gpu: Gpu, graph: CsrGraph, options: WccOptions) -> Outcome:
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.array("labels", np.arange(graph.nodes, dtype=np.int32))
    lookup = gpu.memory.empty("lookup", graph.nodes)
    nodes = Queue(gpu, "node_frontier", graph.nodes, node=np.int32)
    edges = Queue(gpu, "edge_frontier", graph.edges, node=np.int32, proposal=np.int32, flag=np.int32)
    nodes.fill(node=np.arange(graph.nodes))
    rows = [(device.offsets, device.targets, graph.out_degrees)]
    if not graph.is_symmetric:
        rows.append((device.in_offsets, device.in_sources, graph.in_edges.out_degrees))
    work = Work(edges=graph.edges)
    iterations = 0
    while len(nodes) and iterations != options.max_iterations:
        iterations += 1
        count = len(nodes)
        frontier = nodes.node.host[:count]
        edges.clear()
        edges.reserve(sum(int(degrees[frontier].sum()) for _, _, degrees in rows))
        for offsets, targets, _ in rows:
            arguments = (nodes.node, count, offsets, targets, labels, edges.node, edges.proposal, edges.counter)
            gpu.launch(expand, count, *arguments, phase="expand", compaction=True)
        work.nodes_processed += count
        work.edges_touched += len(edges)
        sent = (edges.node, edges.proposal, labels, lookup, edges.flag)
        gpu.launch(contract, len(edges), *sent, phase="contract")
        lowered = int(edges.flag.host[: len(edges)].sum())
        work.relaxations += lowered
        nodes.clear()
        flagged = (edges.node, edges.flag, len(edges), lookup, nodes.node, nodes.counter)
        gpu.launch(compact, len(edges), *flagged, phase="compact", compaction=True)
        work.duplicates += lowered - len(nodes)
        gpu.progressed(1 - len(nodes) / graph.nodes)
    return Outcome(labels.host.copy(), iterations, work)
