"""SSSP with the IRU-enhanced SCU: one pass expands nodes and costs, keeps the cheapest that meet, and groups by block.

Near-far as with the SCU (units/scu/drivers/scu_sssp.py), whose five operations of an expansion become one. The near
frontier keeps the order of the edge frontier, which is grouped. The far pile is consumed in one pass too.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.sssp.frontier import allocate
from warpsift.algorithms.sssp.sssp_options import SsspOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu
from warpsift.units.scu.drivers.scu_sssp import Machinery, contract_near, divide_pile, near_far, prepare_lists
from warpsift.units.scu.iscu.iscu_api import Iscu
from warpsift.units.scu.iscu.iscu_spec import IscuSpec
from warpsift.units.scu.scu_frontier import Expansion, Growing, Ledger, set_length
from warpsift.units.scu.scu_spec import ScuSpec


def run(
    gpu: Gpu, graph: CsrGraph, options: SsspOptions, spec: ScuSpec | None, iscu_spec: IscuSpec, parts: int
) -> Outcome:
    assert options.source is not None and graph.weights is not None
    iscu = Iscu(gpu, spec, iscu_spec, parts)
    state = allocate(gpu, graph, options.source)
    expansion = Expansion(iscu, carried_dtype=state.distance.dtype)
    near, far = (Growing(gpu, f"{name}_mask", np.uint32) for name in ("near", "far"))
    m = Machinery(iscu, state, expansion, near, far, None, None, None, Ledger(), Work(edges=graph.edges))
    return near_far(gpu, graph, options, m, partial(_expand, iscu=iscu), partial(_consume_pile, iscu=iscu))


def _expand(gpu: Gpu, m: Machinery, iscu: Iscu) -> None:
    lists, carried = prepare_lists(gpu, m)
    device, edges = m.state.device, m.state.edges
    weights, costs = device.weights, edges.cost
    n = iscu.merging_expansion(
        device.targets,
        *lists,
        out=edges.node,
        values_out=costs,
        value=weights,
        value_base=carried,
        merge="min",
        phase="expand",
    )
    set_length(edges, n)


def _consume_pile(gpu: Gpu, m: Machinery, threshold: float, iscu: Iscu) -> None:
    pile, rest, near = divide_pile(gpu, m, threshold)
    edges, count = m.state.edges, len(pile)
    edges.reserve(count)
    outputs = {"out": edges.node, "values_out": edges.cost}
    n = iscu.merging_compaction(pile.node, near, count, value=pile.cost, merge="min", phase="far", **outputs)
    contract_near(gpu, m, (pile, rest), n, threshold)
