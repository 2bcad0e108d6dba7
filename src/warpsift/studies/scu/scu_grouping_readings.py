"""Why grouping gains what it gains (SCU paper, Fig. 12): readings of the figure and of the table, one at a time.

    python -m warpsift.studies.scu.scu_grouping_readings --graphs kron@1/8,delaunay@1/8

SSSP on the unit of the TX1, functional layer only: what the figure shows are counts. Every run is made twice, with
filtering alone and with filtering and grouping, and all memory instructions of the GPU are kept apart by kernel and
array. Readings differ in which of them are counted and what a transaction is; variants differ in the grouping
table. docs/scu.md discusses the results.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numba import njit

from warpsift.algorithms.sssp import SSSP
from warpsift.algorithms.sssp.frontier import delta_of
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph, load_graph
from warpsift.graph.order import reorder
from warpsift.hardware import SECTORS_PER_LINE
from warpsift.run.execute import run_request
from warpsift.run.observer import Observer
from warpsift.run.request import make_request
from warpsift.simt.stream import ATOMIC, LINE_SHIFT, LOAD, STORE, Chunk, LaunchInfo, UnitOperation
from warpsift.units.scu.filtering import set_of
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_operation import OrderVector

KINDS = {LOAD: "load", STORE: "store", ATOMIC: "atomic"}
GATHERED = {"distance", "lookup", "offsets"}  # arrays that a node number addresses: what grouping is for
CONTRACTION = {"contract", "masks"}  # the kernels that the grouped edge frontier feeds
FILTER_ONLY = {"scu.grouping": "false"}  # the baseline of the figure
INSTRUCTIONS, LANES, TRANSACTIONS, LINES, SECTORS = range(5)
Counts = dict[tuple[str, str, str], np.ndarray]  # by kernel, kind and array


@njit(cache=True)
def _count(kind, lanes, transactions, array, first, tx, totals):
    """Add a chunk's memory instructions to totals[kind, array]."""
    for k in range(kind.size):
        if kind[k] < 1 or kind[k] > 3:
            continue
        row = totals[kind[k], array[k]]
        row[0] += 1
        row[1] += lanes[k]
        row[2] += transactions[k]
        for j in range(first[k], first[k] + transactions[k]):
            seen = False
            for other in range(first[k], j):  # atomics have one entry per sector
                seen = seen or (tx[other] >> LINE_SHIFT) == (tx[j] >> LINE_SHIFT)
            row[3] += 0 if seen else 1
            for s in range(SECTORS_PER_LINE):
                row[4] += (tx[j] >> s) & 1


class ByArray:
    """A sink that counts memory instructions by kernel, kind and array."""

    def __init__(self) -> None:
        self.counts: Counts = {}

    def begin(self, launch: LaunchInfo) -> None:
        self._launch = launch
        self._totals = np.zeros((4, len(launch.arrays), 5), np.int64)

    def chunk(self, chunk: Chunk) -> None:
        ops = chunk.ops
        columns = (ops["kind"], ops["lanes"], ops["transactions"], ops["array"], ops["first"])
        _count(*columns, chunk.transactions, self._totals)

    def end(self) -> None:
        for kind, name in KINDS.items():
            for index, array in enumerate(self._launch.arrays):
                if self._totals[kind, index, 0]:
                    key = (self._launch.kernel, name, array)
                    self.counts[key] = self.counts.get(key, 0) + self._totals[kind, index]

    def operation(self, operation: UnitOperation) -> None:
        """What the unit moves itself is none of the GPU's instructions."""


# ---- variants of the table ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Table:
    """A grouping table: its size is that of entries of `group` element numbers."""

    size_bytes: int = 144 * 1024  # table 2, TX1
    ways: int = 16
    block_nodes: int = 32  # nodes of 4 bytes in a 128-byte line
    group: int = 8
    where: tuple[str, ...] = ("expand_group", "near_group", "far_group")
    sorts: bool = False  # a perfect order instead: by block

    @property
    def sets(self) -> int:
        return max(1, self.size_bytes // (4 * self.group * self.ways))


@njit(cache=True)
def _places(ids, sets, ways, block_nodes, group, places):
    """Where each element goes: `units/grouping.py` without its bits and addresses."""
    block_of = np.full(sets * ways, -1, np.int64)
    count = np.zeros(sets * ways, np.int64)
    member = np.zeros((sets * ways, group), np.int64)
    pointer = np.zeros(sets, np.int64)
    following = 0
    for k in range(ids.size):
        block = ids[k] // block_nodes
        index = set_of(block, sets)
        base = index * ways
        way, free = -1, -1
        for candidate in range(ways):
            if block_of[base + candidate] == block:
                way = candidate
                break
            if free < 0 and block_of[base + candidate] < 0:
                free = candidate
        leaves = False
        if way >= 0:
            leaves = count[base + way] == group
        elif free >= 0:
            way = free
        else:
            way = pointer[index]
            pointer[index] = (way + 1) % ways
            leaves = True
        entry = base + way
        if leaves:
            for j in range(count[entry]):
                places[member[entry, j]] = following
                following += 1
            count[entry] = 0
        block_of[entry] = block
        member[entry, count[entry]] = k
        count[entry] += 1
    for index in range(sets):
        for step in range(ways):
            entry = index * ways + (pointer[index] + step) % ways
            for j in range(count[entry]):
                places[member[entry, j]] = following
                following += 1


@contextmanager
def grouping_by(table: Table | None) -> Iterator[None]:
    """Let the unit order by this table; None: by its own."""
    original = Scu._build_order
    if table is None:
        yield
        return

    def build(self, name, access, own, phase):
        chosen = _chosen(access)
        ids = access.data.host[chosen].astype(np.int64)
        places = self._scratch("scu.order", access.survivors, np.int32)
        target = places.host[: ids.size]
        if own.name not in table.where:
            target[:] = np.arange(ids.size)
        elif table.sorts:
            target[np.argsort(ids // table.block_nodes, kind="stable")] = np.arange(ids.size)
        else:
            _places(ids, table.sets, table.ways, table.block_nodes, table.group, target)
        self._latest[places.name] = vector = OrderVector(places, ids.size)
        return vector, ids.size

    Scu._build_order = build  # type: ignore[method-assign]
    try:
        yield
    finally:
        Scu._build_order = original  # type: ignore[method-assign]


def _bits(words: np.ndarray, count: int) -> np.ndarray:
    return np.unpackbits(words.view(np.uint8), count=count, bitorder="little").astype(bool)


def _chosen(access) -> np.ndarray:
    """Positions in the data of the elements that survive mask and filter, in order."""
    inputs = np.arange(access.inputs)
    if access.mask is not None:
        inputs = inputs[_bits(access.mask.host, access.inputs)]
    first = access.index.host[inputs].astype(np.int64) if access.index is not None else inputs
    if access.count is not None:
        counts = access.count.host[inputs].astype(np.int64)
        begins = np.cumsum(counts) - counts
        first = np.repeat(first - begins, counts) + np.arange(counts.sum())
    return first[_bits(access.filter.words.host, access.total)] if access.filter is not None else first


# ---- runs ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Variant:
    """One change of the grouping table, of the filters, of the algorithm or of the graph."""

    name: str
    table: Table | None = None  # None: the unit's own
    overrides: tuple[tuple[str, str], ...] = ()
    delta_times: float = 1.0
    order: str = ""  # of the nodes: "random" or "degree"
    scaled: bool = False  # the table shrinks with the graph


WHOLE, SMALL = 144 * 1024, 18 * 1024  # table 2, TX1; an eighth of it for graphs of an eighth
PERSISTENT = (("scu.other_life", "persistent"),)
VARIANTS = [
    Variant("as modelled"),
    Variant("table shrinks with the graph", Table(), scaled=True),
    Variant("same, direct mapped", Table(ways=1), scaled=True),
    Variant("same, half of it", Table(size_bytes=WHOLE // 2), scaled=True),
    Variant("same, a quarter", Table(size_bytes=WHOLE // 4), scaled=True),
    Variant("same, twice", Table(size_bytes=WHOLE * 2), scaled=True),
    Variant("groups share a 32-byte sector", Table(block_nodes=8), scaled=True),
    Variant("groups of 2", Table(group=2), scaled=True),
    Variant("groups of 4", Table(group=4), scaled=True),
    Variant("groups of 16", Table(group=16), scaled=True),
    Variant("groups of 32", Table(group=32), scaled=True),
    Variant("sorted by line (no table)", Table(sorts=True)),
    Variant("only the expansion is grouped", Table(where=("expand_group",)), scaled=True),
    Variant("only the near frontier", Table(where=("near_group",)), scaled=True),
    Variant("only the far pile", Table(where=("far_group",)), scaled=True),
    Variant("filters live as long as the run", Table(), PERSISTENT, scaled=True),
    Variant("delta eight times as large", Table(), delta_times=8, scaled=True),
    Variant("delta an eighth", Table(), delta_times=1 / 8, scaled=True),
    Variant("nodes numbered at random", Table(), order="random", scaled=True),
    Variant("nodes numbered by degree", Table(), order="degree", scaled=True),
]


@dataclass(frozen=True)
class Input:
    """A graph as a run takes it: weights, source, delta."""

    graph: CsrGraph
    options: SsspOptions

    @classmethod
    def of(cls, name: str, variant: Variant, seed: int) -> Input:
        graph, options = SSSP.prepare(load_graph(name), SsspOptions(seed=seed))
        if variant.order:
            source, graph = options.source, reorder(graph, variant.order)
            assert graph.original_ids is not None
            options = replace(options, source=int(np.flatnonzero(graph.original_ids == source)[0]))
        return cls(graph, replace(options, delta=variant.delta_times * delta_of(graph, options)))


def count_run(chosen: Input, overrides: dict[str, str], table: Table | None = None) -> Counts:
    sink = ByArray()
    options = {name: getattr(chosen.options, name) for name in ("source", "delta", "seed")}
    asked = {"gpu": "tx1", "unit": "scu", "overrides": overrides, "timed": False, "check": False, **options}
    with grouping_by(table):
        run_request(make_request("sssp", chosen.graph.name, asked), chosen.graph, Observer(also=sink))
    return sink.counts


# ---- readings -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Reading:
    """Which memory instructions count, and what a transaction is."""

    name: str
    column: int
    counts: Callable[[str, str, str], bool]  # kernel, kind, array

    def per_instruction(self, counts: Counts) -> float:
        chosen = sum(row for key, row in counts.items() if self.counts(*key))
        return float(chosen[self.column] / chosen[INSTRUCTIONS])  # type: ignore[index]


READINGS = [
    Reading("all, as printed", TRANSACTIONS, lambda kernel, kind, array: True),
    Reading("all, 32-byte sectors", SECTORS, lambda kernel, kind, array: True),
    Reading("loads, lines", LINES, lambda kernel, kind, array: kind == "load"),
    Reading("loads, sectors", SECTORS, lambda kernel, kind, array: kind == "load"),
    Reading("contraction, lines", LINES, lambda kernel, kind, array: kernel in CONTRACTION),
    Reading("contraction, sectors", SECTORS, lambda kernel, kind, array: kernel in CONTRACTION),
    Reading("gathered arrays, lines", LINES, lambda kernel, kind, array: array in GATHERED),
    Reading("gathered arrays, sectors", SECTORS, lambda kernel, kind, array: array in GATHERED),
]


def measure(graph: str, variant: Variant, seed: int) -> list[tuple[float, float]]:
    """(filtering alone, with grouping) under each reading."""
    chosen = Input.of(graph, variant, seed)
    overrides, table = dict(variant.overrides), variant.table
    if table is not None and variant.scaled:
        table = replace(table, size_bytes=int(table.size_bytes * share_of(graph)))
    alone = count_run(chosen, overrides | FILTER_ONLY)
    both = count_run(chosen, overrides, table)
    return [(r.per_instruction(alone), r.per_instruction(both)) for r in READINGS]


def share_of(graph: str) -> Fraction:
    """kron@1/8 -> 1/8."""
    return Fraction(graph.split("@")[1]) if "@" in graph else Fraction(1)


def ladder(graphs: list[str], variants: list[Variant], seed: int) -> None:
    """For each variant the gain per graph and its mean, under two readings."""
    shown = (0, 1)
    for reading in shown:
        print(f"\n{READINGS[reading].name}\n")
        print("| variant | " + " | ".join(graphs) + " | mean |")
        print("|---" * (len(graphs) + 2) + "|", flush=True)
    lines: dict[int, list[str]] = {reading: [] for reading in shown}
    for variant in variants:
        found = [measure(graph, variant, seed) for graph in graphs]
        for reading in shown:
            gains = [alone / both - 1 for alone, both in (row[reading] for row in found)]
            cells = " | ".join(f"{gain:+.0%}" for gain in [*gains, sum(gains) / len(gains)])
            lines[reading].append(f"| {variant.name} | {cells} |")
            print(f"{READINGS[reading].name}: {lines[reading][-1]}", flush=True)


def readings(graphs: list[str], seed: int) -> None:
    """As modelled: every reading, graph by graph."""
    found = [measure(graph, VARIANTS[0], seed) for graph in graphs]
    print("| counted | " + " | ".join(graphs) + " | mean gain | mean decline |")
    print("|---" * (len(graphs) + 3) + "|")
    for index, reading in enumerate(READINGS):
        pairs = [row[index] for row in found]
        cells = " | ".join(f"{alone:.2f} to {both:.2f} ({alone / both - 1:+.0%})" for alone, both in pairs)
        gain = sum(alone / both - 1 for alone, both in pairs) / len(pairs)
        decline = sum(1 - both / alone for alone, both in pairs) / len(pairs)
        print(f"| {reading.name} | {cells} | {gain:+.0%} | {decline:.0%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="cond,delaunay@1/8,ca@1/8,kron@1/8,human@1/8,msdoor@1/8")
    parser.add_argument("--variants", default="", help="names separated by ';' (default: all)")
    parser.add_argument("--readings", action="store_true", help="all readings of the unit as modelled, no variants")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    graphs = chosen.graphs.split(",")
    if chosen.readings:
        readings(graphs, chosen.seed)
        return
    names = chosen.variants.split(";") if chosen.variants else [v.name for v in VARIANTS]
    ladder(graphs, [v for v in VARIANTS if v.name in names], chosen.seed)


if __name__ == "__main__":
    main()
