"""Three algorithms with the reorder unit, in the frontier style: it serves the kernels that read an edge frontier."""

from warpsift.units.iru.drivers import iru_bfs, iru_pagerank, iru_sssp
from warpsift.units.unit import Driver

DRIVERS: dict[str, Driver] = {
    "bfs": iru_bfs.run,
    "sssp": iru_sssp.run,
    "pagerank": iru_pagerank.run,
}
