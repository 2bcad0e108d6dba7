"""Triangle counting with a thread per edge, which merges two sorted rows.

For the edge u -> v the thread walks the neighbours of u in front of v and those of v side by side, one step a
comparison, and counts the equal ones. Green, Yalamanchili and Munguía, "Fast Triangle Counting on the GPU", IA3 2014,
intersect sorted lists in this way (with several threads for a long pair); one thread per edge over rows ordered by
degree is Polak, "Counting Triangles in Large Graphs on GPU", IPDPSW 2016. Threads of a warp walk rows of different
length at different places: little coalescing, and the longest pair keeps the warp.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.tc.ordering import Counting, add_to_ends
from warpsift.algorithms.tc.tc_options import TcOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, Register, kernel


@kernel
def intersect(t, sources, targets, offsets, found, per_node):
    """The common neighbours of the two ends of edge t.id."""
    source, target = t.load(sources, t.id), t.load(targets, t.id)
    mine, theirs = t.var(t.load(offsets, source)), t.var(t.load(offsets, target))
    end = t.load(offsets, target, offset=1)
    count = t.var(0)

    def both_left() -> Register:
        return (mine < t.id) & (theirs < end)  # behind place t.id, where the target is, none can be common

    for _ in t.loop_while(both_left):
        a, b = t.load(targets, mine), t.load(targets, theirs)
        with t.where(a == b):
            count += 1
            if per_node is not None:
                t.atomic_add(per_node, a, 1, used=False)
        mine += t.select(a <= b, 1, 0)
        theirs += t.select(b <= a, 1, 0)
    t.store(found, t.id, count)
    if per_node is not None:
        add_to_ends(t, per_node, source, target, count)


def elements_walked(rows: CsrGraph) -> int:
    """What the merges read, for the ledger: of both lists, all up to the smaller of their last elements."""
    nodes, edge = np.int64(max(rows.nodes, 1)), np.arange(rows.edges)
    first, last = rows.offsets[:-1], rows.offsets[1:]
    begin, other, other_end = first[rows.sources], first[rows.targets], last[rows.targets]
    some = (begin < edge) & (other < other_end)
    begin, edge, other, other_end = begin[some], edge[some], other[some], other_end[some]
    limit = np.minimum(rows.targets[edge - 1], rows.targets[other_end - 1])
    keys = rows.sources * nodes + rows.targets  # ascending, so that one search serves all rows
    walked = np.searchsorted(keys, rows.sources[edge] * nodes + limit, "right") - begin
    walked += np.searchsorted(keys, rows.targets[edge] * nodes + limit, "right") - other
    return int(walked.sum())


def run(gpu: Gpu, graph: CsrGraph, options: TcOptions) -> Outcome:
    counting = Counting(gpu, graph, options)
    gpu.launch(intersect, counting.edges, *counting.arguments, phase="intersect")
    return counting.outcome(elements_walked(counting.ordered.rows))
