"""BFS with the reorder unit: contraction gets the edge frontier block by block, without what the hash finds twice.

Expansion and all else are the frontier style's (algorithms/bfs/frontier.py). A warp's nodes then lie in few blocks of
the bitmask and the labels, and a node that comes twice while it is in the hash comes once.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.bfs.frontier import Culling, expand_frontier, visit
from warpsift.algorithms.conventions import INFINITY, THREADS_PER_CTA
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.compaction import append
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.iru.iru_spec import IruSpec
from warpsift.units.iru.iru_threads import iru_stream


@kernel(guard=False, races=True)
def contract(t, edges, count, visited, labels, depth, frontier, frontier_count, culls):
    """Keep the edge frontier's unvisited nodes, label them, and append them to the node frontier."""
    culling = Culling(t, *culls)
    fresh, vertex = t.var(0), t.var(0)
    with t.where(t.id < count):
        node, _, _, present = t.iru_load(edges)
        with t.where(present == 1):
            vertex.set(node)
            visit(t, vertex, fresh, visited, labels, depth)
    culling.apply(vertex, fresh)
    append(t, fresh, frontier_count, (frontier, vertex))


def run(gpu: Gpu, graph: CsrGraph, options: BfsOptions, spec: IruSpec, parts: int) -> Outcome:
    assert options.source is not None
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.full("labels", graph.nodes, INFINITY)
    visited = gpu.memory.empty("visited", graph.nodes // 8 + 1, np.uint8)
    nodes = [Queue(gpu, f"node_frontier{k}", graph.nodes, node=np.int32) for k in range(2)]
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32)
    labels.host[options.source] = 0
    visited.host[options.source >> 3] = 1 << (options.source & 7)
    nodes[0].fill(node=np.array([options.source]))
    work, depth, merged = Work(edges=graph.edges), 0, 0
    while len(nodes[0]) and depth != options.max_iterations:
        depth += 1
        now, following = nodes
        work.nodes_processed += len(now)
        expand_frontier(gpu, device, now, edges, work)
        following.reserve(len(edges))
        following.clear()
        with iru_stream(gpu, edges.target, len(edges), spec=spec, parts=parts, merge="first") as stream:
            _contract(gpu, edges, following, (visited, labels, depth), options)
            merged += stream.count - stream.kept
        nodes = [following, now]
        gpu.progressed(work.nodes_processed / graph.nodes)
    work.duplicates = work.nodes_processed - int((labels.host < INFINITY).sum()) + len(nodes[0])
    return Outcome(labels.host.copy(), depth, work, {"merged_elements": merged})


def _contract(
    gpu: Gpu, edges: Queue, following: Queue, seen: tuple[DeviceArray, DeviceArray, int], options: BfsOptions
) -> None:
    count = len(edges)
    threads = -(-count // THREADS_PER_CTA) * THREADS_PER_CTA  # a tile per CTA: warps ask for packs in their order
    culls = (options.warp_culling, options.history_culling)
    kept = (following.node, following.counter, culls)
    gpu.launch(contract, threads, edges.target, count, *seen, *kept, phase="contract")
