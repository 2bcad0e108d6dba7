"""BFS with the IRU-enhanced SCU: one pass expands, drops what has passed before, and groups by memory block.

The parts' filter lives as long as the run, so an expansion drops visited nodes too. Compaction keeps the order of the
edge frontier, which is grouped and has been filtered: it is the plain SCU's. The GPU's share is as with the SCU.
"""

from __future__ import annotations

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu
from warpsift.units.scu.drivers.scu_bfs import BfsSteps, traverse
from warpsift.units.scu.iscu.iscu_api import Iscu
from warpsift.units.scu.iscu.iscu_spec import IscuSpec
from warpsift.units.scu.scu_spec import ScuSpec


class MergingSteps(BfsSteps):
    """A level whose expansion passes the parts."""

    def __init__(self, iscu: Iscu, nodes: int) -> None:
        super().__init__(iscu, nodes, enhanced=False)
        self._iscu = iscu

    def expand(self, device: DeviceGraph, count: int, edges: Queue) -> int:
        index, counts = self.expansion.lists(count)
        return self._iscu.merging_expansion(
            device.targets, index, counts, count, out=edges.target, filter=True, phase="expand"
        )


def run(
    gpu: Gpu, graph: CsrGraph, options: BfsOptions, spec: ScuSpec | None, iscu_spec: IscuSpec, parts: int
) -> Outcome:
    iscu = Iscu(gpu, spec, iscu_spec, parts)
    return traverse(gpu, graph, options, lambda: MergingSteps(iscu, graph.nodes))
