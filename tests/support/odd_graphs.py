"""Small graphs with something odd about each."""

from __future__ import annotations

import numpy as np

from warpsift.graph import CsrGraph


def edges(nodes: int, pairs: list[tuple[int, int]], weights=None) -> CsrGraph:
    source, target = (np.array([p[k] for p in pairs], np.int64) for k in range(2))
    return CsrGraph.from_edges(source, target, weights, nodes=nodes)


ODD = {
    "single node": edges(1, []),
    "no edges": edges(5, []),
    "self-loops": edges(3, [(0, 0), (0, 1), (1, 1), (2, 2)]),
    "parallel arcs": edges(3, [(0, 1)] * 5 + [(1, 2)] * 3, np.array([9, 3, 7, 3, 8, 5, 1, 4], np.int32)),
    "zero weights": edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)], np.array([0, 0, 5, 0], np.int32)),
    "nothing but zero weights": edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)], np.zeros(4, np.int32)),
    "float weights": edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)], np.array([0.5, 0.25, 5, 1.5], np.float32)),
    "two components": edges(6, [(0, 1), (1, 2), (3, 4), (4, 5)]),
    "directed line": edges(40, [(k, k + 1) for k in range(39)]),
    "star": edges(700, [(0, k) for k in range(1, 700)] + [(k, 0) for k in range(1, 700)]),
}
