"""What the graph algorithms on the SCU share: vectors that the GPU prepares, masks, and the filtered expansion.

The GPU's part of an expansion is the preparation: where each frontier node's edges begin and how many there are (SCU
paper, section 3.3.1). The rest is the unit's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from warpsift.algorithms.frontier_queue import Queue
from warpsift.simt import DeviceArray, Gpu, kernel
from warpsift.units.scu.filtering import FilterTable
from warpsift.units.scu.grouping import GroupTable
from warpsift.units.scu.scu_api import Scu


@kernel
def prepare(t, frontier, offsets, index, counts):
    """Begin and length of each frontier node's edge list."""
    node = t.load(frontier, t.id)
    first = t.load(offsets, node)
    t.store(index, t.id, first)
    t.store(counts, t.id, t.load(offsets, node, offset=1) - first)


@kernel
def prepare_with(t, frontier, offsets, values, index, counts, carried):
    """The same, and a value of each node (its distance or label) that its edges will carry."""
    node = t.load(frontier, t.id)
    first = t.load(offsets, node)
    t.store(index, t.id, first)
    t.store(counts, t.id, t.load(offsets, node, offset=1) - first)
    t.store(carried, t.id, t.load(values, node))


@kernel
def add_to(t, costs, carried):
    """costs += carried: the GPU's way of adding a source's distance to a weight."""
    t.store(costs, t.id, t.load(costs, t.id) + t.load(carried, t.id))


class Growing:
    """A device array that is replaced by a larger one when it no longer suffices; its contents are not kept."""

    def __init__(self, gpu: Gpu, name: str, dtype: DTypeLike) -> None:
        self._gpu, self._name, self._dtype = gpu, name, dtype
        self._array: DeviceArray | None = None

    def room(self, length: int) -> DeviceArray:
        if self._array is None or len(self._array) < length:
            size = max(length, 1, 0 if self._array is None else len(self._array) * 3 // 2)
            self._array = self._gpu.memory.empty(self._name, size, self._dtype)
        return self._array

    def mask(self, bits: int) -> DeviceArray:
        return self.room(-(-bits // 32))


def set_length(queue: Queue, length: int) -> None:
    """The unit returns the count to the host, which hands it on."""
    queue.counter.host[0] = length


@dataclass
class Ledger:
    """Elements that pass between GPU and unit."""

    node_elements: int = 0  # of node frontiers that the GPU reads
    edge_elements: int = 0  # of edge frontiers that the GPU reads, after filtering
    expanded: int = 0  # before filtering
    far_elements: int = 0  # of far piles that the GPU reads
    far_kept: int = 0  # of those, what filtering leaves to contract (counted in edge_elements too)

    def notes(self) -> dict[str, object]:
        return {
            "frontier_elements": self.node_elements + self.edge_elements,
            "node_frontier_elements": self.node_elements,
            "edge_frontier_elements": self.edge_elements,
            "far_pile_elements": self.far_elements,
            "far_kept_elements": self.far_kept,
            "expanded_elements": self.expanded,
        }


@dataclass
class Expansion:
    """Lists of edges prepared by the GPU, and how the unit filters and groups what it expands."""

    scu: Scu
    filter: FilterTable | None = None
    group: GroupTable | None = None
    carried_dtype: DTypeLike | None = None
    index: Growing = field(init=False)
    counts: Growing = field(init=False)
    carried: Growing = field(init=False)

    def __post_init__(self) -> None:
        gpu = self.scu.gpu
        self.index = Growing(gpu, "scu.index", np.int32)
        self.counts = Growing(gpu, "scu.counts", np.int32)
        self.carried = Growing(gpu, "scu.carried", self.carried_dtype or np.int32)

    def lists(self, count: int) -> tuple[DeviceArray, DeviceArray]:
        return self.index.room(count), self.counts.room(count)

    def steps(self, data: DeviceArray, count: int, **costs: Any) -> dict[str, Any]:
        """Step 1: build filter and order for the expansion of `data`; gives the keywords of step 2."""
        index, counts = self.lists(count)
        operands = (data, index, counts, count)
        chosen: dict[str, Any] = {}
        if self.filter is not None:
            chosen["filter"], _ = self.scu.access_expansion_compaction(
                *operands, filter=self.filter, phase="expand", **costs
            )
        if self.group is not None:
            chosen["group"], _ = self.scu.access_expansion_compaction(
                *operands, filter=chosen.get("filter"), group=self.group, phase="expand"
            )
        return chosen
