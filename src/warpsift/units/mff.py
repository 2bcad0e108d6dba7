"""The memory fast-forward unit as a user sees it: which algorithms can use it, and how.

The unit works inside kernels (simt/fast_forward.py), so what it has instead of host calls is a second text of each
algorithm's compute kernel: PageRank gathers, BFS scatters, SSSP and WCC do both. It accelerates the vertex style.
"""

from __future__ import annotations

from collections.abc import Callable

from warpsift.algorithms.bfs import mff as bfs
from warpsift.algorithms.common import Options, Outcome
from warpsift.algorithms.pagerank import mff as pagerank
from warpsift.algorithms.sssp import mff as sssp
from warpsift.algorithms.wcc import mff as wcc
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu

NAME = "mff"
TITLE = "Memory Fast-Forward unit (Park et al., DATE 2015)"
STYLE = "vertex"  # the style that is its baseline
COMPUTE_PHASE = "compute"  # what the paper measures; "schedule" and "commit" are reported apart

DRIVERS: dict[str, Callable[[Gpu, CsrGraph, Options], Outcome]] = {
    "pagerank": pagerank.run,
    "bfs": bfs.run,
    "sssp": sssp.run,
    "wcc": wcc.run,
}


def styles(machine: object = None) -> dict[str, Callable[[Gpu, CsrGraph, Options], Outcome]]:
    """The unit's way of running each algorithm; every modelled machine may have one."""
    return dict(DRIVERS)
