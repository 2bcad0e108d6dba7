"""WCC by hooking and pointer jumping: trees of labels, joined along edges and flattened.

Shiloach and Vishkin, J. Algorithms 3 (1982), as Soman, Kishore and Narayanan run it on GPUs (IPDPSW 2010). In each
round a thread per edge hooks the higher of two roots under the lower, and a thread per node follows its parents to the
root and becomes its child. Trees grow by joining trees, so a long path takes about as many rounds as its length has
binary digits, where label propagation walks it node by node. A hook that another overwrites is made again in the next
round.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.algorithm import Outcome, Work
from warpsift.algorithms.wcc.wcc_options import WccOptions
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu, kernel


@kernel(races=True)
def hook(t, sources, targets, parent, hooked):
    """Where an edge joins two trees, the higher root becomes a child of the lower."""
    a = t.load(parent, t.load(sources, t.id))
    b = t.load(parent, t.load(targets, t.id))
    with t.where(a != b):
        t.atomic_min(parent, t.maximum(a, b), t.minimum(a, b), used=False)
        t.store(hooked, 0, 1)


@kernel(races=True)
def jump(t, parent):
    """Every node becomes a child of its root."""
    node = t.var(t.load(parent, t.id))
    above = t.var(t.load(parent, node))
    for _ in t.loop_while(lambda: above != node):
        node.set(above)
        above.set(t.load(parent, node))
    t.store(parent, t.id, node)


def edge_list(graph: CsrGraph) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every edge, once: of a symmetric graph the arcs to higher nodes."""
    sources = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.out_degrees)
    keep = sources < graph.targets if graph.is_symmetric else sources != graph.targets
    return sources[keep], graph.targets[keep]


def run(gpu: Gpu, graph: CsrGraph, options: WccOptions) -> Outcome:
    ends = edge_list(graph)
    sources, targets = (
        gpu.memory.array(name, values) for name, values in zip(("sources", "targets"), ends, strict=True)
    )
    parent = gpu.memory.array("parent", np.arange(graph.nodes, dtype=np.int32))
    hooked = gpu.memory.empty("hooked", 1)
    work = Work(edges=graph.edges)
    rounds = 0
    while len(sources) and rounds != options.max_iterations:
        rounds += 1
        hooked.host[0] = 0
        gpu.launch(hook, len(sources), sources, targets, parent, hooked, phase="hook")
        work.edges_touched += len(sources)
        if not hooked.host[0]:
            break
        gpu.launch(jump, graph.nodes, parent, phase="jump")
        work.nodes_processed += graph.nodes
        roots = int((parent.host == np.arange(graph.nodes)).sum())
        gpu.progressed(1 - roots / graph.nodes)
    return Outcome(parent.host.copy(), rounds, work)
