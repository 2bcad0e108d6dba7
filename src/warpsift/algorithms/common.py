"""What the four algorithms share: options, the graph on the device, growing queues, and the shape of a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from warpsift.errors import WarpsiftError
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu

if TYPE_CHECKING:
    import scipy.sparse

THREADS_PER_CTA = 256
INFINITY = 1 << 30  # a distance or level that no path reaches; leaves room to add a weight


class OptionError(WarpsiftError):
    """An algorithm's option that the graph or the algorithm cannot take."""


@dataclass(frozen=True)
class Options:
    """Everything a user may choose about an algorithm; each algorithm reads what concerns it."""

    source: int | None = None  # BFS, SSSP: None is a seeded node of the largest component
    seed: int = 1
    max_iterations: int | None = None
    random_weights: bool = False  # SSSP: seeded weights 1 to 64 although the graph has its own
    # BFS, frontier style (Merrill et al.)
    warp_culling: bool = True
    history_culling: bool = True
    split_kernels: bool = False  # flags and compaction in separate launches, to show compaction's share of the time
    # SSSP, frontier style (Davidson et al.)
    delta: float | None = None  # None: 32 * mean weight / mean degree
    # PageRank
    damping: float = 0.15  # the paper's alpha: rank = alpha + (1 - alpha) * sum
    epsilon: float = 1e-6  # of the mean rank
    normalize: bool = False  # ranks that sum to 1: (1 - d) / N + d * sum
    dangling: bool = False  # give the rank of nodes without out-edges to all nodes
    # vertex style (Harish & Narayanan, with Hong's bit vector)
    active: str = "compact"  # "compact": threads for active vertices only; "all": a thread for every vertex
    bit_setting: str = "atomic"  # how a vertex is activated: "atomic" (atomicOr on words) or "byte" (plain stores)
    occupancy: str = "full"  # "full", or "target": leave only the warps that fast-forward targets leave room for
    target_words: int = 32  # words per thread of a fast-forward target: 32 is the MFF paper's 4 KB per warp
    checked_activation: bool = False  # BFS: activate only neighbours that are not visited (no scatter can do that)

    def __post_init__(self) -> None:
        for name, lowest in (("seed", 0), ("max_iterations", 0), ("target_words", 1)):
            value = getattr(self, name)
            if value is not None and value < lowest:
                raise OptionError(f"{name} {value}: expected an integer from {lowest} up")
        if self.delta is not None and not 0 < self.delta < math.inf:
            raise OptionError(f"delta {self.delta}: expected a finite number above 0")
        if not 0 <= self.epsilon < math.inf:
            raise OptionError(f"epsilon {self.epsilon}: expected a finite number from 0 up")


@dataclass
class Work:
    """The work ledger: what was done, against what the graph needed."""

    edges: int = 0  # of the graph
    edges_touched: int = 0
    nodes_processed: int = 0
    duplicates: int = 0  # nodes or edges processed although an equal one had been
    relaxations: int = 0  # successful lowerings of a distance or label

    @property
    def edges_touched_per_edge(self) -> float:
        return self.edges_touched / self.edges if self.edges else 0.0

    @property
    def relaxations_per_edge(self) -> float:
        return self.relaxations / self.edges if self.edges else 0.0

    def as_dict(self) -> dict[str, float]:
        return {
            "edges_touched": self.edges_touched,
            "edges_touched_per_edge": round(self.edges_touched_per_edge, 4),
            "nodes_processed": self.nodes_processed,
            "duplicates": self.duplicates,
            "relaxations": self.relaxations,
            "relaxations_per_edge": round(self.relaxations_per_edge, 4),
        }


@dataclass
class Outcome:
    """The answer of a run, one value per node, and how it came about."""

    values: np.ndarray
    iterations: int
    work: Work
    notes: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """What the independent check found."""

    passed: bool
    reason: str  # which oracle, or what differs and where


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: how to run it in each style, and how to check an answer without our own code."""

    name: str
    title: str
    styles: Mapping[str, Callable[[Gpu, CsrGraph, Options], Outcome]]
    check: Callable[[CsrGraph, Outcome, Options], Verdict]
    prepare: Callable[[CsrGraph, Options], tuple[CsrGraph, Options]]  # choose a source, make weights, reject


class DeviceGraph:
    """A graph in device memory; the in-edge arrays are uploaded when first used."""

    def __init__(self, gpu: Gpu, graph: CsrGraph) -> None:
        self._gpu = gpu
        self.graph = graph
        self.nodes = graph.nodes
        self.edges = graph.edges
        self.offsets = gpu.memory.array("offsets", graph.offsets, np.int32)
        self.targets = gpu.memory.array("targets", graph.targets)

    @cached_property
    def weights(self) -> DeviceArray:
        assert self.graph.weights is not None
        return self._gpu.memory.array("weights", self.graph.weights)

    @cached_property
    def in_offsets(self) -> DeviceArray:
        return self._gpu.memory.array("in_offsets", self.graph.in_edges.offsets, np.int32)

    @cached_property
    def in_sources(self) -> DeviceArray:
        return self._gpu.memory.array("in_sources", self.graph.in_edges.targets)

    @cached_property
    def in_weights(self) -> DeviceArray:
        weights = self.graph.in_edges.weights
        assert weights is not None
        return self._gpu.memory.array("in_weights", weights)


class Queue:
    """A frontier: arrays side by side with one device counter, regrown by the host before they could overflow."""

    def __init__(self, gpu: Gpu, name: str, capacity: int, **columns: DTypeLike) -> None:
        self._gpu = gpu
        self._name = name
        self._columns = columns
        self._capacity = 0
        self.counter = gpu.memory.empty(f"{name}.count", 1, np.int32)
        self.reserve(max(capacity, 1))

    def reserve(self, capacity: int) -> None:
        """Room for so many elements; what the queue held is kept."""
        if capacity <= self._capacity:
            return
        size = max(capacity, self._capacity * 3 // 2, 1)
        for column, dtype in self._columns.items():
            old = getattr(self, column, None)
            new = self._gpu.memory.empty(f"{self._name}.{column}", size, dtype)
            if old is not None:
                new.host[: len(self)] = old.host[: len(self)]
            setattr(self, column, new)
        self._capacity = size

    def __len__(self) -> int:
        return int(self.counter.host[0])

    def __getattr__(self, column: str) -> DeviceArray:
        raise AttributeError(f"queue has no column {column!r}")

    def clear(self) -> None:
        """The host resets the counter, as a cudaMemset between launches does."""
        self.counter.host[0] = 0

    def fill(self, **values: np.ndarray) -> None:
        """Put elements in from the host."""
        for column, data in values.items():
            self.reserve(len(data))
            getattr(self, column).host[: len(data)] = data
            self.counter.host[0] = len(data)


def seeded_source(graph: CsrGraph, seed: int) -> int:
    """A node of the largest weakly connected component that has an out-edge, chosen by seed."""
    from scipy.sparse.csgraph import connected_components

    if graph.nodes == 0:
        raise OptionError("the graph has no nodes, so there is no source to start from")
    _, label = connected_components(graph.to_scipy(), directed=True, connection="weak")
    candidates = np.flatnonzero((label == np.bincount(label).argmax()) & (graph.out_degrees > 0))
    if candidates.size == 0:
        return 0
    return int(np.random.default_rng(seed).choice(candidates))


def with_source(graph: CsrGraph, options: Options) -> int:
    """The source the user named, or a seeded one."""
    if options.source is None:
        return seeded_source(graph, options.seed)
    if not 0 <= options.source < graph.nodes:
        raise OptionError(f"source {options.source} is not a node: the graph has nodes 0 to {graph.nodes - 1}")
    return options.source


def cheapest_arcs(graph: CsrGraph) -> scipy.sparse.csr_array:
    """The weights as a SciPy matrix with the cheapest of parallel arcs.

    SciPy's Dijkstra gives wrong distances when a row lists a column twice (seen with 1.17.1, on uniform random arcs).
    """
    import scipy.sparse

    assert graph.weights is not None
    order = np.lexsort((graph.weights, graph.targets, graph.sources))
    source, target = graph.sources[order], graph.targets[order]
    first = np.ones(order.size, bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    shape = (graph.nodes, graph.nodes)
    entries = (graph.weights[order][first], (source[first], target[first]))
    return scipy.sparse.coo_array(entries, shape=shape).tocsr()


def compare(ours: np.ndarray, theirs: np.ndarray, oracle: str) -> Verdict:
    """Equal, or the first node at which they differ."""
    wrong = np.flatnonzero(ours != theirs)
    if wrong.size == 0:
        return Verdict(True, f"equal to {oracle}")
    node = int(wrong[0])
    return Verdict(False, f"node {node}: {ours[node]}, {oracle} says {theirs[node]} ({wrong.size} nodes differ)")
