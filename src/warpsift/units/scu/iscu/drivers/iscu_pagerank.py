"""PageRank with the IRU-enhanced SCU: one pass expands edges, carries each node's share along, and adds what meets.

The rest is the SCU's (units/scu/drivers/scu_pagerank.py): one atomic then stands for all shares of a node that met in
the hash. Sums are taken in another order, so ranks differ in their last digits.
"""

from __future__ import annotations

from warpsift.algorithms.algorithm import Outcome
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu
from warpsift.units.scu.drivers.scu_pagerank import iterate
from warpsift.units.scu.iscu.iscu_api import Iscu
from warpsift.units.scu.iscu.iscu_spec import IscuSpec
from warpsift.units.scu.scu_spec import ScuSpec


def run(
    gpu: Gpu, graph: CsrGraph, options: PagerankOptions, spec: ScuSpec | None, iscu_spec: IscuSpec, parts: int
) -> Outcome:
    iscu = Iscu(gpu, spec, iscu_spec, parts, phase="expand")

    def expand(targets: DeviceArray, index: DeviceArray, counts: DeviceArray, shares: DeviceArray, edges: Queue) -> int:
        return iscu.merging_expansion(
            targets,
            index,
            counts,
            graph.nodes,
            out=edges.target,
            values_out=edges.share,
            value_base=shares,
            merge="add",
        )

    return iterate(gpu, graph, options, expand)
