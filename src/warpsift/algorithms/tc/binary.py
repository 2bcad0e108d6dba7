"""Triangle counting with a warp per edge, which looks up one sorted row in the other by binary search.

For the edge u -> v the lanes take the elements of the shorter of the two rows, 32 at a time, and search each in the
longer. Hu, Liu and Huang, "TriCore: Parallel Triangle Counting on GPUs", SC 2018 (without its cache of the first
tree levels in shared memory). Lanes read the shorter row side by side and their first probes fall on the same
elements, so this coalesces where merging does not; a row of two elements leaves 30 lanes idle.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.tc.ordering import Counting, add_to_ends
from warpsift.algorithms.tc.tc_options import TcOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel
from warpsift.simt.stream import WARP_SIZE


@kernel
def intersect(t, sources, targets, offsets, found, per_node):
    """The common neighbours of the two ends of an edge, the number of which is the warp's."""
    edge = t.id >> 5
    source, target = t.load(sources, edge), t.load(targets, edge)
    mine, theirs, end = t.load(offsets, source), t.load(offsets, target), t.load(offsets, target, offset=1)
    swap = edge - mine > end - theirs  # of the source's row only what lies in front of the target is searched
    short, short_end = t.select(swap, theirs, mine), t.select(swap, end, edge)
    long, long_end = t.select(swap, mine, theirs), t.select(swap, edge, end)
    count = t.var(0)
    for place in t.range(short + t.lane, short_end, step=WARP_SIZE):
        wanted = t.load(targets, place)
        low, high = t.var(long), t.var(long_end)
        for _ in t.loop_while(lambda low=low, high=high: low < high):
            middle = (low + high) >> 1
            probe = t.load(targets, middle)
            with t.where(probe == wanted):
                count += 1
                if per_node is not None:
                    t.atomic_add(per_node, wanted, 1, used=False)
            high.set(t.select(probe > wanted, middle, high))
            low.set(t.select(probe < wanted, middle + 1, t.select(probe == wanted, high, low)))
    total = t.warp_sum(count)
    with t.where(t.lane == 0):
        t.store(found, edge, total)
        if per_node is not None:
            add_to_ends(t, per_node, source, target, total)


def elements_looked_up(rows: CsrGraph) -> int:
    """The shorter list of every edge, for the ledger; each element takes up to log2 of the longer list in probes."""
    mine = np.arange(rows.edges) - rows.offsets[rows.sources]
    return int(np.minimum(mine, rows.out_degrees[rows.targets]).sum())


def run(gpu: Gpu, graph: CsrGraph, options: TcOptions) -> Outcome:
    counting = Counting(gpu, graph, options)
    gpu.launch(intersect, counting.edges * WARP_SIZE, *counting.arguments, phase="intersect")
    return counting.outcome(elements_looked_up(counting.ordered.rows))
