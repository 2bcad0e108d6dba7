"""Error bars of figures whose runs may be sampled: the spread over sources and the runs' own intervals, in squares."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from warpsift.run.sampling.relative_error import relative_half


def sampled_half(results: Sequence[Mapping[str, Any]]) -> float:
    """Half of the 95 % interval of a ratio of two runs' cycles, as a share of it; 0 where both are timed in full."""
    return math.hypot(*(relative_half(result.get("intervals", {}).get("cycles")) for result in results))


def mean_over_graphs(by_graph: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The mean over graphs of the means over their sources, and its standard deviation where sources differ."""
    spreads = [statistics.stdev(values) for values in by_graph if len(values) > 1]
    return statistics.fmean(map(statistics.fmean, by_graph)), math.hypot(*spreads) / len(by_graph)


def with_sampling(values: Sequence[float], halves: Sequence[float]) -> float:
    """The error bar of the mean of these values: their standard deviation, and half of the mean's interval."""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return math.hypot(spread, *(half / len(halves) for half in halves))
