"""How like two graphs are in what decides a GPU's work: hubs, clustering, and how far a warp's accesses spread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from warpsift.graph.csr import CsrGraph
from warpsift.hardware import LINE_BYTES, WARP_SIZE

NODES_PER_LINE = LINE_BYTES // 4  # of an array of 4-byte values
SAMPLE = 4000  # nodes whose clustering is looked at
MOST_NEIGHBOURS = 512  # of one of these
FAR = 1000  # nodes between the ends of a far arc
SHORT, LONG = (1, 3), (16, 63)  # lists of so many arcs
IN_A_ROW = 512  # nodes


def likeness(graph: CsrGraph, seed: int = 1) -> dict[str, Any]:
    """The figures by which a stand-in is held against its original."""
    in_degrees = np.bincount(graph.targets, minlength=graph.nodes)
    hubs = np.cumsum(np.sort(in_degrees)[::-1]) / max(graph.edges, 1)
    distance = np.abs(graph.sources.astype(np.int64) - graph.targets)
    quartiles = np.percentile(distance, [25, 50, 75]) if graph.edges else np.zeros(3)
    return {
        "nodes": graph.nodes,
        "arcs": graph.edges,
        "largest in-degree": int(in_degrees.max(initial=0)),
        "largest out-degree": int(graph.out_degrees.max(initial=0)),
        "nodes without out-arcs": _share(graph.out_degrees == 0),
        "arcs to the top 0.1 %": _top(hubs, 0.001),
        "arcs to the top 1 %": _top(hubs, 0.01),
        "clustering": round(clustering(graph, seed), 3),
        "lines per 32 arcs": round(lines_per_warp(graph), 2),
        "longest list of 32 nodes": round(longest_per_warp(graph), 1),
        "distance of ends, quartiles": " / ".join(str(int(q)) for q in quartiles),
        "far arcs of short lists": round(far_share(graph, *SHORT), 3),
        "far arcs of long lists": round(far_share(graph, *LONG), 3),
        "spread of 512 nodes' mean degree": round(degree_spread(graph), 3),
    }


def _share(where: np.ndarray) -> float:
    return round(float(where.mean()), 3) if where.size else 0.0


def _top(hubs: np.ndarray, share: float) -> float:
    return round(float(hubs[max(0, int(share * hubs.size) - 1)]), 3) if hubs.size else 0.0


def lines_per_warp(graph: CsrGraph) -> float:
    """Distinct lines of a node array that 32 arcs in a row lead to: what a warp of an edge-parallel kernel reads."""
    whole = graph.edges // WARP_SIZE * WARP_SIZE
    if whole == 0:
        return 0.0
    lines = np.sort((graph.targets[:whole] // NODES_PER_LINE).reshape(-1, WARP_SIZE), axis=1)
    return float(1 + (np.diff(lines, axis=1) != 0).sum(axis=1).mean())


def longest_per_warp(graph: CsrGraph) -> float:
    """Mean longest list of 32 nodes in a row: as many steps takes a warp of a kernel with a thread per node."""
    whole = graph.nodes // WARP_SIZE * WARP_SIZE
    return float(graph.out_degrees[:whole].reshape(-1, WARP_SIZE).max(axis=1).mean()) if whole else 0.0


def far_share(graph: CsrGraph, least: int, most: int) -> float:
    """Of the arcs of nodes with so many, the share that leads far along the numbering."""
    degree = graph.out_degrees[graph.sources]
    chosen = (degree >= least) & (degree <= most)
    distance = np.abs(graph.sources[chosen].astype(np.int64) - graph.targets[chosen])
    return float((distance > FAR).mean()) if distance.size else 0.0


def degree_spread(graph: CsrGraph) -> float:
    """Standard deviation, over the mean, of the mean degree of 512 nodes in a row."""
    whole = graph.nodes // IN_A_ROW * IN_A_ROW
    means = graph.out_degrees[:whole].reshape(-1, IN_A_ROW).mean(axis=1)
    return float(means.std() / means.mean()) if whole and means.any() else 0.0


def clustering(graph: CsrGraph, seed: int = 1) -> float:
    """Mean local clustering (Watts and Strogatz 1998) of sampled nodes with two neighbours or more, arcs undirected."""
    both = graph if graph.is_symmetric else graph.symmetrised()
    nodes = np.flatnonzero(both.out_degrees >= 2)
    if nodes.size == 0:
        return 0.0
    sample = np.random.default_rng(seed).permutation(nodes)[:SAMPLE]
    return float(_clustering(both.offsets, both.targets, sample, MOST_NEIGHBOURS))


@njit(cache=True)
def _clustering(offsets, targets, sample, most):
    total = 0.0
    for node in sample:
        begin, end = offsets[node], min(offsets[node + 1], offsets[node] + most)
        count, links = 0, 0
        for i in range(begin, end):
            if targets[i] == node:
                continue
            count += 1
            j, k = begin, offsets[targets[i]]
            last = offsets[targets[i] + 1]
            while j < end and k < last:  # both lists are sorted
                if targets[j] == targets[k]:
                    if targets[j] != node and targets[j] != targets[i]:
                        links += 1
                    j += 1
                    k += 1
                elif targets[j] < targets[k]:
                    j += 1
                else:
                    k += 1
        if count > 1:
            total += links / (count * (count - 1))
    return total / sample.size
