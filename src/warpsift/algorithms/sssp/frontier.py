"""SSSP in the frontier style: near-far, with duplicates removed by a lookup table.

Davidson, Baxter, Garland and Owens, IPDPS 2014. Expansion writes neighbours and their costs to memory. Contraction
takes the candidates that are cheaper than what is known: below the threshold they lower the distance (atomicMin) and
join the next node frontier, else they join the far pile, which keeps duplicates (SCU paper, Fig. 4). Of the threads
that bring one node, the one whose number stays in a lookup table keeps it; the table is read in a second launch, after
all have written, so this removal is complete. When the near frontier is empty, the threshold rises by delta and the
far pile is contracted in the same way; entries that meanwhile became stale fall out. This is the SCU paper's baseline
(section 2.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.compaction import Destination, append_to_two
from warpsift.algorithms.operators.gathering import gather_edges
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel

NEAR, FAR = 1, 2
LARGEST_STEP = 32  # delta in units of mean weight / mean degree (Davidson et al., section 4.2: a warp's worth of edges)


@kernel(guard=False)
def expand(t, frontier, count, offsets, targets, weights, distance, edges, costs, edge_count):
    """Write all neighbours of the frontier's nodes, and the cost of reaching each, to the edge frontier."""
    begin, degree = t.var(0), t.var(0)
    reached = t.var(0, distance.dtype)
    with t.where(t.id < count):
        node = t.load(frontier, t.id)
        first = t.load(offsets, node)
        begin.set(first)
        degree.set(t.load(offsets, node, offset=1) - first)
        reached.set(t.load(distance, node))

    def emit(edge, at, so_far):
        t.store(edges, at, t.load(targets, edge))
        t.store(costs, at, so_far + t.load(weights, edge))

    gather_edges(t, begin, degree, reached, edge_count, emit)


@kernel(races=True)
def contract(t, nodes, costs, distance, lookup, flags, threshold):
    """Flag each candidate as near, far or dropped; near ones lower the distance and enter the lookup table."""
    node = t.load(nodes, t.id)
    cost = t.load(costs, t.id)
    flag = t.var(0)
    with t.where(cost < t.load(distance, node)):
        near = cost < threshold
        with t.where(near), t.where(t.atomic_min(distance, node, cost) > cost):
            t.store(lookup, node, t.id)
            flag.set(NEAR)
        with t.otherwise(near):
            flag.set(FAR)
    t.store(flags, t.id, flag)


@kernel(guard=False)
def compact(t, nodes, costs, flags, count, lookup, near, near_count, far_nodes, far_costs, far_count):
    """Append near candidates that hold their entry of the lookup table to the frontier, far ones to the pile."""
    choice, node = t.var(0), t.var(0)
    cost = t.var(0, costs.dtype)
    with t.where(t.id < count):
        flag = t.load(flags, t.id)
        with t.where(flag != 0):
            choice.set(flag)
            node.set(t.load(nodes, t.id))
            with t.where(flag == FAR):
                cost.set(t.load(costs, t.id))
            with t.where(flag == NEAR), t.where(t.load(lookup, node) != t.id):
                choice.set(0)  # another thread brings this node
    near_queue = Destination(near_count, ((near, node),))
    append_to_two(t, choice, near_queue, Destination(far_count, ((far_nodes, node), (far_costs, cost))))


@dataclass
class State:
    """The arrays of a run."""

    device: DeviceGraph
    distance: DeviceArray
    lookup: DeviceArray
    nodes: Queue  # the node frontier
    edges: Queue  # candidates: node and cost, with a flag
    far: list[Queue]  # the far pile, and the one it is contracted into


def delta_of(graph: CsrGraph, options: SsspOptions) -> float:
    """How far the threshold moves: the user's, or 32 * mean weight / mean degree."""
    assert graph.weights is not None
    if options.delta is None and graph.edges == 0:
        return 1.0
    # Integer costs move by 1 at least: a smaller step would pass over a million thresholds to reach the next cost.
    least = 1.0 if graph.weights.dtype.kind in "iu" else 1e-6
    if options.delta is not None:
        return max(options.delta, least)
    return max(LARGEST_STEP * float(graph.weights.mean()) / (graph.edges / graph.nodes), least)


def run(gpu: Gpu, graph: CsrGraph, options: SsspOptions) -> Outcome:
    assert options.source is not None and graph.weights is not None
    state = allocate(gpu, graph, options.source)
    work = Work(edges=graph.edges)
    delta = delta_of(graph, options)
    threshold, iterations, phases, far_elements = delta, 0, 0, 0
    nodes, edges = state.nodes, state.edges
    while iterations != options.max_iterations:
        if len(nodes):
            iterations += 1
            expand_frontier(gpu, state, work)
            nodes.clear()
            _contract(gpu, state, edges, state.far[0], threshold, work)
            gpu.progressed(work.nodes_processed / (2 * graph.nodes))  # a node is expanded about twice
        elif len(state.far[0]):
            phases += 1
            pile, state.far = state.far[0], state.far[::-1]
            cheapest = float(pile.cost.host[: len(pile)].min())  # skip thresholds that no entry lies below
            threshold = max(threshold + delta, (cheapest // delta + 1) * delta)
            far_elements += len(pile)
            state.far[0].clear()
            _contract(gpu, state, pile, state.far[0], threshold, work)
            pile.clear()
        else:
            break
    notes: dict[str, object] = {"delta": delta, "far_phases": phases, "far_pile_elements": far_elements}
    return Outcome(state.distance.host.copy(), iterations, work, notes)


def allocate(gpu: Gpu, graph: CsrGraph, source: int) -> State:
    assert graph.weights is not None
    kind = graph.weights.dtype
    candidates: dict[str, DTypeLike] = {"node": np.int32, "cost": kind, "flag": np.int32}
    state = State(
        DeviceGraph(gpu, graph),
        gpu.memory.full("distance", graph.nodes, INFINITY, kind),
        gpu.memory.empty("lookup", graph.nodes),
        Queue(gpu, "node_frontier", graph.nodes, node=np.int32),
        Queue(gpu, "edge_frontier", graph.edges, **candidates),
        [Queue(gpu, f"far_pile{k}", graph.edges, **candidates) for k in range(2)],
    )
    state.distance.host[source] = 0
    state.nodes.fill(node=np.array([source]))
    return state


def expand_frontier(gpu: Gpu, state: State, work: Work) -> None:
    """All neighbours of the node frontier, with their costs, into the edge frontier."""
    device, nodes, edges = state.device, state.nodes, state.edges
    count = len(nodes)
    edges.reserve(int(device.graph.out_degrees[nodes.node.host[:count]].sum()))
    edges.clear()
    rows = (device.offsets, device.targets, device.weights, state.distance)
    arguments = (nodes.node, count, *rows, edges.node, edges.cost, edges.counter)
    gpu.launch(expand, count, *arguments, phase="expand", compaction=True)
    work.nodes_processed += count
    work.edges_touched += len(edges)


def _contract(gpu: Gpu, state: State, candidates: Queue, far: Queue, threshold: float, work: Work) -> None:
    count = len(candidates)
    far.reserve(len(far) + count)
    limit = state.distance.dtype.type(min(threshold, INFINITY))
    arguments = (candidates.node, candidates.cost, state.distance, state.lookup, candidates.flag, limit)
    gpu.launch(contract, count, *arguments, phase="contract")
    nodes = state.nodes
    nodes.reserve(count)
    flags = candidates.flag.host[:count]
    work.relaxations += int((flags == NEAR).sum())
    split = (candidates.node, candidates.cost, candidates.flag, count, state.lookup)
    queues = (nodes.node, nodes.counter, far.node, far.cost, far.counter)
    gpu.launch(compact, count, *split, *queues, phase="compact", compaction=True)
    work.duplicates += int((flags == NEAR).sum()) - len(nodes)
