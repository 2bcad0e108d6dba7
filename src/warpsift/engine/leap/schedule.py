"""What of a sampled run is timed: which launches, and which stretches of a long one.

A launch begins with a ramp, then stretches take turns:

    ramp | window | leap | settling | window | leap | settling | window | ... | tail
    timed  timed    not    timed      timed

What is timed is exact. A leap's time is estimated from the windows around it (run/sampling). The first leaps of a
launch are short, so that a short launch is still seen often; later ones grow to `sample - 1` windows and beyond.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from random import Random

RAMP_CYCLES = 4000  # a few times a loaded memory's latency: all SMs are full and their warps out of step
WINDOW_CYCLES = 4000
SETTLING_CYCLES = 2000
WINDOW_ROUNDS, SETTLING_ROUNDS = 4, 2  # memory instructions of each warp that a window and a settling last at least ...
LONGEST = 16  # ... but no longer than so many windows: at 6, launches with slow atomics had none
FEW_WARPS = 1 / 32  # of those that the machine holds: as few are timed, since they cost little
LEFT_WARPS = 1 / 2  # of those at its begin: where as few are left at the end of a launch, a leap ends
SHORT_END = 4  # windows: where half of the warps have as little left to do, the rest of a launch is timed
FIRST_LEAP, GROWTH = 1.5, 1.3  # windows, and how many times longer the leap behind each next window is ...
LATER_GROWTH = 1.15  # ... and once leaps are `sample - 1` windows long: how many windows there are sets the error
MOST_GROWTH = 100  # times: a million windows is the rest of any launch
OTHERS = 1 / 4  # of a window of the launch, that one of an earlier launch of its kind counts as
TOUCHED_TIMES = 16  # of a long launch that is left out, transactions that are touched at its end per line of the L2
FIRST_ALIKE = 2  # launches of a size
VARIED = 0.4  # by which share leaps are longer or shorter than usual
FIRST_WINDOWS = 3  # of a kind of launch: before there are as many, nothing says what a leap would take
FIRST_TIMED = 4  # launches of a kind: fewer say too little of how its cycles follow from its work


@dataclass
class Schedule:
    """Remembers what has been timed of each kind of launch, so that the next is chosen."""

    sample: int
    launches: dict[Hashable, int] = field(default_factory=dict)  # timed
    sizes: dict[Hashable, int] = field(default_factory=dict)
    windows: dict[Hashable, int] = field(default_factory=dict)  # of a kind, all launches
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

    def has_seen(self, kind: Hashable) -> bool:
        """One more window of this kind has been timed: whether a leap behind it can be told from those there are."""
        self.windows[kind] = self.windows.get(kind, 0) + 1
        return self.windows[kind] >= FIRST_WINDOWS

    def leap_windows(self, kind: Hashable, windows: int) -> float:
        """How many windows long the leap behind so many of a launch is; no two launches are seen at equal places."""
        seen = windows + OTHERS * (self.windows[kind] - windows)
        full = math.log((self.sample - 1) / FIRST_LEAP, GROWTH) if self.sample > FIRST_LEAP + 1 else 0.0
        later = min(max(seen - full, 0.0), MOST_GROWTH)
        usual = FIRST_LEAP * GROWTH ** min(seen, full) * LATER_GROWTH**later
        return usual * self.random.uniform(1 - VARIED, 1 + VARIED)
