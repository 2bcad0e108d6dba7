"""The four algorithms with the SCU; it accelerates the frontier style."""

from warpsift.units.scu.drivers import scu_bfs, scu_pagerank, scu_sssp, scu_wcc
from warpsift.units.unit import Driver

DRIVERS: dict[str, Driver] = {
    "bfs": scu_bfs.run,
    "sssp": scu_sssp.run,
    "pagerank": scu_pagerank.run,
    "wcc": scu_wcc.run,
}
