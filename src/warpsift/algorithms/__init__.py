"""The graph algorithms, each in the frontier style of the SCU paper and the vertex style of the MFF paper."""

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict, Work
from warpsift.algorithms.bfs import BFS
from warpsift.algorithms.options import OptionError, Options
from warpsift.algorithms.pagerank import PAGERANK
from warpsift.algorithms.sssp import SSSP
from warpsift.algorithms.wcc import WCC

ALGORITHMS: dict[str, Algorithm] = {a.name: a for a in (BFS, SSSP, PAGERANK, WCC)}

__all__ = ["ALGORITHMS", "Algorithm", "OptionError", "Options", "Outcome", "Verdict", "Work"]
