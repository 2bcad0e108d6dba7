"""How long the rest of a sweep takes, from how long points of each kind have taken so far.

A point's time grows with its graph, and differs by an order of magnitude between algorithms, and between counting and
timing. So seconds per unit of weight are learnt for each kind apart; a kind that has not finished a point yet is taken
at the mean of the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warpsift.remaining_time import RemainingTime

if TYPE_CHECKING:
    from warpsift.sweep.plan import Point

Kind = tuple[str, str, str, bool]
_OVERHEAD_EDGES = 5000  # a run on a tiny graph still takes some time


def weight(point: Point) -> float:
    timed = 20 if point.request.gpu is not None else 1  # timing a stream takes far longer than counting it
    return timed * (point.graph["edges"] + _OVERHEAD_EDGES)


def kind_of(point: Point) -> Kind:
    request = point.request
    return request.algorithm, request.style, request.unit, request.gpu is not None


class SweepEstimate:
    """Told of finished points, it gives the share of the work that is done and the seconds that are left."""

    def __init__(self, points: Iterable[Point]) -> None:
        self._left: dict[Kind, float] = {}  # weight that is still to be done
        for point in points:
            self._left[kind_of(point)] = self._left.get(kind_of(point), 0.0) + weight(point)
        self._done: dict[Kind, tuple[float, float]] = {}  # weight and seconds that are done
        self._remaining = RemainingTime()

    def finished(self, point: Point, seconds: float | None) -> None:
        """`seconds` of work, None for a point that failed or that another sweep has done: it teaches nothing."""
        kind = kind_of(point)
        self._left[kind] = max(self._left.get(kind, 0.0) - weight(point), 0.0)
        if seconds is not None:
            before = self._done.get(kind, (0.0, 0.0))
            self._done[kind] = (before[0] + weight(point), before[1] + seconds)

    @property
    def share(self) -> float:
        """Of the work, in seconds of work; 0 while nothing is known."""
        worked = sum(seconds for _, seconds in self._done.values())
        whole = sum(w for w, _ in self._done.values())
        if not whole:
            return 0.0 if any(self._left.values()) else 1.0
        mean = worked / whole
        left = 0.0
        for kind, amount in self._left.items():
            known = self._done.get(kind)
            left += amount * (known[1] / known[0] if known else mean)
        return worked / (worked + left) if worked + left else 1.0

    def left(self, elapsed: float) -> float | None:
        """Seconds that are left after so many, or None as long as nobody can say."""
        return self._remaining.update(elapsed, self.share)
