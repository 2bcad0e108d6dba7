"""SSSP with the reorder unit: contraction gets candidates block by block, of one node the cheapest that the hash sees.

Near-far as in the frontier style (algorithms/sssp/frontier.py). Candidates that are kept are written in the order in
which the unit hands them out, so that the compaction behind reads them side by side.
"""

from __future__ import annotations

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.sssp.frontier import FAR, NEAR, State, allocate, compact, delta_of, expand_frontier
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel
from warpsift.units.iru.iru_spec import IruSpec
from warpsift.units.iru.iru_threads import iru_stream


@kernel(races=True)
def contract(t, edges, distance, lookup, nodes, costs, flags, threshold):
    """Flag each candidate as near, far or dropped; near ones lower the distance and enter the lookup table."""
    node, cost, _, present = t.iru_load(edges)
    flag = t.var(0)
    with t.where(present == 1), t.where(cost < t.load(distance, node)):
        near = cost < threshold
        with t.where(near), t.where(t.atomic_min(distance, node, cost) > cost):
            t.store(lookup, node, t.id)
            flag.set(NEAR)
        with t.otherwise(near):
            flag.set(FAR)
            t.store(costs, t.id, cost)
        t.store(nodes, t.id, node)
    t.store(flags, t.id, flag)


def run(gpu: Gpu, graph: CsrGraph, options: SsspOptions, spec: IruSpec, parts: int) -> Outcome:
    assert options.source is not None and graph.weights is not None
    state = allocate(gpu, graph, options.source)
    handed = Queue(gpu, "handed_out", graph.edges, node=state.edges.node.dtype, cost=graph.weights.dtype, flag="int32")
    work = Work(edges=graph.edges)
    delta = delta_of(graph, options)
    threshold, iterations, phases, merged = delta, 0, 0, 0
    while iterations != options.max_iterations:
        if len(state.nodes):
            iterations += 1
            expand_frontier(gpu, state, work)
            state.nodes.clear()
            candidates, far = state.edges, state.far[0]
        elif len(state.far[0]):
            phases += 1
            candidates, state.far = state.far[0], state.far[::-1]
            far = state.far[0]
            far.clear()
            cheapest = float(candidates.cost.host[: len(candidates)].min())
            threshold = max(threshold + delta, (cheapest // delta + 1) * delta)
        else:
            break
        with iru_stream(
            gpu, candidates.node, len(candidates), spec=spec, parts=parts, values=candidates.cost, merge="min"
        ) as stream:
            _contract(gpu, state, candidates, handed, threshold)
            merged += stream.count - stream.kept
        _compact(gpu, state, handed, len(candidates), far, work)
        candidates.clear()
        gpu.progressed(work.nodes_processed / (2 * graph.nodes))
    notes: dict[str, object] = {"delta": delta, "far_phases": phases, "merged_elements": merged}
    return Outcome(state.distance.host.copy(), iterations, work, notes)


def _contract(gpu: Gpu, state: State, candidates: Queue, handed: Queue, threshold: float) -> None:
    count = len(candidates)
    handed.reserve(count)
    limit = state.distance.dtype.type(min(threshold, INFINITY))
    written = (handed.node, handed.cost, handed.flag)
    gpu.launch(contract, count, candidates.node, state.distance, state.lookup, *written, limit, phase="contract")


def _compact(gpu: Gpu, state: State, handed: Queue, count: int, far: Queue, work: Work) -> None:
    """Near candidates into the node frontier, far ones onto the pile, as without the unit."""
    nodes, flags = state.nodes, handed.flag.host[:count]
    nodes.reserve(count)
    far.reserve(len(far) + count)
    near = int((flags == NEAR).sum())
    split = (handed.node, handed.cost, handed.flag, count, state.lookup)
    queues = (nodes.node, nodes.counter, far.node, far.cost, far.counter)
    gpu.launch(compact, count, *split, *queues, phase="compact", compaction=True)
    work.relaxations += near
    work.duplicates += near - len(nodes)
