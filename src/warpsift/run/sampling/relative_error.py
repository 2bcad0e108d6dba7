"""Half of a 95 % interval as a share of the number, and what becomes of it in a ratio of two runs."""

from __future__ import annotations

import math
from collections.abc import Sequence


def relative_half(interval: Sequence[float] | None) -> float:
    """0 for what is exact."""
    if interval is None:
        return 0.0
    low, high = interval
    return (high - low) / (high + low) if high + low else 0.0


def ratio_interval(ratio: float, part: Sequence[float] | None, whole: Sequence[float] | None) -> list[float] | None:
    """The interval of one run's number over another's, which err apart from each other; None if both are exact."""
    half = math.hypot(relative_half(part), relative_half(whole))
    return [ratio * (1 - min(half, 1.0)), ratio * (1 + half)] if half else None
