"""The Stream Compaction Unit as a programmer sees it (SCU paper, section 3.1 and 4.1).

    scu = Scu(gpu)
    edges, n = scu.access_expansion_compaction(targets, index, count, nodes, out=edge_frontier)

Filtering and grouping take two steps. Given a table, an operation stores nothing but a vector; given that vector, it
stores what the vector says:

    keep, _ = scu.access_expansion_compaction(targets, index, count, nodes, filter=table)
    order, _ = scu.access_expansion_compaction(targets, index, count, nodes, filter=keep, group=group_table)
    edges, n = scu.access_expansion_compaction(targets, index, count, nodes, filter=keep, group=order, out=...)

Masks are bits in 32-bit words, bit i & 31 of word i >> 5. An operation runs alone: the GPU waits for it. Arguments are
checked before anything is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from warpsift.simt import DeviceArray, Gpu
from warpsift.simt.stream import UnitInfo
from warpsift.units.scu import scu_walk
from warpsift.units.scu.filtering import FilterTable
from warpsift.units.scu.grouping import GroupTable
from warpsift.units.scu.scu_checks import ScuError, check_arrays, check_ids, check_overlap, length, refuse_input
from warpsift.units.scu.scu_operation import (
    POSITION_BYTES,
    Access,
    FilterVector,
    OrderVector,
    ScuOperation,
    Target,
)
from warpsift.units.scu.scu_spec import ScuSpec

COMPARISONS: dict[str, Callable[..., Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ELEMENT_BYTES = (1, 2, 4, 8)

Filter = FilterTable | FilterVector
Group = GroupTable | OrderVector


class Scu:
    """One unit, attached to a GPU."""

    def __init__(self, gpu: Gpu, spec: ScuSpec | None = None, *, phase: str = "scu") -> None:
        self.gpu = gpu
        self.spec = spec or ScuSpec()
        for problem in self.spec.problems():
            raise ScuError(problem)
        self.phase = phase
        self._vectors: dict[str, DeviceArray] = {}
        self._latest: dict[str, FilterVector | OrderVector] = {}  # what each of them holds

    # ------------------------------------------------------------------ tables
    def filter_table(self, name: str, size_bytes: int, keys: int, **options) -> FilterTable:
        """A table for filtering IDs below `keys`; `cost_dtype=` for unique-best-cost, `life=` as in `ScuSpec`."""
        return FilterTable(self.gpu, name, size_bytes, keys, **(self._table_defaults() | options))

    def group_table(self, name: str, size_bytes: int, keys: int, **options) -> GroupTable:
        defaults = self._table_defaults() | {"group": self.spec.group_elements}
        return GroupTable(self.gpu, name, size_bytes, keys, **(defaults | options))

    def _table_defaults(self) -> dict[str, Any]:
        spec = self.spec
        tagged = spec.table_entries == "tagged"
        return {"ways": spec.hash_ways, "life": spec.other_life, "fits": spec.fit_tables, "tagged": tagged}

    # ------------------------------------------------------------------ operations
    def bitmask(
        self,
        data: DeviceArray,
        comparison: str,
        reference: float,
        count: int | None = None,
        *,
        out: DeviceArray | None = None,
        phase: str | None = None,
    ) -> tuple[DeviceArray, int]:
        """bit i = data[i] <comparison> reference."""
        compare = COMPARISONS.get(comparison)
        if compare is None:
            raise ScuError(f"bitmask: no comparison {comparison!r}; write one of {' '.join(COMPARISONS)}")
        if not isinstance(reference, int | float | np.number):
            raise ScuError(f"bitmask: reference {reference!r}; write a number")
        access = self._access("bitmask", data, length(data) if count is None else count)
        out = self._mask_output("bitmask", out, access)
        target = Target(out, compare=compare, reference=reference)  # type: ignore[arg-type]
        return self._run("bitmask", access, target, phase)

    def data_compaction(
        self,
        data: DeviceArray,
        mask: DeviceArray | None,
        count: int | None = None,
        *,
        out: DeviceArray | None = None,
        at: int = 0,
        filter: Filter | None = None,
        group: Group | None = None,
        cost: DeviceArray | None = None,
        phase: str | None = None,
    ):
        """data[i] where mask[i], in order, to out[at:]."""
        access = self._access("data_compaction", data, length(data) if count is None else count, mask=mask)
        return self._finish("data_compaction", access, (out, at), (filter, group), (cost, None), phase)

    def position_compaction(
        self, mask: DeviceArray, count: int, *, out: DeviceArray | None = None, at: int = 0, phase: str | None = None
    ) -> tuple[DeviceArray, int]:
        """i where mask[i], in order, to out[at:]: data compaction of 0, 1, 2, ... without reading such an array.

        The paper has no such operation. Its Address Generator makes these numbers anyway; what is added is a way for
        them past Data Fetch's memory port into its FIFO.
        """
        name = "position_compaction"
        check_arrays(name, mask=mask, out=out)
        if mask.dtype != np.uint32 or count < 0 or len(mask) * 32 < count:
            raise ScuError(
                f"{name}: mask '{mask.name}' is {mask.dtype}[{len(mask)}]; {count} elements need uint32 words"
            )
        access = Access(None, count, mask=mask)
        access.total = int(scu_walk.count_bits(mask.host, count))
        if out is None:
            out = self.gpu.memory.empty("scu.positions", max(at + access.total, 1), np.int32)
        if out.dtype.kind not in "iu" or out.itemsize != POSITION_BYTES:
            raise ScuError(f"{name}: output '{out.name}' is {out.dtype}; positions are 4-byte integers")
        if at < 0 or at + access.total > len(out):
            raise ScuError(
                f"{name}: {access.total} elements from place {at} on do not fit '{out.name}', which has {len(out)}"
            )
        check_overlap(name, access, out, (at * out.itemsize, (at + access.total) * out.itemsize))
        return self._run(name, access, Target(out, at), phase)

    def access_compaction(
        self,
        data: DeviceArray,
        index: DeviceArray,
        mask: DeviceArray | None,
        count: int | None = None,
        *,
        out: DeviceArray | None = None,
        at: int = 0,
        filter: Filter | None = None,
        group: Group | None = None,
        cost: DeviceArray | None = None,
        phase: str | None = None,
    ):
        """data[index[i]] where mask[i], in order, to out[at:]."""
        inputs = length(index) if count is None else count
        access = self._access("access_compaction", data, inputs, mask=mask, index=index)
        return self._finish("access_compaction", access, (out, at), (filter, group), (cost, None), phase)

    def replication_compaction(
        self,
        data: DeviceArray,
        counts: DeviceArray,
        count: int | None = None,
        *,
        mask: DeviceArray | None = None,
        out: DeviceArray | None = None,
        at: int = 0,
        filter: Filter | None = None,
        group: Group | None = None,
        add: bool = False,
        phase: str | None = None,
    ):
        """Each data[i] with mask[i], counts[i] times, to out[at:]; with `add`, added to what is there."""
        inputs = length(counts) if count is None else count
        access = self._access("replication_compaction", data, inputs, mask=mask, count=counts, repeats=True)
        return self._finish("replication_compaction", access, (out, at), (filter, group), (None, None), phase, add)

    def access_expansion_compaction(
        self,
        data: DeviceArray,
        index: DeviceArray,
        counts: DeviceArray,
        count: int | None = None,
        *,
        mask: DeviceArray | None = None,
        out: DeviceArray | None = None,
        at: int = 0,
        filter: Filter | None = None,
        group: Group | None = None,
        cost: DeviceArray | None = None,
        cost_base: DeviceArray | None = None,
        phase: str | None = None,
    ):
        """data[index[i] : index[i] + counts[i]] where mask[i], one after the other, to out[at:].

        For the best-cost filter, an element's cost is cost[same position as in data] + cost_base[i].
        """
        name = "access_expansion_compaction"
        inputs = length(index) if count is None else count
        access = self._access(name, data, inputs, mask=mask, index=index, count=counts)
        return self._finish(name, access, (out, at), (filter, group), (cost, cost_base), phase)

    # ------------------------------------------------------------------ checks
    def _access(self, name: str, data: DeviceArray, inputs: int, *, repeats: bool = False, **vectors) -> Access:
        check_arrays(name, data=data, **vectors)
        if data.itemsize not in ELEMENT_BYTES:
            raise ScuError(f"{name}: elements of '{data.name}' have {data.itemsize} bytes; the unit moves 1, 2, 4 or 8")
        if inputs < 0:
            raise ScuError(f"{name}: {inputs} elements; write 0 or more")
        access = Access(data, inputs, repeats=repeats, **vectors)
        mask = access.mask
        if mask is not None and (mask.dtype != np.uint32 or len(mask) * 32 < inputs):
            needed = f"uint32[{-(-inputs // 32)}]"
            raise ScuError(f"{name}: mask '{mask.name}' is {mask.dtype}[{len(mask)}]; {inputs} elements need {needed}")
        for role, column in (("index", access.index), ("count", access.count)):
            if column is None:
                continue
            if column.dtype.kind not in "iu" or column.itemsize != 4:
                raise ScuError(f"{name}: {role} vector '{column.name}' is {column.dtype}; write 4-byte integers")
            if len(column) < inputs:
                raise ScuError(f"{name}: {role} vector '{column.name}' has {len(column)} of {inputs} entries")
        if access.index is None and inputs > len(data):
            raise ScuError(f"{name}: {inputs} elements of '{data.name}', which has {len(data)}")
        access.total, wrong = scu_walk.measure(
            inputs,
            access.flags(False),
            mask.host if mask is not None else np.zeros(1, np.uint32),
            access.index.host if access.index is not None else np.zeros(1, np.int32),
            access.count.host if access.count is not None else np.zeros(1, np.int32),
            len(data),
        )
        if wrong >= 0:
            refuse_input(name, access, int(wrong))
        access.total = int(access.total)
        return access

    def _finish(
        self,
        name: str,
        access: Access,
        place: tuple[DeviceArray | None, int],
        steps: tuple[Filter | None, Group | None],
        costs: tuple[DeviceArray | None, DeviceArray | None],
        phase: str | None,
        add: bool = False,
    ):
        """Decide from the kinds of `filter` and `group` what the operation makes, check its output, and run it."""
        filter, group = steps
        check_arrays(name, out=place[0], cost=costs[0], cost_base=costs[1])
        self._check_steps(name, filter, group)
        if isinstance(filter, FilterVector):
            if filter.elements != access.total:
                raise ScuError(
                    f"{name}: the filter was made for {filter.elements} elements, this operation has {access.total}"
                )
            access.filter = filter
        elif filter is not None:
            return self._build_filter(name, access, filter, group, costs, phase)
        if isinstance(group, GroupTable):
            return self._build_order(name, access, group, phase)
        if group is not None:
            if group.elements != access.survivors:
                raise ScuError(
                    f"{name}: the order was made for {group.elements} elements, this operation keeps {access.survivors}"
                )
            access.order = group
        out, at = place
        out = self._output(name, access, out, at, add)
        return self._run(name, access, Target(out, at, add=add), phase)

    def _check_steps(self, name: str, filter: Filter | None, group: Group | None) -> None:
        """Tables and vectors are what they should be, and no vector's memory holds a later one."""
        for role, given, kinds in (("filter", filter, Filter), ("group", group, Group)):
            if given is not None and not isinstance(given, kinds):
                wanted = "a table, or the vector that a call with the table returned"
                raise ScuError(f"{name}: {role}= is a {type(given).__name__}; write {wanted}")
            if isinstance(given, FilterVector | OrderVector):
                memory = given.words if isinstance(given, FilterVector) else given.places
                if self._vectors.get(memory.name) is not memory or self._latest.get(memory.name) is given:
                    continue  # its own memory, or still what the unit built last
                raise ScuError(
                    f"{name}: {role}= is a vector that a later call has overwritten; "
                    f"apply a vector before the unit builds the next"
                )

    def _build_filter(self, name, access: Access, table: FilterTable, group, costs, phase):
        if group is not None:
            raise ScuError(f"{name}: build the filter first, then the order with filter=<the vector> and group=<table>")
        cost, base = costs
        if (table.cost_dtype is not None) != (cost is not None or base is not None):
            wants = "needs cost= or cost_base=" if table.cost_dtype is not None else "takes no costs"
            raise ScuError(f"{name}: filter table '{table.name}' {wants}")
        for role, column, least in (("cost", cost, len(access.fetched)), ("cost_base", base, access.inputs)):
            if column is not None and (column.dtype != table.cost_dtype or len(column) < least):
                raise ScuError(
                    f"{name}: {role} '{column.name}' is {column.dtype}[{len(column)}]; "
                    f"table '{table.name}' needs {table.cost_dtype}[{least}]"
                )
        check_ids(name, access, table.keys, table.name)
        words = self._scratch("scu.filter", -(-access.total // 32), np.uint32)
        target = Target(words, filter=table, cost=cost, cost_base=base)
        _, kept = self._run(name, access, target, phase)
        self._latest[words.name] = vector = FilterVector(words, access.total, kept)
        return vector, kept

    def _build_order(self, name: str, access: Access, table: GroupTable, phase: str | None):
        check_ids(name, access, table.keys, table.name)
        places = self._scratch("scu.order", access.survivors, np.int32)
        _, n = self._run(name, access, Target(places, group=table), phase)
        self._latest[places.name] = vector = OrderVector(places, n)
        return vector, n

    def _output(self, name: str, access: Access, out: DeviceArray | None, at: int, add: bool) -> DeviceArray:
        data, needed = access.fetched, access.survivors
        if at < 0:
            raise ScuError(f"{name}: at={at}; write the place of the first element, 0 or more")
        if out is None:
            if add:
                raise ScuError(f"{name}: add=True needs out=, the array to add to")
            return self.gpu.memory.empty(f"scu.{name}", at + needed, data.dtype)
        if out.itemsize != data.itemsize:
            raise ScuError(
                f"{name}: elements of '{data.name}' have {data.itemsize} bytes, "
                f"those of output '{out.name}' {out.itemsize}"
            )
        if (out.dtype.kind == "f") != (data.dtype.kind == "f"):
            raise ScuError(
                f"{name}: '{data.name}' is {data.dtype}, output '{out.name}' {out.dtype}; the unit moves bits, it "
                f"does not convert"
            )
        if at + needed > len(out):
            raise ScuError(
                f"{name}: {needed} elements from place {at} on do not fit '{out.name}', which has {len(out)}"
            )
        check_overlap(name, access, out, (at * out.itemsize, (at + needed) * out.itemsize))
        return out

    def _mask_output(self, name: str, out: DeviceArray | None, access: Access) -> DeviceArray:
        bits = access.total
        words = -(-bits // 32)
        if out is None:
            return self.gpu.memory.empty("scu.bitmask", max(words, 1), np.uint32)
        check_arrays(name, out=out)
        if out.dtype != np.uint32 or len(out) < words:
            raise ScuError(
                f"{name}: mask '{out.name}' is {out.dtype}[{len(out)}]; {bits} elements need uint32[{words}]"
            )
        check_overlap(name, access, out, (0, words * out.itemsize))
        return out

    # ------------------------------------------------------------------ running
    def _scratch(self, name: str, length: int, dtype: DTypeLike) -> DeviceArray:
        """A vector of the two-step protocol; the unit keeps and regrows it, so the next build overwrites it."""
        array = self._vectors.get(name)
        if array is None or len(array) < length:
            array = self.gpu.memory.empty(name, max(length, 1, 0 if array is None else 2 * len(array)), dtype)
            self._vectors[name] = array
        return array

    def _info(self, name: str, phase: str | None) -> UnitInfo:
        return UnitInfo("scu", name, phase or self.phase)

    def _run(self, name: str, access: Access, target: Target, phase: str | None) -> tuple[DeviceArray, int]:
        operation = ScuOperation(self._info(name, phase), self.spec, access, target)
        self.gpu.sink.operation(operation)
        return target.out, operation.kept
