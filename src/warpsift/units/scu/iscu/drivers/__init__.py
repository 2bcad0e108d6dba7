"""Three algorithms with the IRU-enhanced SCU; it accelerates the frontier style."""

from warpsift.units.scu.iscu.drivers import iscu_bfs, iscu_pagerank, iscu_sssp
from warpsift.units.unit import Driver

DRIVERS: dict[str, Driver] = {
    "bfs": iscu_bfs.run,
    "sssp": iscu_sssp.run,
    "pagerank": iscu_pagerank.run,
}
