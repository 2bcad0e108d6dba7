"""BFS in the frontier style: expand the node frontier into an edge frontier, contract that into the next.

Merrill, Garland and Grimshaw, PPoPP 2012, two-phase: `expand` writes all neighbours of the frontier to memory;
`contract` drops those already visited, by a bitmask that is updated without atomics and so forgets some bits, by the
label, and by hash tables in shared memory that catch duplicates in a warp (warp culling) and recently seen nodes in a
CTA (history culling). None of these is complete: two CTAs that do not see each other's writes both keep a node, and
its edges are expanded twice. The answer stays right; the ledger says what it costs. This is the SCU paper's baseline
(section 2.1).

Merrill's own code, b40c, has three launches a level where `filter_kernel` is set: `filter_edges` drops what the bitmask
knows and compacts the rest, `contract_filtered` does the label check and the culling on what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.conventions import INFINITY, THREADS_PER_CTA
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.compaction import append, compact
from warpsift.algorithms.operators.gathering import gather_edges
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, Register, Threads, kernel

WARP_TABLE = 128  # entries of the warp-culling hash per warp (Merrill et al., section 4.4)
HISTORY_TABLE = 1024  # entries of the history-culling hash per CTA: 4 KB of shared memory
MOST_TILES_PER_CTA = 4  # a CTA works on several tiles in turn, which is what gives it a history


@kernel(guard=False)
def expand(t, frontier, count, offsets, targets, edges, edge_count):
    """Write all neighbours of the frontier's nodes to the edge frontier."""
    gather_neighbours(t, (frontier, count), (offsets, targets), (edges, edge_count))


def gather_neighbours(t: Threads, nodes, graph, queue, **how) -> None:
    """The neighbours of each thread's node; `how` is what gather_edges takes."""
    (frontier, count), (offsets, targets), (edges, edge_count) = nodes, graph, queue
    begin, degree = t.var(0), t.var(0)
    with t.where(t.id < count):
        node = t.load(frontier, t.id)
        first = t.load(offsets, node)
        begin.set(first)
        degree.set(t.load(offsets, node, offset=1) - first)

    def emit(edge, at, _):
        t.store(edges, at, t.load(targets, edge))

    gather_edges(t, begin, degree, None, edge_count, emit, **how)


def visit(t: Threads, vertex, fresh, visited, labels, depth) -> None:
    """Bitmask and label check: fresh = 1 and a label for nodes not seen before (as far as this thread can see)."""
    byte_index = vertex >> 3
    byte = t.load(visited, byte_index)
    bit = 1 << (vertex & 7)
    with t.where((byte & bit) == 0):
        t.store(visited, byte_index, byte | bit)  # no atomic: of two updates to one byte one is lost
        label(t, vertex, fresh, labels, depth)


def label(t: Threads, vertex, fresh, labels, depth) -> None:
    """The label check alone."""
    with t.where(t.load(labels, vertex) == INFINITY):
        t.store(labels, vertex, depth)
        fresh.set(1)


@kernel(guard=False, races=True)
def filter_edges(t, edges, count, visited, filtered, filtered_count):
    """b40c's filter: the edge frontier without the nodes whose bit is set; the others set theirs."""
    fresh, vertex = t.var(0), t.var(0)
    with t.where(t.id < count):
        vertex.set(t.load(edges, t.id))
        byte_index = vertex >> 3
        byte = t.load(visited, byte_index)
        bit = 1 << (vertex & 7)
        with t.where((byte & bit) == 0):
            t.store(visited, byte_index, byte | bit)  # no atomic, as in `visit`
            fresh.set(1)
    append(t, fresh, filtered_count, (filtered, vertex))


class Culling:
    """Best-effort removal of duplicates by hash tables in shared memory."""

    def __init__(self, t: Threads, warp: bool, history: bool) -> None:
        self.t = t
        warps = t.batch.threads_per_cta // 32
        self.warp_table = t.shared(np.int32, warps * WARP_TABLE) if warp else None
        self.history = t.shared(np.int32, HISTORY_TABLE) if history else None
        if self.history is not None:
            for k in range(0, HISTORY_TABLE, t.batch.threads_per_cta):
                self.history.store(t.in_cta + k, -1)
            t.barrier()

    def apply(self, vertex, fresh) -> None:
        t = self.t
        if self.warp_table is not None:
            with t.where(fresh == 1):
                slot = ((t.in_cta >> 5) * WARP_TABLE) + (vertex & (WARP_TABLE - 1))
                self.warp_table.store(slot, vertex)
                with t.where(self.warp_table.load(slot) == vertex):
                    self.warp_table.store(slot, t.in_cta)  # vie for being the one that keeps it
                    with t.where(self.warp_table.load(slot) != t.in_cta):
                        fresh.set(0)
        if self.history is not None:
            with t.where(fresh == 1):
                before = self.history.look_and_put(vertex & (HISTORY_TABLE - 1), vertex)
                with t.where(before == vertex):
                    fresh.set(0)


def looked_at(
    t: Threads, edges: DeviceArray, count: int, tiles: int, culls: tuple[bool, bool], look: Callable[..., None], *state
) -> Iterator[tuple[Register, Register, Register]]:
    """The edge frontier, tile by tile: each thread's place, node, and whether `look` and culling found it fresh."""
    culling = Culling(t, *culls)
    size = t.batch.threads_per_cta
    first = t.cta * (tiles * size) + t.in_cta
    for tile in range(tiles):
        at = first + tile * size
        fresh, vertex = t.var(0), t.var(0)
        with t.where(at < count):
            vertex.set(t.load(edges, at))
            look(t, vertex, fresh, *state)
        culling.apply(vertex, fresh)
        yield at, vertex, fresh


@kernel(guard=False, races=True)
def contract(t, edges, count, visited, labels, depth, frontier, frontier_count, tiles, culls):
    """Keep the edge frontier's unvisited nodes, label them, and append them to the node frontier."""
    for _, vertex, fresh in looked_at(t, edges, count, tiles, culls, visit, visited, labels, depth):
        append(t, fresh, frontier_count, (frontier, vertex))


@kernel(guard=False, races=True)
def contract_filtered(t, edges, count, labels, depth, frontier, frontier_count, tiles, culls):
    """`contract` behind `filter_edges`: the label alone says whether a node is new."""
    for _, vertex, fresh in looked_at(t, edges, count, tiles, culls, label, labels, depth):
        append(t, fresh, frontier_count, (frontier, vertex))


@kernel(guard=False, races=True)
def contract_flags(t, edges, count, visited, labels, depth, flags, tiles, culls):
    """The first half of `contract` alone: flags instead of a frontier, so that compaction can be timed apart."""
    for at, _, fresh in looked_at(t, edges, count, tiles, culls, visit, visited, labels, depth):
        with t.where(at < count):
            t.store(flags, at, fresh)


def tiles_per_cta(gpu: Gpu, count: int) -> int:
    """Merrill's even share: as many tiles in turn as keep the GPU full, up to a limit."""
    tiles = -(-count // THREADS_PER_CTA)
    return max(1, min(MOST_TILES_PER_CTA, tiles // gpu.residency.resident_ctas(THREADS_PER_CTA)))


def run(gpu: Gpu, graph: CsrGraph, options: BfsOptions) -> Outcome:
    assert options.source is not None
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.full("labels", graph.nodes, INFINITY)
    visited = gpu.memory.empty("visited", graph.nodes // 8 + 1, np.uint8)
    nodes = [Queue(gpu, f"node_frontier{k}", graph.nodes, node=np.int32) for k in range(2)]
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32, flag=np.int32)
    filtered = Queue(gpu, "filtered_frontier", graph.edges, target=np.int32) if options.filter_kernel else None
    labels.host[options.source] = 0
    visited.host[options.source >> 3] = 1 << (options.source & 7)
    nodes[0].fill(node=np.array([options.source]))
    work = Work(edges=graph.edges)
    depth = 0
    while len(nodes[0]) and depth != options.max_iterations:
        depth += 1
        now, following = nodes
        work.nodes_processed += len(now)
        expand_frontier(gpu, device, now, edges, work)
        if filtered is not None:
            filter_frontier(gpu, edges, filtered, visited)
            contract_rest(gpu, filtered, following, (labels, depth), options)
        else:
            contract_frontier(gpu, edges, following, (visited, labels, depth), options)
        nodes = [following, now]
        gpu.progressed(work.nodes_processed / graph.nodes)
    reached = int((labels.host < INFINITY).sum())
    work.duplicates = work.nodes_processed - reached + len(nodes[0])
    return Outcome(labels.host.copy(), depth, work)


def expand_frontier(gpu: Gpu, device: DeviceGraph, nodes: Queue, edges: Queue, work: Work) -> None:
    """All neighbours of the node frontier into the edge frontier."""
    count = len(nodes)
    degrees = device.graph.out_degrees[nodes.node.host[:count]]
    edges.reserve(int(degrees.sum()))
    edges.clear()
    arguments = (nodes.node, count, device.offsets, device.targets, edges.target, edges.counter)
    gpu.launch(expand, count, *arguments, phase="expand", compaction=True)
    work.edges_touched += len(edges)


def filter_frontier(gpu: Gpu, edges: Queue, filtered: Queue, visited: Any) -> None:
    """The edge frontier without the nodes that the bitmask knows."""
    filtered.reserve(len(edges))
    filtered.clear()
    arguments = (edges.target, len(edges), visited, filtered.target, filtered.counter)
    gpu.launch(filter_edges, len(edges), *arguments, phase="filter", compaction=True)


def contract_rest(gpu: Gpu, filtered: Queue, following: Queue, seen: tuple[Any, ...], options: BfsOptions) -> None:
    """What the filter has left, unlabelled nodes into the next node frontier; `seen` is labels and depth."""
    count = len(filtered)
    following.reserve(count)
    following.clear()
    tiles = tiles_per_cta(gpu, count)
    threads = -(-count // (tiles * THREADS_PER_CTA)) * THREADS_PER_CTA
    kept = (following.node, following.counter, tiles, (options.warp_culling, options.history_culling))
    gpu.launch(contract_filtered, threads, filtered.target, count, *seen, *kept, phase="contract")


def contract_frontier(gpu: Gpu, edges: Queue, following: Queue, seen: tuple[Any, ...], options: BfsOptions) -> None:
    """The edge frontier's unvisited nodes into the next node frontier; `seen` is bitmask, labels and depth."""
    count = len(edges)
    following.reserve(count)
    following.clear()
    tiles = tiles_per_cta(gpu, count)
    threads = -(-count // (tiles * THREADS_PER_CTA)) * THREADS_PER_CTA
    culls = (options.warp_culling, options.history_culling)
    if options.split_kernels:
        gpu.launch(contract_flags, threads, edges.target, count, *seen, edges.flag, tiles, culls, phase="contract")
        split = (edges.target, edges.flag, count, following.node, following.counter)
        gpu.launch(compact, count, *split, phase="compact", compaction=True)
    else:
        kept = (following.node, following.counter, tiles, culls)
        gpu.launch(contract, threads, edges.target, count, *seen, *kept, phase="contract")
