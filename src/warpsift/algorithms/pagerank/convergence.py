"""When PageRank stops.

The device finds the largest change of any rank; the host compares it with epsilon (of the mean rank). In float32 a
large rank moves by more than 1e-6 from rounding alone, so a run also ends when the change has stopped falling.
"""

from __future__ import annotations

import numpy as np

from warpsift.algorithms.pagerank.pagerank_options import PagerankOptions
from warpsift.simt import DeviceArray, Gpu, Threads, kernel

MOST_ITERATIONS = 100
PATIENCE = 5  # iterations without a new smallest change


def record_change(t: Threads, change, largest: DeviceArray) -> None:
    """The largest change, per warp by shuffles, then by one atomic (bits of non-negative floats order as integers)."""
    highest = t.warp_max(change)
    with t.where(t.lane == 0):
        t.atomic_max(largest, 0, t.bits(highest), used=False)


@kernel
def converge(t, new, old, largest):
    """The convergence check as a launch of its own (SCU paper, section 2.3.4)."""
    record_change(t, abs(t.load(new, t.id) - t.load(old, t.id)), largest)


class Convergence:
    def __init__(self, gpu: Gpu, mean_rank: float, options: PagerankOptions) -> None:
        self.largest = gpu.memory.empty("largest_change", 1, np.int32)
        self._limit = options.epsilon * mean_rank
        self._most = MOST_ITERATIONS if options.max_iterations is None else options.max_iterations
        self._first = self._smallest = np.inf
        self._since = 0
        self.iterations = 0
        self.reason = "iteration limit"
        self.change = np.inf

    def reset(self) -> None:
        self.largest.host[0] = 0

    def reached(self) -> bool:
        """Count an iteration; tells whether it was the last."""
        self.iterations += 1
        self.change = float(self.largest.host.view(np.float32)[0])
        if self.iterations == 1:
            self._first = self.change
        if self.change < self._smallest:
            self._smallest, self._since = self.change, 0
        else:
            self._since += 1
        if self.change < self._limit:
            self.reason = "converged"
        elif self._since >= PATIENCE:
            self.reason = "float32 rounding reached"
        else:
            return self.iterations >= self._most
        return True

    @property
    def progress(self) -> float:
        """The change falls geometrically, so its logarithm tells how far there is to go."""
        if self.iterations < 2 or self._first <= self._limit:
            return self.iterations / self._most
        fallen = np.log(self._first / max(self.change, 1e-30)) / np.log(self._first / max(self._limit, 1e-30))
        return max(float(fallen), self.iterations / self._most)

    @property
    def exhausted(self) -> bool:
        return self._most <= 0
