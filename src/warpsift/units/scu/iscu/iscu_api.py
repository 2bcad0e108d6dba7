"""The IRU-enhanced SCU as a programmer sees it: the SCU's operations, and two whose elements pass the parts.

    iscu = Iscu(gpu, scu_spec, iscu_spec, parts)
    n = iscu.merging_expansion(targets, index, counts, nodes, out=edges, filter=True)
    n = iscu.merging_expansion(targets, index, counts, nodes, out=edges, values_out=costs, value=weights,
                               value_base=distances, merge="min")

Both give the number of elements stored. Their order is that of the parts: nodes of one memory block side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpsift.units.scu.iscu.iscu_hash import MERGES, PartsHash
from warpsift.units.scu.iscu.iscu_operation import IscuOperation
from warpsift.units.scu.iscu.iscu_spec import WORD_BYTES, IscuSpec
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_checks import ScuError, check_arrays, check_ids, check_overlap
from warpsift.units.scu.scu_operation import Access, Target

if TYPE_CHECKING:
    from warpsift.simt import DeviceArray, Gpu
    from warpsift.units.scu.scu_spec import ScuSpec

MOST_NODES = 1 << 31


class Iscu(Scu):
    """One unit, attached to a GPU; its filter remembers from operation to operation."""

    def __init__(self, gpu: Gpu, spec: ScuSpec | None, iscu_spec: IscuSpec, parts: int, *, phase: str = "scu") -> None:
        super().__init__(gpu, spec, phase=phase)
        for problem in iscu_spec.problems():
            raise ScuError(problem)
        self.parts_hash = PartsHash(iscu_spec, parts)

    def merging_expansion(
        self,
        data: DeviceArray,
        index: DeviceArray,
        counts: DeviceArray,
        count: int,
        *,
        out: DeviceArray,
        value: DeviceArray | None = None,
        value_base: DeviceArray | None = None,
        phase: str | None = None,
        **choices,
    ) -> int:
        """data[index[i] : index[i] + counts[i]], merged and grouped; `value` beside the data, `value_base` per input.

        `choices`: merge="first" (drop duplicates), "min" or "add"; values_out=, where values go; filter=True: what has
        passed the filter before is dropped.
        """
        name = "merging_expansion"
        access = self._access(name, data, count, index=index, count=counts)
        return self._pass(name, access, Target(out, cost=value, cost_base=value_base), phase, **choices)

    def merging_compaction(
        self,
        data: DeviceArray,
        mask: DeviceArray | None,
        count: int,
        *,
        out: DeviceArray,
        value: DeviceArray | None = None,
        phase: str | None = None,
        **choices,
    ) -> int:
        """data[i] where mask[i], merged and grouped; `choices` as above."""
        name = "merging_compaction"
        access = self._access(name, data, count, mask=mask)
        return self._pass(name, access, Target(out, cost=value), phase, **choices)

    def _pass(
        self,
        name: str,
        access: Access,
        target: Target,
        phase: str | None,
        *,
        merge: str = "first",
        values_out: DeviceArray | None = None,
        filter: bool = False,
    ) -> int:
        self._check(name, access, target, merge, values_out)
        info = self._info(name, phase)
        operation = IscuOperation(
            info,
            self.spec,
            access,
            target,
            parts_hash=self.parts_hash,
            merge=merge,
            filters=filter,
            values_out=values_out,
        )
        self.gpu.sink.operation(operation)
        return operation.kept

    def _check(self, name: str, access: Access, target: Target, merge: str, values_out: DeviceArray | None) -> None:
        """Refuse what the parts cannot take, before anything is written."""
        if merge not in MERGES:
            raise ScuError(f"{name}: merge={merge!r}; write one of {', '.join(MERGES)}")
        check_arrays(name, out=target.out, value=target.cost, value_base=target.cost_base, values_out=values_out)
        check_ids(name, access, MOST_NODES, "the parts at the slices")
        given = target.cost is not None or target.cost_base is not None
        if given != (values_out is not None):
            raise ScuError(f"{name}: values go with values_out=, the array that takes them; write both or neither")
        if (merge == "first") == given:
            raise ScuError(f"{name}: merge={merge!r} {'takes no' if given else 'needs'} values; {merge_hint(given)}")
        sources = ((target.cost, len(access.fetched)), (target.cost_base, access.inputs))
        for column, least in sources:
            if column is not None and (column.dtype != values_out.dtype or len(column) < least):  # type: ignore[union-attr]
                wanted = f"{values_out.dtype}[{least}]"  # type: ignore[union-attr]
                raise ScuError(f"{name}: values '{column.name}' is {column.dtype}[{len(column)}]; write {wanted}")
        for column in (target.out, values_out):
            if column is None:
                continue
            if column.itemsize != WORD_BYTES or (column is target.out and column.dtype.kind not in "iu"):
                raise ScuError(f"{name}: output '{column.name}' is {column.dtype}; write 4 bytes, integers for nodes")
            if len(column) < access.total:
                raise ScuError(f"{name}: '{column.name}' has room for {len(column)} of {access.total} elements")
            check_overlap(name, access, column, (0, access.total * WORD_BYTES))
            if column in (target.cost, target.cost_base):
                raise ScuError(f"{name}: output '{column.name}' holds the values; write to another array")
        if values_out is target.out:
            raise ScuError(f"{name}: nodes and values both go to '{target.out.name}'; write two arrays")


def merge_hint(given: bool) -> str:
    return "write min or add" if given else "give value= or value_base="
