"""What a sampled run knows of a launch or an operation: what was timed, and how much was not.

Work is told by four features: the time of a leap's own (where latency decides), line transactions and instructions
(where the SMs' throughput does), and sectors that move between L2 and DRAM (where DRAM does), which touches of the L2's
tags tell of what is not timed.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from warpsift.engine.counters import Counters
from warpsift.simt.stream import LaunchInfo, UnitInfo

LEAP_TIME, TRANSACTIONS, INSTRUCTIONS, DRAM_SECTORS = range(4)


@dataclass(frozen=True)
class Window:
    """A stretch that was timed."""

    work: np.ndarray  # its features
    counters: dict[str, int]  # with its cycles


@dataclass(frozen=True)
class Leap:
    """A stretch that was not; it lies behind so many windows of its launch."""

    work: np.ndarray
    behind: int


@dataclass
class SampledLaunch:
    """A launch or operation. Without `timed` it was left out as a whole."""

    info: LaunchInfo | UnitInfo
    kind: Hashable
    records: int = 0  # of its stream
    longest_warp: int = 0  # records of one warp
    touched_sectors: int | None = 0  # between L2 and DRAM, of one that was left out; None: only its end was touched
    timed: Counters | None = None  # of all that was timed, windows included
    windows: list[Window] = field(default_factory=list)
    leaps: list[Leap] = field(default_factory=list)
    arrays: dict[str, dict[str, int]] = field(default_factory=dict)
