"""The four algorithms with the memory fast-forward unit; it accelerates the vertex style.

The unit works inside kernels, so what it has instead of host calls is a second text of each algorithm's compute
kernel: PageRank gathers, BFS scatters, SSSP and WCC do both.
"""

from warpsift.units.mff.drivers import mff_bfs, mff_pagerank, mff_sssp, mff_wcc
from warpsift.units.unit import Driver

DRIVERS: dict[str, Driver] = {
    "pagerank": mff_pagerank.run,
    "bfs": mff_bfs.run,
    "sssp": mff_sssp.run,
    "wcc": mff_wcc.run,
}
