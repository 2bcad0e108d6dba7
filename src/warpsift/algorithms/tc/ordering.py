"""The graph as triangle counting reads it: each edge once, from the later node to the earlier.

A triangle u > v > w then appears once, as a common neighbour w of u and v in the rows of the arc u -> v. If hubs come
first, rows are short (at most the square root of twice the edges), since a hub keeps only its edges to other hubs.
This is done on the host and not timed, as reading a graph is; GAP's tc.cc times it, GPU codes mostly do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.tc.tc_options import TcOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu, Threads, kernel

LEAST_MEAN_DEGREE = 10  # GAP's tc.cc, WorthRelabelling: edges per node, and
SKEW = 1.3  # the mean degree over the median, of nodes that have edges (GAP samples 1000, we take all)


def undirected(graph: CsrGraph) -> CsrGraph:
    """Each edge as two arcs, once; no self-loops, no weights."""
    return graph.with_weights(None).symmetrised().simplified()


def is_skewed(degrees: np.ndarray) -> bool:
    """GAP's rule whether relabelling pays."""
    edges = int(degrees.sum()) // 2
    if edges < LEAST_MEAN_DEGREE * degrees.size or edges == 0:
        return False
    some = degrees[degrees > 0]
    return bool(some.mean() / SKEW > np.median(some))


@dataclass(frozen=True)
class OrderedGraph:
    """Rows of earlier neighbours, and where each node of the original stands in the order."""

    rows: CsrGraph
    place: np.ndarray
    relabelled: bool

    @classmethod
    def of(cls, graph: CsrGraph, relabel: str) -> OrderedGraph:
        both = undirected(graph)
        degrees = both.out_degrees
        relabelled = relabel == "always" or (relabel == "auto" and is_skewed(degrees))
        place = np.arange(both.nodes)
        if relabelled:
            place[np.argsort(-degrees, kind="stable")] = np.arange(both.nodes)
        sources, targets = place[both.sources], place[both.targets]
        downwards = sources > targets
        rows = CsrGraph.from_edges(sources[downwards], targets[downwards], nodes=both.nodes, name=graph.name)
        return cls(rows, place, relabelled)


@kernel(guard=False)
def reduce(t, found, count, total):
    """Sum what the intersections found, with one atomic per CTA."""
    mine = t.var(0)
    with t.where(t.id < count):
        mine.set(t.load(found, t.id))
    _, of_cta = t.cta_scan(mine)
    with t.where(t.in_cta == 0):
        t.atomic_add(total, 0, of_cta.astype(np.int64), used=False)


class Counting:
    """The arrays of a run, and its answer."""

    def __init__(self, gpu: Gpu, graph: CsrGraph, options: TcOptions) -> None:
        self._gpu = gpu
        self._graph = graph
        self.ordered = OrderedGraph.of(graph, options.relabel)
        rows = self.ordered.rows
        self.edges = rows.edges
        self.sources = gpu.memory.array("sources", rows.sources)
        self.targets = gpu.memory.array("targets", rows.targets)
        self.offsets = gpu.memory.array("offsets", rows.offsets, np.int32)
        self.found = gpu.memory.empty("found", rows.edges)  # triangles per edge
        self.per_node: DeviceArray | None = None
        if options.per_node:
            self.per_node = gpu.memory.empty("per_node", rows.nodes)
        self._total = gpu.memory.empty("total", 1, np.int64)

    @property
    def arguments(self) -> tuple[DeviceArray | None, ...]:
        """What both intersection kernels take."""
        return self.sources, self.targets, self.offsets, self.found, self.per_node

    def outcome(self, elements_read: int) -> Outcome:
        """Sum up; the ledger holds what the intersections read of the rows."""
        self._gpu.launch(reduce, self.edges, self.found, self.edges, self._total, phase="reduce")
        work = Work(edges=self._graph.edges, edges_touched=elements_read, nodes_processed=self._graph.nodes)
        triangles = int(self._total.host[0])
        values = np.array([triangles], np.int64)
        if self.per_node is not None:
            values = self.per_node.host[self.ordered.place].astype(np.int64)
        notes: dict[str, object] = {"triangles": triangles, "relabelled_by_degree": self.ordered.relabelled}
        if not self._graph.is_symmetric:
            notes["directions"] = "ignored: every arc counts as an undirected edge"
        return Outcome(values, 1, work, notes)


def add_to_ends(t: Threads, per_node: DeviceArray, source, target, count) -> None:
    """Give the triangles of an edge to its two ends; the third corner got each when it was found."""
    with t.where(count > 0):
        t.atomic_add(per_node, source, count, used=False)
        t.atomic_add(per_node, target, count, used=False)
