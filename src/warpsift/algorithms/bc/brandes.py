"""Brandes' algorithm as both styles run it: the arrays, and what is done once per source.

Level-synchronous, with the types of GAP's bc.cc: numbers of shortest paths are float64, since they grow exponentially
with the distance (a 100 x 100 grid has 10^58 from corner to corner); dependencies and scores are float32.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.options import OptionError
from warpsift.simt import Gpu, kernel


@kernel
def reset(t, source, levels, paths, dependencies):
    """Forget the source before; one path of length 0 leads to the new one."""
    is_source = t.id == source
    t.store(levels, t.id, t.select(is_source, 0, INFINITY))
    t.store(paths, t.id, t.select(is_source, 1.0, 0.0))
    t.store(dependencies, t.id, np.float32(0))


@kernel
def score(t, dependencies, scores):
    """Add this source's dependencies; its own is 0, since no style computes that of level 0."""
    t.store(scores, t.id, t.load(scores, t.id) + t.load(dependencies, t.id))


class State:
    """One entry per node: its level, the number of shortest paths to it, its dependency, and the sum over sources."""

    def __init__(self, gpu: Gpu, nodes: int) -> None:
        self._gpu = gpu
        self.nodes = nodes
        self.levels = gpu.memory.full("levels", nodes, INFINITY)
        self.paths = gpu.memory.empty("paths", nodes, np.float64)
        self.dependencies = gpu.memory.empty("dependencies", nodes, np.float32)
        self.scores = gpu.memory.empty("scores", nodes, np.float32)

    def begin(self, source: int) -> None:
        arguments = (source, self.levels, self.paths, self.dependencies)
        self._gpu.launch(reset, self.nodes, *arguments, phase="reset")

    def require_finite(self, source: int) -> None:
        """Between the two sweeps: a path count that overflowed would make every score a NaN."""
        if not np.isfinite(self.paths.host).all():
            raise OptionError(
                f"more than 1e308 shortest paths lead from node {source} to some other, which overflows float64: "
                "choose another source, or a graph with fewer ties"
            )

    def end(self) -> None:
        self._gpu.launch(score, self.nodes, self.dependencies, self.scores, phase="score")
