"""How long something will take, as a number that a reader can trust: none at all before it is steady, and no jumps.

The share of the work that is done does not grow evenly: a breadth-first search sees a thousandth of the nodes in its
first half second and most of them in the next. The estimate looks at the speed of the recent third of the time, is kept
back until two estimates in a row agree, and then moves by at most a factor per second.
"""

from __future__ import annotations

import math

LEAST_SHARE = 0.1  # of the work, before anything is said
LEAST_SECONDS = 2.0
AGREEMENT = 2.0  # the first estimate is shown when it has stayed within this factor for a while
STEADY_SECONDS = 1.0
LEAST_LEFT = 1.0  # seconds: less is not said before the end
FACTOR_PER_SECOND = 1.25  # by which a shown estimate may grow or shrink, beside the time that passes


class RemainingTime:
    """Told of the share that is done, it gives the seconds that are left, or None."""

    def __init__(self) -> None:
        self._history: list[tuple[float, float]] = []  # seconds since the beginning, share
        self._shown: tuple[float, float] | None = None  # when, seconds left
        self._steady: tuple[float, float] | None = None  # since when, which estimate

    def update(self, seconds: float, share: float) -> float | None:
        """`seconds` since the work began."""
        if not self._history or share > self._history[-1][1]:
            self._history.append((seconds, share))
        if share >= 1:
            return 0.0
        if share < LEAST_SHARE or seconds < LEAST_SECONDS:
            return None
        estimate = (1 - share) / self._speed(seconds, share)
        if self._shown is None:
            return self._first(seconds, estimate)
        then, before = self._shown
        expected = max(before - (seconds - then), LEAST_LEFT)
        limit = FACTOR_PER_SECOND ** min(seconds - then, 4.0)
        left = max(min(max(estimate, expected / limit), expected * limit), LEAST_LEFT)
        self._shown = (seconds, left)
        return left

    def _speed(self, seconds: float, share: float) -> float:
        """Share per second in the recent third of the time."""
        begin = next(((t, s) for t, s in reversed(self._history) if t <= seconds * 2 / 3), (0.0, 0.0))
        return (share - begin[1]) / max(seconds - begin[0], 1e-9) or share / seconds

    def _first(self, seconds: float, estimate: float) -> float | None:
        estimate = max(estimate, LEAST_LEFT)
        if self._steady is None or abs(math.log(estimate / self._steady[1])) > math.log(AGREEMENT):
            self._steady = (seconds, estimate)
        if seconds - self._steady[0] < STEADY_SECONDS:
            return None
        self._shown = (seconds, estimate)
        return estimate


def in_words(seconds: float) -> str:
    """About so long: no more digits than an estimate has."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
