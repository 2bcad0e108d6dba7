"""How far a sweep is: a bar with the remaining time on a terminal, a line now and then in a log.

Points weigh as much as their graph has edges, since the time of a run grows with them.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpsift.sweep.plan import Point

LOG_SECONDS = 10.0
_OVERHEAD_EDGES = 5000  # a run on a tiny graph still takes some time


def weight(point: Point) -> float:
    timed = 20 if point.request.gpu is not None else 1  # timing a stream takes far longer than counting it
    return timed * (point.graph["edges"] + _OVERHEAD_EDGES)


class SweepProgress:
    """Use as a context manager."""

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._bar: Any = None
        self._task: Any = None
        self._total = self._done = self._failed = self._elsewhere = 0
        self._weights = self._weight_done = 0.0
        self._started = self._said = time.monotonic()

    def __enter__(self) -> SweepProgress:
        if self._enabled and sys.stderr.isatty():
            self._bar = _bar()
            self._bar.start()
            self._task = self._bar.add_task("planning", total=None, counts="")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        """What is being done now."""
        if self._bar is not None:
            self._bar.update(self._task, description=text[:40])

    def start(self, points: list[Point], missing: list[Point]) -> None:
        """The work is known; what is stored already does not count."""
        self._total = len(missing)
        self._weights = sum(map(weight, missing))
        self._started = self._said = time.monotonic()
        if self._bar is not None:
            stored = len(points) - len(missing)
            text = f"sweep ({stored} stored)" if stored else "sweep"
            self._bar.reset(self._task, total=self._weights or 1, description=text, counts=f"0/{self._total}")

    def finished(self, point: Point, status: str, *, elsewhere: bool = False) -> None:
        """One more point is done or failed, perhaps by another sweep."""
        self._done += 1
        self._failed += status == "failed"
        self._elsewhere += elsewhere
        self._weight_done += weight(point)
        if self._bar is not None:
            failed = f", {self._failed} failed" if self._failed else ""
            name = f"{point.request.algorithm} on {point.graph['name']}"
            counts = f"{self._done}/{self._total}{failed}"
            self._bar.update(self._task, completed=self._weight_done, counts=counts, description=name[:40])
        elif self._enabled and (time.monotonic() - self._said > LOG_SECONDS):
            self._said = time.monotonic()
            self._log()

    def _log(self) -> None:
        elapsed = self._said - self._started
        left = elapsed * (self._weights - self._weight_done) / self._weight_done
        failed = f", {self._failed} failed" if self._failed else ""
        sys.stderr.write(f"sweep: {self._done} of {self._total} points{failed}, {elapsed:.0f} s, {left:.0f} s left\n")
        sys.stderr.flush()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[counts]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        # Points are few and long: look back far, or the estimate vanishes between two of them.
        TimeRemainingColumn(elapsed_when_finished=False),
        console=Console(stderr=True),
        speed_estimate_period=3600,
        transient=True,
    )
