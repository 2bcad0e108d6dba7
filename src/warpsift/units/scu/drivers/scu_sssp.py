"""SSSP with the SCU: near-far, expanded and compacted by the unit.

SCU paper, algorithm 2 (basic) and 5 (enhanced). The unit expands edges and weights and adds the source's distance to
each weight; the GPU lowers distances and makes two bitmasks, near and far; the unit compacts the next node frontier
and appends to the far pile. Enhanced: the expansion keeps only elements that are new or cheaper than the table
remembers and groups them by the destination's memory block; the near frontier is grouped; when the far pile is
consumed, its elements that now count as near pass the same filter and grouping on their way back into the edge
frontier, and stale ones are masked out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.sssp.frontier import FAR, NEAR, State, allocate, contract, delta_of
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.scu.filtering import FilterTable
from warpsift.units.scu.grouping import GroupTable
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_frontier import Expansion, Growing, Ledger, add_to, prepare_with, set_length
from warpsift.units.scu.scu_spec import ScuSpec


@kernel
def masks(t, nodes, flags, lookup, near, far):
    """Bitmasks of the near candidates that hold their entry of the lookup table, and of the far ones."""
    flag = t.load(flags, t.id)
    keep = t.var(0)
    with t.where(flag == NEAR):
        keep.set(t.select(t.load(lookup, t.load(nodes, t.id)) == t.id, 1, 0))
    near_word = t.ballot(keep == 1)
    far_word = t.ballot(flag == FAR)
    with t.where(t.lane == 0):
        word = t.id >> 5
        t.store(near, word, near_word)
        t.store(far, word, far_word)


@kernel
def split_pile(t, nodes, costs, distance, near, far, threshold):
    """Bitmasks of the far pile's elements below the new threshold and above it; stale ones are in neither."""
    cost = t.load(costs, t.id)
    useful = cost < t.load(distance, t.load(nodes, t.id))
    below = cost < threshold
    near_word = t.ballot(useful & below)
    far_word = t.ballot(useful & ~below)
    with t.where(t.lane == 0):
        word = t.id >> 5
        t.store(near, word, near_word)
        t.store(far, word, far_word)


@dataclass
class Machinery:
    """The unit and what it works with."""

    scu: Scu
    state: State
    expansion: Expansion
    near: Growing
    far: Growing
    near_group: GroupTable | None
    far_filter: FilterTable | None
    far_group: GroupTable | None
    ledger: Ledger
    work: Work


def run(gpu: Gpu, graph: CsrGraph, options: SsspOptions, spec: ScuSpec | None = None, enhanced: bool = True) -> Outcome:
    assert options.source is not None and graph.weights is not None
    m = _machinery(gpu, graph, options.source, spec, enhanced)
    return near_far(gpu, graph, options, m, _expand, _consume_pile if enhanced else _contract_pile)


def near_far(
    gpu: Gpu,
    graph: CsrGraph,
    options: SsspOptions,
    m: Machinery,
    expand: Callable[[Gpu, Machinery], None],
    consume_pile: Callable[[Gpu, Machinery, float], None],
) -> Outcome:
    """The algorithm: `expand` makes the edge frontier, `consume_pile` goes on with the far pile when near is empty."""
    delta = delta_of(graph, options)
    threshold, iterations, phases = delta, 0, 0
    state = m.state
    while iterations != options.max_iterations:
        if len(state.nodes):
            iterations += 1
            expand(gpu, m)
            m.ledger.edge_elements += len(state.edges)
            contract_candidates(gpu, m, state.edges, state.far[0], threshold)
        elif len(state.far[0]):
            phases += 1
            pile = state.far[0]
            cheapest = float(pile.cost.host[: len(pile)].min())
            threshold = max(threshold + delta, (cheapest // delta + 1) * delta)
            consume_pile(gpu, m, threshold)
        else:
            break
    m.work.nodes_processed, m.work.edges_touched = m.ledger.node_elements, m.ledger.edge_elements
    notes = {"delta": delta, "far_phases": phases, **m.ledger.notes()}
    return Outcome(state.distance.host.copy(), iterations, m.work, notes)


def _machinery(gpu: Gpu, graph: CsrGraph, source: int, spec: ScuSpec | None, enhanced: bool) -> Machinery:
    scu = Scu(gpu, spec)
    state = allocate(gpu, graph, source)
    kind = state.distance.dtype
    expansion = Expansion(scu, carried_dtype=kind)
    near_group = far_filter = far_group = None
    if enhanced:
        filter_bytes, group_bytes = scu.spec.sssp_filter_bytes, scu.spec.sssp_group_bytes
        expansion.filter = scu.filter_table("expand_filter", filter_bytes, graph.nodes, cost_dtype=kind)
        far_filter = scu.filter_table("far_filter", filter_bytes, graph.nodes, cost_dtype=kind)
        if scu.spec.grouping:
            expansion.group = scu.group_table("expand_group", group_bytes, graph.nodes)
            near_group = scu.group_table("near_group", group_bytes, graph.nodes)
            far_group = scu.group_table("far_group", group_bytes, graph.nodes)
    near, far = (Growing(gpu, f"{name}_mask", np.uint32) for name in ("near", "far"))
    return Machinery(
        scu, state, expansion, near, far, near_group, far_filter, far_group, Ledger(), Work(edges=graph.edges)
    )


Lists = tuple[DeviceArray, DeviceArray, int]


def prepare_lists(gpu: Gpu, m: Machinery) -> tuple[Lists, DeviceArray]:
    """The GPU's part of an expansion: begin and length of the edge lists, the distances that they carry."""
    state, expansion = m.state, m.expansion
    device, nodes = state.device, state.nodes
    count = len(nodes)
    index, counts = expansion.lists(count)
    carried = expansion.carried.room(count)
    gpu.launch(prepare_with, count, nodes.node, device.offsets, state.distance, index, counts, carried, phase="prepare")
    total = int(device.graph.out_degrees[nodes.node.host[:count]].sum())
    state.edges.reserve(total)
    m.ledger.expanded += total
    m.ledger.node_elements += count
    return (index, counts, count), carried


def _expand(gpu: Gpu, m: Machinery) -> None:
    lists, carried = prepare_lists(gpu, m)
    _, counts, count = lists
    scu, expansion, device, edges = m.scu, m.expansion, m.state.device, m.state.edges
    costs = {"cost": device.weights, "cost_base": carried} if expansion.filter is not None else {}
    chosen = expansion.steps(device.targets, count, **costs)
    _, n = scu.access_expansion_compaction(device.targets, *lists, out=edges.node, phase="expand", **chosen)
    scu.access_expansion_compaction(device.weights, *lists, out=edges.cost, phase="expand", **chosen)
    if scu.spec.accumulate == "scu":
        scu.replication_compaction(carried, counts, count, out=edges.cost, add=True, phase="expand", **chosen)
    else:
        spread = Growing(gpu, "scu.spread", carried.dtype).room(n) if n else carried
        scu.replication_compaction(carried, counts, count, out=spread, phase="expand", **chosen)
        gpu.launch(add_to, n, edges.cost, spread, phase="add")
    set_length(edges, n)


def contract_candidates(gpu: Gpu, m: Machinery, candidates: Queue, far: Queue, threshold: float) -> None:
    """GPU: lower distances, near and far masks. Unit: next node frontier, far pile."""
    state, scu, count = m.state, m.scu, len(candidates)
    limit = state.distance.dtype.type(min(threshold, INFINITY))
    seen = (candidates.node, candidates.cost, state.distance, state.lookup, candidates.flag, limit)
    gpu.launch(contract, count, *seen, phase="contract")
    near, far_mask = m.near.mask(count), m.far.mask(count)
    gpu.launch(masks, count, candidates.node, candidates.flag, state.lookup, near, far_mask, phase="contract")
    lowered = int((candidates.flag.host[:count] == NEAR).sum())
    state.nodes.reserve(count)
    order = None
    if m.near_group is not None:
        order, _ = scu.data_compaction(candidates.node, near, count, group=m.near_group, phase="compact")
    _, n = scu.data_compaction(candidates.node, near, count, out=state.nodes.node, group=order, phase="compact")
    set_length(state.nodes, n)
    m.work.relaxations += lowered
    m.work.duplicates += lowered - n
    append_far(scu, candidates, far_mask, count, far)


def append_far(scu: Scu, candidates: Queue, mask, count: int, far: Queue) -> None:
    """Masked candidates onto the far pile."""
    before = len(far)
    far.reserve(before + count)
    for column in ("node", "cost"):
        source, target = getattr(candidates, column), getattr(far, column)
        _, n = scu.data_compaction(source, mask, count, out=target, at=before, phase="compact")
    set_length(far, before + n)


def _swap_piles(m: Machinery) -> tuple[Queue, Queue]:
    """The far pile as it was, and an empty one."""
    pile, m.state.far = m.state.far[0], m.state.far[::-1]
    m.state.far[0].clear()
    m.ledger.far_elements += len(pile)
    return pile, m.state.far[0]


def _contract_pile(gpu: Gpu, m: Machinery, threshold: float) -> None:
    """The basic unit: the whole pile is contracted again."""
    pile, rest = _swap_piles(m)
    contract_candidates(gpu, m, pile, rest, threshold)
    pile.clear()


def divide_pile(gpu: Gpu, m: Machinery, threshold: float) -> tuple[Queue, Queue, DeviceArray]:
    """What is still far goes to a new pile; gives the old one, the new one, and the mask of those that are near."""
    pile, rest = _swap_piles(m)
    state, count = m.state, len(pile)
    near, far_mask = m.near.mask(count), m.far.mask(count)
    limit = state.distance.dtype.type(min(threshold, INFINITY))
    gpu.launch(split_pile, count, pile.node, pile.cost, state.distance, near, far_mask, limit, phase="far")
    append_far(m.scu, pile, far_mask, count, rest)
    return pile, rest, near


def _consume_pile(gpu: Gpu, m: Machinery, threshold: float) -> None:
    pile, rest, near = divide_pile(gpu, m, threshold)
    scu, edges, count = m.scu, m.state.edges, len(pile)
    keep, _ = scu.data_compaction(pile.node, near, count, filter=m.far_filter, cost=pile.cost, phase="far")
    order = None
    if m.far_group is not None:
        order, _ = scu.data_compaction(pile.node, near, count, filter=keep, group=m.far_group, phase="far")
    edges.reserve(keep.kept)
    chosen = {"filter": keep, "group": order, "phase": "far"}
    _, n = scu.data_compaction(pile.node, near, count, out=edges.node, **chosen)
    scu.data_compaction(pile.cost, near, count, out=edges.cost, **chosen)
    contract_near(gpu, m, (pile, rest), n, threshold)


def contract_near(gpu: Gpu, m: Machinery, piles: tuple[Queue, Queue], n: int, threshold: float) -> None:
    """Go on with the n elements of the pile that came into the edge frontier."""
    edges, (pile, rest) = m.state.edges, piles
    set_length(edges, n)
    pile.clear()
    m.ledger.edge_elements += n
    m.ledger.far_kept += n
    contract_candidates(gpu, m, edges, rest, threshold)
