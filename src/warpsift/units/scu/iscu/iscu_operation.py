"""One operation of the SCU whose elements pass the parts at the L2 slices: its function and its trace.

Elements go out as nodes, with a value if the operation has any; what the parts hand back is stored in one or two
columns. So an expansion that filters, merges, groups and stores is one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from warpsift.hardware import LINE_BYTES
from warpsift.simt import DeviceArray
from warpsift.units.scu import scu_trace, scu_walk
from warpsift.units.scu.iscu.iscu_hash import Handed, PartsHash
from warpsift.units.scu.iscu.iscu_spec import WORD_BYTES
from warpsift.units.scu.scu_operation import ScuOperation
from warpsift.units.scu.scu_trace import BY_LANDED, PROBE, WRITE, ScuChunk, ScuSetup

_NO_POSITIONS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class IscuChunk(ScuChunk):
    """Some elements of an operation, with what the parts do to them."""

    passed: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # traced, one word per element
    flushed: Handed | None = None  # in the last chunk


@dataclass(frozen=True, kw_only=True)
class IscuSetup(ScuSetup):
    """What unit and parts are configured with; `probe_bytes` are an element's."""

    filters: bool


@dataclass(kw_only=True)
class IscuOperation(ScuOperation):
    """See the module. `target.out` takes the nodes, `values_out` their values."""

    parts_hash: PartsHash
    merge: str
    filters: bool = False
    values_out: DeviceArray | None = None

    @property
    def columns(self) -> list[DeviceArray]:
        return [self.target.out, *([self.values_out] if self.values_out is not None else [])]

    def _setup(self, clear: tuple[int, int] = (0, 0)) -> ScuSetup:
        element_bytes = WORD_BYTES * len(self.columns)
        return IscuSetup(tuple(self.vectors), BY_LANDED, False, 0, *clear, element_bytes, filters=self.filters)

    def chunks(self) -> Iterator[ScuChunk]:
        setup: ScuSetup | None = self._setup()
        dtype = np.dtype(np.int32) if self.values_out is None else self.values_out.dtype
        self.parts_hash.begin(self.merge, dtype)
        self._cursor[:] = 0
        self._cursor[scu_walk.WORD] = -1
        self.kept, final = 0, False
        while not final:
            piece = self._walk()
            final = int(self._cursor[scu_walk.INPUT]) >= self.access.inputs
            runs = self._runs(piece, _NO_POSITIONS, final)
            ids = self._elements(piece[0]).astype(np.int64)
            handed = self.parts_hash.take(ids, self._values(piece, dtype), self.filters)
            flushed = self.parts_hash.flush() if final else None
            before = self.kept
            for found in (handed, flushed):
                if found is not None:
                    self._store(found)
            writes = self._writes(before, final)
            probes, kept = np.zeros(0, PROBE), self.kept - before
            yield IscuChunk(runs, writes, probes, len(ids), kept, 0, setup, handed.trace, flushed)
            setup = None

    def _values(self, piece: tuple[np.ndarray, ...], dtype: np.dtype) -> np.ndarray:
        """The value of each element: its own, its input's, or the sum."""
        source, which_input = piece[:2]
        values = np.zeros(len(source), dtype)
        if self.target.cost is not None:
            values += self.target.cost.host[source]
        if self.target.cost_base is not None:
            values += self.target.cost_base.host[which_input]
        return values

    def _store(self, handed: Handed) -> None:
        n = len(handed.nodes)
        for column, found in zip(self.columns, (handed.nodes, handed.values), strict=False):
            column.host[self.kept : self.kept + n] = found
        self.kept += n

    def _writes(self, before: int, final: bool) -> np.ndarray:
        """Lines of all columns that the Data Store sends, by the number of elements that it then has."""
        made = []
        for column in self.columns:
            writes = np.zeros((self.kept - before) * column.itemsize // LINE_BYTES + 3, WRITE)
            bits = 8 * column.itemsize
            n = scu_trace.writes_in_order(writes, column.address, bits, (before, self.kept), final)
            made.append(writes[:n])
        every = np.concatenate(made)
        return every[np.argsort(every["after"], kind="stable")]
