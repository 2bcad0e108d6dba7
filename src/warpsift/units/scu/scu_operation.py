"""One operation of the SCU: its function on device memory and its trace, chunk by chunk.

`ScuOperation.chunks` does the work. What it writes does not depend on who consumes the trace, or on whether it is
timed: function and timing are one run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from warpsift.hardware import LINE_BYTES
from warpsift.simt import DeviceArray
from warpsift.simt.stream import UnitInfo
from warpsift.units.scu import scu_trace, scu_walk
from warpsift.units.scu.filtering import DROPPED, WORD_BYTES, FilterTable
from warpsift.units.scu.grouping import ASSIGNED, EVICTIONS, FLUSHED_SETS, SLOTS_PER_ENTRY, GroupTable
from warpsift.units.scu.scu_buffers import Resources
from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.scu.scu_trace import (
    BY_EVICTED,
    BY_FETCHED,
    BY_PROBED,
    PROBE,
    RUN,
    WRITE,
    ScuChunk,
    ScuSetup,
    Vector,
)

CHUNK_ELEMENTS = 1 << 15  # bounds the memory of a trace; nothing observable depends on it

# What the request buffer holds of a probe beside its set: ID and element number; with costs, cost and set number too.
PROBE_BYTES = 2 * WORD_BYTES
PROBE_WITH_COST_BYTES = 4 * WORD_BYTES

MOST_PER_SET = 16 * SLOTS_PER_ENTRY  # elements of a set of a group table

_NO_WORDS = np.zeros(1, np.uint32)
_NO_NUMBERS = np.zeros(1, np.int32)
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class FilterVector:
    """Step 1 of filtering: a bit per element, 1 where it is kept."""

    words: DeviceArray
    elements: int
    kept: int


@dataclass(frozen=True)
class OrderVector:
    """Step 1 of grouping: the place of every surviving element."""

    places: DeviceArray
    elements: int


POSITION_BYTES = 4  # elements of an operation on positions: node numbers


@dataclass
class Access:
    """Which elements an operation takes: the data and the vectors that choose from it."""

    data: DeviceArray | None  # None: the positions themselves are the elements, and nothing is fetched
    inputs: int
    mask: DeviceArray | None = None
    index: DeviceArray | None = None
    count: DeviceArray | None = None
    repeats: bool = False
    filter: FilterVector | None = None
    order: OrderVector | None = None
    total: int = 0  # elements before filtering

    @property
    def fetched(self) -> DeviceArray:
        """The data of an operation that fetches any."""
        assert self.data is not None, "only position_compaction has no data, and it neither filters nor compares"
        return self.data

    @property
    def survivors(self) -> int:
        return self.filter.kept if self.filter is not None else self.total

    def flags(self, skips: bool) -> int:
        w = scu_walk
        return (
            (w.HAS_MASK if self.mask is not None else 0)
            | (w.HAS_INDEX if self.index is not None else 0)
            | (w.HAS_COUNT if self.count is not None else 0)
            | (w.REPEATS if self.repeats else 0)
            | (w.HAS_FILTER if self.filter is not None else 0)
            | (w.SKIPS if skips else 0)
        )

    def vectors(self) -> list[Vector]:
        found = []
        if self.mask is not None:
            found.append(Vector(self.mask.address, 1, scu_trace.BY_INPUT, self.inputs))
        for column in (self.index, self.count):
            if column is not None:
                found.append(Vector(column.address, 32, scu_trace.BY_INPUT, self.inputs))
        if self.filter is not None:
            found.append(Vector(self.filter.words.address, 1, scu_trace.BY_OUTPUT, self.filter.elements))
        if self.order is not None:
            found.append(Vector(self.order.places.address, 32, scu_trace.BY_SURVIVOR, self.order.elements))
        return found


@dataclass
class Target:
    """What becomes of the elements: stored, added to what is there, compared, filtered or grouped."""

    out: DeviceArray
    first: int = 0  # element (bit, for masks) of `out` at which it begins
    add: bool = False
    compare: np.ufunc | None = None
    reference: float = 0
    filter: FilterTable | None = None
    group: GroupTable | None = None
    cost: DeviceArray | None = None  # beside the data, addressed as it is
    cost_base: DeviceArray | None = None  # one per input


@dataclass
class ScuOperation:
    """See the module."""

    info: UnitInfo
    spec: ScuSpec
    access: Access
    target: Target
    kept: int = 0
    _cursor: np.ndarray = field(default_factory=lambda: np.zeros(scu_walk.CURSOR_FIELDS, np.int64))

    @property
    def writes_follow(self) -> int:
        if self.target.group is not None:
            return BY_EVICTED
        return BY_PROBED if self.target.filter is not None else BY_FETCHED

    @property
    def table(self) -> FilterTable | GroupTable | None:
        return self.target.group or self.target.filter

    def _setup(self, clear: tuple[int, int]) -> ScuSetup:
        table = self.table
        entry_bytes = sent_bytes = 0
        if table is not None:
            costs = isinstance(table, FilterTable) and table.cost_dtype is not None
            entry_bytes = table.set_bytes + (PROBE_WITH_COST_BYTES if costs else PROBE_BYTES)
            sent_bytes = PROBE_BYTES + (WORD_BYTES if costs or isinstance(table, GroupTable) else 0)
        compares = self.target.compare is not None
        return ScuSetup(tuple(self.vectors), self.writes_follow, compares, entry_bytes, *clear, sent_bytes)

    @property
    def vectors(self) -> list[Vector]:
        found = self.access.vectors()
        base = self.target.cost_base
        if base is not None:
            found.append(Vector(base.address, 8 * base.itemsize, scu_trace.BY_INPUT, self.access.inputs))
        return found

    # ------------------------------------------------------------------ the work
    def chunks(self) -> Iterator[ScuChunk]:
        setup: ScuSetup | None = self._setup(self._begin())
        self._cursor[:] = 0
        self._cursor[scu_walk.WORD] = -1
        done = 0
        while True:
            piece = self._walk()
            n = len(piece[0])
            final = int(self._cursor[scu_walk.INPUT]) >= self.access.inputs
            positions = self._positions(done, n)
            runs = self._runs(piece, positions, final)
            kept, writes, probes, evictions = self._act(piece, positions, done, final)
            self.kept += kept
            done += n
            yield ScuChunk(runs, writes, probes, n, kept, evictions, setup)
            setup = None
            if final:
                break
        if self.target.group is not None:
            yield from self._flush()

    def _begin(self) -> tuple[int, int]:
        """Make the tables ready; gives address and size of what the unit must clear."""
        self.kept = 0
        spec, target = self.spec, self.target
        if target.group is not None:
            self._group_state = np.zeros(5, np.int64)
            room = min(CHUNK_ELEMENTS * SLOTS_PER_ENTRY, self.access.survivors) + 2 * MOST_PER_SET
            self._assigned = tuple(np.empty(room, np.int64) for _ in range(3))
        self._open = scu_trace.no_open_lines(Resources.of(spec).open_lines)
        table = self.table
        if table is None:
            return 0, 0
        array = target.group.tags if target.group is not None else target.filter.array  # type: ignore[union-attr]
        return array.address, table.begin(self.access.survivors)

    def _walk(self) -> tuple[np.ndarray, ...]:
        a = self.access
        size = max(1, min(CHUNK_ELEMENTS, a.survivors))
        piece = tuple(np.empty(size, np.int64) for _ in range(4))
        n = scu_walk.walk(
            self._cursor,
            a.inputs,
            self.spec.width,
            a.flags(self.spec.skip_dropped),
            a.mask.host if a.mask is not None else _NO_WORDS,
            a.index.host if a.index is not None else _NO_NUMBERS,
            a.count.host if a.count is not None else _NO_NUMBERS,
            a.filter.words.host if a.filter is not None else _NO_WORDS,
            piece,
        )
        return tuple(column[:n] for column in piece)

    def _positions(self, done: int, n: int) -> np.ndarray:
        """Where in `out` elements done .. done + n go; empty when in order and nobody asks."""
        if self.access.order is not None and self.target.group is None:
            return self.access.order.places.host[done : done + n].astype(np.int64) + self.target.first
        if self.target.add:
            return np.arange(self.target.first + done, self.target.first + done + n)
        return _NONE

    def _runs(self, piece: tuple[np.ndarray, ...], positions: np.ndarray, final: bool) -> np.ndarray:
        data = self.access.data
        streams = [(data.address, data.itemsize, 0) if data is not None else (0, POSITION_BYTES, 0)]
        if self.target.cost is not None:
            streams.insert(0, (self.target.cost.address, self.target.cost.itemsize, 0))
        if self.target.add:
            streams.insert(0, (self.target.out.address, self.target.out.itemsize, 1))
        n = len(piece[0])
        runs = np.zeros(n * len(streams) + 1, RUN)
        base, size, stride = (np.array(column, np.int64) for column in zip(*streams, strict=True))
        beside = self.spec.second_operand == "beside"
        assert not beside or len(streams) <= 2, "an element has one second operand"
        made = scu_trace.make_runs(runs, (*piece, positions), n, base, size, stride, beside)
        if data is None:
            runs["sectors"] = 0
        if final and self._cursor[scu_walk.SLOTS]:  # dropped inputs behind the last element took time too
            runs[made]["slots"] = self._cursor[scu_walk.SLOTS]
            runs[made]["input"] = self.access.inputs - 1
            runs[made]["output"] = self.access.total - 1
            made += 1
        return runs[:made]

    def _act(
        self, piece: tuple[np.ndarray, ...], positions: np.ndarray, done: int, final: bool
    ) -> tuple[int, np.ndarray, np.ndarray, int]:
        """Do to the elements what the operation does; gives (kept, writes, probes, eviction reads)."""
        target, source = self.target, piece[0]
        n = len(source)
        if target.group is not None:
            return self._group(source)
        if target.filter is not None:
            probes = np.zeros(n, PROBE)
            ids = self._elements(source).astype(np.int64)
            outcome = target.filter.probe(ids, self._costs(piece), probes)
            scu_walk.set_bits(target.out.host, done, outcome, n)
            return int((outcome != DROPPED).sum()), self._in_order(1, done, n, final), probes, 0
        no_probes = np.zeros(0, PROBE)
        if target.compare is not None:
            flags = target.compare(self._elements(source), target.reference)
            scu_walk.set_bits(target.out.host, target.first + done, flags, n)
            return n, self._in_order(1, done, n, final), no_probes, 0
        out = target.out.host
        if self.access.data is None:
            out[target.first + done : target.first + done + n] = source
            return n, self._in_order(8 * target.out.itemsize, done, n, final), no_probes, 0
        data = self.access.data.host
        if target.add:
            scu_walk.accumulate(out, data, target.first + done, positions, source, n)
        elif positions.size:
            scu_walk.move(out, data, positions, source, n)
        else:
            scu_walk.move_in_order(out, data, target.first + done, source, n)
        if self.access.order is None:
            return n, self._in_order(8 * target.out.itemsize, done, n, final), no_probes, 0
        after = np.arange(done + 1, done + n + 1)
        return n, self._scattered(target.out, positions, after, final, done + n), no_probes, 0

    def _elements(self, source: np.ndarray) -> np.ndarray:
        return self.access.fetched.host[source]

    def _costs(self, piece: tuple[np.ndarray, ...]) -> np.ndarray | None:
        """The cost of each element: its own, its input's, or the sum."""
        target, (source, which_input, _, _) = self.target, piece
        if target.filter is None or target.filter.cost_dtype is None:
            return None
        costs = np.zeros(len(source), target.filter.cost_dtype)
        if target.cost is not None:
            costs += target.cost.host[source]
        if target.cost_base is not None:
            costs += target.cost_base.host[which_input]
        return costs

    # ------------------------------------------------------------------ Data Store
    def _in_order(self, bits: int, done: int, n: int, final: bool) -> np.ndarray:
        target = self.target
        address = target.out.address + (target.first * bits) // 8
        writes = np.zeros(n * bits // (8 * LINE_BYTES) + 3, WRITE)
        made = scu_trace.writes_in_order(writes, address, bits, (done, done + n), final)
        return writes[:made]

    def _scattered(
        self, out: DeviceArray, positions: np.ndarray, after: np.ndarray, final: bool, last: int
    ) -> np.ndarray:
        writes = np.zeros(2 * len(positions) + len(self._open), WRITE)  # at the end every open line goes too
        made = scu_trace.writes_scattered(
            writes, self._open, out.address, out.itemsize, positions, after, len(positions)
        )
        if final:
            made += scu_trace.writes_left(writes[made:], self._open, last)
        return writes[:made]

    # ------------------------------------------------------------------ grouping
    def _group(self, source: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, int]:
        table = self.target.group
        assert table is not None
        n = len(source)
        probes = np.zeros(n, PROBE)
        ids = self._elements(source).astype(np.int64)
        before = int(self._group_state[EVICTIONS])
        self._group_state[ASSIGNED] = 0
        table.probe(ids, self._group_state, self._assigned, probes)
        return n, self._assign(final=False), probes, int(self._group_state[EVICTIONS]) - before

    def _assign(self, final: bool) -> np.ndarray:
        """Write the places that evictions gave out; gives the lines that this sends."""
        n = int(self._group_state[ASSIGNED])
        elements, places, evictions = (column[:n] for column in self._assigned)
        out = self.target.out
        out.host[elements] = places
        return self._scattered(out, elements.copy(), evictions.copy(), final, int(self._group_state[EVICTIONS]))

    def _flush(self) -> Iterator[ScuChunk]:
        """Evict what the table holds at the end; these probes pass the pipeline without fetching data."""
        table = self.target.group
        assert table is not None
        while self._group_state[FLUSHED_SETS] < table.sets:
            probes = np.zeros(min(CHUNK_ELEMENTS, table.sets * table.ways) + MOST_PER_SET, PROBE)
            before = int(self._group_state[EVICTIONS])
            self._group_state[ASSIGNED] = 0
            made = table.flush(self._group_state, self._assigned, probes)
            final = bool(self._group_state[FLUSHED_SETS] >= table.sets)
            writes = self._assign(final)
            runs = np.zeros(-(-made // scu_trace.MOST_ELEMENTS_PER_RUN), RUN)
            runs["elements"] = runs["outputs"] = scu_trace.MOST_ELEMENTS_PER_RUN
            runs["input"], runs["output"] = self.access.inputs - 1, self.access.total - 1
            if made:
                runs["elements"][-1] = runs["outputs"][-1] = made - scu_trace.MOST_ELEMENTS_PER_RUN * (len(runs) - 1)
            yield ScuChunk(runs, writes, probes[:made], 0, 0, int(self._group_state[EVICTIONS]) - before)
