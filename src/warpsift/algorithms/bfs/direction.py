"""Direction-optimising BFS: from the frontier outwards while it is small, from the unvisited nodes inwards while large.

Beamer, Asanović and Patterson, SC 2012. Top-down steps are the frontier style's expand and contract. A bottom-up step
gives every unvisited vertex a thread that looks through its in-neighbours until one lies in the frontier, a bit vector;
most vertices find one early and skip the rest of their edges. This is the stronger software baseline that a reviewer
of either paper would ask for; neither paper runs it.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.bfs.frontier import contract_frontier, expand_frontier
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.compaction import append
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, Register, kernel

ALPHA, BETA = 14, 24  # Beamer et al., section 5.1: switch down when m_f > m_u / 14, up when n_f < n / 24


@kernel
def mark(t, frontier, bits):
    """The frontier's list as a bit vector."""
    node = t.load(frontier, t.id)
    t.atomic_or(bits, node >> 5, t.shift_left(1, node & 31), used=False)


@kernel
def clear(t, bits):
    t.store(bits, t.id, 0)


@kernel
def look_inwards(t, in_offsets, in_sources, labels, depth, bits, following):
    """Unvisited vertices look for a parent in the frontier."""
    t.exit_where(t.load(labels, t.id) != INFINITY)
    edge, end = t.var(t.load(in_offsets, t.id)), t.load(in_offsets, t.id, offset=1)
    found = t.var(0)

    def looking() -> Register:
        return (edge < end) & (found == 0)

    for _ in t.loop_while(looking):
        source = t.load(in_sources, edge)
        found.set((t.load(bits, source >> 5) >> (source & 31)).astype(np.int32) & 1)
        edge += 1
    t.exit_where(found == 0)
    t.store(labels, t.id, depth)
    t.atomic_or(following, t.id >> 5, t.shift_left(1, t.id & 31), used=False)


@kernel(guard=False)
def list_bits(t, bits, nodes, frontier, count):
    """The bit vector as a list again."""
    keep = t.var(0)
    with t.where(t.id < nodes):
        keep.set((t.load(bits, t.id >> 5) >> (t.id & 31)).astype(np.int32) & 1)
    append(t, keep, count, (frontier, t.id))


@kernel
def mark_visited(t, frontier, visited):
    """Tell the top-down steps' bitmask what the bottom-up steps found (best effort, as everywhere)."""
    node = t.load(frontier, t.id)
    byte = t.load(visited, node >> 3)
    t.store(visited, node >> 3, byte | (1 << (node & 7)))


class State:
    """The arrays of a run."""

    def __init__(self, gpu: Gpu, graph: CsrGraph, source: int) -> None:
        self.device = DeviceGraph(gpu, graph)
        self.labels = gpu.memory.full("labels", graph.nodes, INFINITY)
        self.visited = gpu.memory.empty("visited", graph.nodes // 8 + 1, np.uint8)
        self.nodes = [Queue(gpu, f"node_frontier{k}", graph.nodes, node=np.int32) for k in range(2)]
        self.edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32, flag=np.int32)
        self.bits = [gpu.memory.empty(f"frontier_bits{k}", graph.nodes // 32 + 1, np.uint32) for k in range(2)]
        self.labels.host[source] = 0
        self.visited.host[source >> 3] = 1 << (source & 7)
        self.nodes[0].fill(node=np.array([source]))


def run(gpu: Gpu, graph: CsrGraph, options: BfsOptions) -> Outcome:
    assert options.source is not None
    state = State(gpu, graph, options.source)
    degrees = graph.out_degrees
    work = Work(edges=graph.edges)
    depth, steps_inwards, unexplored, inwards = 0, 0, graph.edges, False
    while len(state.nodes[0]) and depth != options.max_iterations:
        depth += 1
        frontier = state.nodes[0].node.host[: len(state.nodes[0])]
        outgoing = int(degrees[frontier].sum())
        unexplored -= outgoing
        inwards = frontier.size >= graph.nodes / BETA if inwards else outgoing > max(unexplored, 0) / ALPHA
        work.nodes_processed += frontier.size
        if inwards:
            steps_inwards += 1
            _inwards(gpu, graph, state, depth, work)
        else:
            expand_frontier(gpu, state.device, state.nodes[0], state.edges, work)
            seen = (state.visited, state.labels, depth)
            contract_frontier(gpu, state.edges, state.nodes[1], seen, options)
        state.nodes.reverse()
        gpu.progressed(work.nodes_processed / graph.nodes)
    work.duplicates = work.nodes_processed - int((state.labels.host < INFINITY).sum()) + len(state.nodes[0])
    return Outcome(state.labels.host.copy(), depth, work, {"steps_inwards": steps_inwards})


def _inwards(gpu: Gpu, graph: CsrGraph, state: State, depth: int, work: Work) -> None:
    now, following = state.nodes
    bits, fresh = state.bits
    device = state.device
    for vector in (bits, fresh):
        gpu.launch(clear, len(vector), vector, phase="bottom_up")
    gpu.launch(mark, len(now), now.node, bits, phase="bottom_up")
    rows = (device.in_offsets, device.in_sources)
    work.edges_touched += _looked_at(graph, state)
    gpu.launch(look_inwards, graph.nodes, *rows, state.labels, depth, bits, fresh, phase="bottom_up")
    following.clear()
    listed = (fresh, graph.nodes, following.node, following.counter)
    gpu.launch(list_bits, graph.nodes, *listed, phase="list", compaction=True)
    gpu.launch(mark_visited, len(following), following.node, state.visited, phase="list")


def _looked_at(graph: CsrGraph, state: State) -> int:
    """Edges that the bottom-up step will read, for the ledger: up to the first parent in the frontier."""
    flags = np.zeros(graph.nodes, bool)
    flags[state.nodes[0].node.host[: len(state.nodes[0])]] = True
    rows = graph.in_edges
    wanted = state.labels.host == INFINITY
    hit = flags[rows.targets]
    position = np.arange(rows.edges) - np.repeat(rows.offsets[:-1], rows.out_degrees)
    first = np.where(hit, position + 1, rows.out_degrees[rows.sources])
    nonempty = rows.out_degrees > 0
    needed = np.zeros(graph.nodes, np.int64)
    if rows.edges:
        needed[nonempty] = np.minimum.reduceat(first, rows.offsets[:-1][nonempty])
    return int(needed[wanted].sum())
