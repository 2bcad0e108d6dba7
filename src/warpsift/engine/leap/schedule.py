"""What of a sampled run is timed: which launches, and which stretches of a long one.

A launch begins with a ramp, then stretches take turns:

    ramp | window | leap | settling | window | leap | settling | window | ... | tail
    timed  timed    not    timed      timed

What is timed is exact. A leap's time is estimated from the windows around it (run/sampling). The first leaps of a
launch are short and later ones grow to `sample - 1` windows, so that a short launch is still seen often.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from random import Random

from warpsift.machines.spec import Machine

RAMP_CYCLES = 4000  # a few times a loaded memory's latency: all SMs are full and their warps out of step
WINDOW_CYCLES = 4000
SETTLING_CYCLES = 2000
WINDOW_ROUNDS, SETTLING_ROUNDS = 5, 3  # memory instructions of each warp that a window and a settling last at least ...
LONGEST = 6  # ... but no longer than so many windows
FEW_WARPS = 1 / 128  # of those that the machine holds: as few are timed, since they cost little
LEFT_WARPS = 1 / 2  # of those at its begin: where as few are left at the end of a launch, a leap ends
FIRST_LEAP, GROWTH = 1.5, 1.3  # windows, and how many times longer the leap behind each next window is
TOUCHED_WINDOWS = 6  # at the end of a leap in which caches are touched, at least; CTAs before are passed over ...
TOUCHED_FILLS = 2  # ... and as long as DRAM at full bandwidth takes to fill the L2 so often
TOUCHED_TIMES = 16  # of a long launch that is left out, transactions that are touched at its end per line of the L2
FIRST_ALIKE = 2  # launches of a size
VARIED = 0.4  # by which share leaps are longer or shorter than usual
FIRST_TIMED = 4  # launches of a kind: fewer say too little of how its cycles follow from its work


def touched_windows(machine: Machine) -> float:
    """Windows at the end of a leap that touch caches: 6 on a GTX 980, 145 on an L40 with its L2 of 96 MB."""
    dram = machine.dram
    dram_bytes_per_cycle = (
        dram.channels * dram.burst_bytes / dram.burst_clocks * dram.clock_mhz / machine.clocks.core_mhz
    )
    return max(TOUCHED_WINDOWS, TOUCHED_FILLS * machine.l2.size_bytes / dram_bytes_per_cycle / WINDOW_CYCLES)


@dataclass
class Schedule:
    """Remembers what has been timed of each kind of launch, so that the next is chosen."""

    sample: int
    launches: dict[Hashable, int] = field(default_factory=dict)  # timed
    sizes: dict[Hashable, int] = field(default_factory=dict)
    random: Random = field(default_factory=lambda: Random(1))

    def is_timed(self, kind: Hashable, size: tuple[int, ...], long: bool = False) -> bool:
        """The first of its kind, the first two of its size, then one of `sample` of this size, are timed.

        Of long ones the first of a size is enough: it has windows of its own.
        """
        seen, alike = self.launches.get(kind, 0), self.sizes.get((kind, size), 0)
        self.sizes[kind, size] = alike + 1
        new = alike == 0 if long else seen < FIRST_TIMED or alike < FIRST_ALIKE
        timed = new or alike % self.sample == 0
        self.launches[kind] = seen + timed
        return timed

    def leap_windows(self, kind: Hashable, windows: int) -> float:
        """How many windows long the leap behind so many of a launch is; no two launches are seen at equal places."""
        grown = FIRST_LEAP * GROWTH ** min(windows, self.sample)
        usual = min(self.sample - 1, grown + self.launches[kind] / 2)
        return usual * self.random.uniform(1 - VARIED, 1 + VARIED)
