"""BFS with the SCU: the unit expands and compacts, the GPU prepares the lists and finds the unvisited nodes.

SCU paper, algorithm 1 (basic) and 4 (enhanced: duplicates and visited nodes are filtered in the expansion, by a table
that lives as long as the run, and duplicates once more in the contraction). Contraction on the GPU is the baseline's,
with its culling, but ends in a bitmask instead of a compaction of its own. No grouping (section 4.4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.bfs.frontier import looked_at, tiles_per_cta, visit
from warpsift.algorithms.conventions import INFINITY, THREADS_PER_CTA
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_frontier import Expansion, Growing, Ledger, prepare, set_length
from warpsift.units.scu.scu_spec import ScuSpec


@kernel(guard=False, races=True)
def contract(t, edges, count, visited, labels, depth, mask, tiles, culls):
    """Label the unvisited nodes of the edge frontier and mark them in a bitmask, one word per warp."""
    for at, _, fresh in looked_at(t, edges, count, tiles, culls, visit, visited, labels, depth):
        word = t.ballot(fresh == 1)
        with t.where((t.lane == 0) & (at < count)):
            t.store(mask, at >> 5, word)


class BfsSteps:
    """What the unit does in a level: the edge frontier from lists that the GPU has prepared, the next node frontier."""

    def __init__(self, scu: Scu, nodes: int, enhanced: bool) -> None:
        self.scu, self.expansion = scu, Expansion(scu)
        self._again = None
        if enhanced:
            size = scu.spec.bfs_filter_bytes
            self.expansion.filter = scu.filter_table("expand_filter", size, nodes, life=scu.spec.expansion_life)
            self._again = scu.filter_table("contract_filter", size, nodes)

    def expand(self, device: DeviceGraph, count: int, edges: Queue) -> int:
        """Edges of `count` nodes; gives how many are left."""
        chosen = self.expansion.steps(device.targets, count)
        lists = (*self.expansion.lists(count), count)
        _, n = self.scu.access_expansion_compaction(device.targets, *lists, out=edges.target, phase="expand", **chosen)
        return n

    def compact(self, edges: Queue, mask: DeviceArray, nodes: Queue) -> None:
        """Marked nodes into the next frontier, without those that the table has seen."""
        count, keep, scu = len(edges), None, self.scu
        nodes.reserve(count)
        if self._again is not None:
            keep, _ = scu.data_compaction(edges.target, mask, count, filter=self._again, phase="compact")
        _, n = scu.data_compaction(edges.target, mask, count, out=nodes.node, filter=keep, phase="compact")
        set_length(nodes, n)


def run(gpu: Gpu, graph: CsrGraph, options: BfsOptions, spec: ScuSpec | None = None, enhanced: bool = True) -> Outcome:
    scu = Scu(gpu, spec)
    return traverse(gpu, graph, options, lambda: BfsSteps(scu, graph.nodes, enhanced))


def traverse(gpu: Gpu, graph: CsrGraph, options: BfsOptions, make_steps: Callable[[], BfsSteps]) -> Outcome:
    """BFS, level by level."""
    assert options.source is not None
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.full("labels", graph.nodes, INFINITY)
    visited = gpu.memory.empty("visited", graph.nodes // 8 + 1, np.uint8)
    labels.host[options.source] = 0
    visited.host[options.source >> 3] = 1 << (options.source & 7)
    nodes = Queue(gpu, "node_frontier", graph.nodes, node=np.int32)
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32)
    masks = Growing(gpu, "contract_mask", np.uint32)
    steps = make_steps()
    nodes.fill(node=np.array([options.source]))
    work, ledger = Work(edges=graph.edges), Ledger()
    culls = (options.warp_culling, options.history_culling)
    depth = 0
    while len(nodes) and depth != options.max_iterations:
        depth += 1
        _expand(gpu, device, nodes, edges, steps)
        ledger.expanded += int(graph.out_degrees[nodes.node.host[: len(nodes)]].sum())
        ledger.node_elements += len(nodes)
        ledger.edge_elements += len(edges)
        mask = masks.mask(len(edges))
        _contract(gpu, edges, (visited, labels, depth), mask, culls)
        steps.compact(edges, mask, nodes)
    work.nodes_processed, work.edges_touched = ledger.node_elements, ledger.edge_elements
    work.duplicates = work.nodes_processed - int((labels.host < INFINITY).sum()) + len(nodes)
    return Outcome(labels.host.copy(), depth, work, ledger.notes())


def _expand(gpu: Gpu, device: DeviceGraph, nodes: Queue, edges: Queue, steps: BfsSteps) -> None:
    count = len(nodes)
    index, counts = steps.expansion.lists(count)
    gpu.launch(prepare, count, nodes.node, device.offsets, index, counts, phase="prepare")
    edges.reserve(int(device.graph.out_degrees[nodes.node.host[:count]].sum()))
    set_length(edges, steps.expand(device, count, edges))


def _contract(gpu: Gpu, edges: Queue, state: tuple[Any, ...], mask: DeviceArray, culls: tuple[bool, bool]) -> None:
    tiles = tiles_per_cta(gpu, len(edges))
    threads = -(-len(edges) // (tiles * THREADS_PER_CTA)) * THREADS_PER_CTA
    gpu.launch(contract, threads, edges.target, len(edges), *state, mask, tiles, culls, phase="contract")
