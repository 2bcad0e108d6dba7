"""How far a sweep is: a bar with the remaining time on a terminal, a line now and then in a log.

Both name the point that finished last: algorithm, graph, unit, GPU and changed parameters.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from warpsift.printable import printable
from warpsift.remaining_time import in_words
from warpsift.sweep.sweep_estimate import SweepEstimate
from warpsift.watching import describe, watching

if TYPE_CHECKING:
    from warpsift.sweep.plan import Point

LOG_SECONDS = 10.0
NAME_LETTERS = 56  # of a point, beside the bar


def point_name(point: Point) -> str:
    """What tells a point from its neighbours."""
    request = point.request
    name = describe(request.algorithm, str(point.graph["name"]), request.unit, request.gpu)
    return ", ".join([name, *(f"{key}={value}" for key, value in request.overrides.items())])


class SweepProgress:
    """Use as a context manager."""

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._bar: Any = None
        self._task: Any = None
        self._total = self._done = self._failed = 0
        self._estimate = SweepEstimate(())
        self._started = self._said = time.monotonic()
        self._watch = ExitStack()

    def __enter__(self) -> SweepProgress:
        if self._enabled:
            self._watch.enter_context(watching(self))
        if self._enabled and sys.stderr.isatty():
            self._bar = _bar()
            self._bar.start()
            self._task = self._bar.add_task("planning", total=None, counts="", left="")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._watch.close()
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        """What is being done now."""
        if self._bar is not None:
            self._bar.update(self._task, description=_cut(text))

    def compiling(self, part: str, functions: int) -> None:
        """The engine is compiled before the workers start: on the bar's line, or a line when it begins and ends."""
        if self._bar is not None:
            self.note(f"compiling {part} (once), {functions} functions" if functions else "preparing the workers")
        elif functions == 1:
            self._write(f"warpsift: compiling {part} (once)\n")

    def running(self, what: str) -> None:
        """Runs of this process only compile; points run in the workers."""

    def start(self, points: list[Point], missing: list[Point]) -> None:
        """The work is known; what is stored already does not count."""
        self._total, self._done, self._failed = len(missing), 0, 0  # a search starts anew with every batch
        self._estimate = SweepEstimate(missing)
        self._started = self._said = time.monotonic()
        if self._bar is not None:
            stored = len(points) - len(missing)
            text = f"sweep ({stored} stored)" if stored else "sweep"
            self._bar.reset(self._task, total=1.0, description=text, counts=f"0/{self._total}", left="")

    def finished(self, point: Point, status: str, *, elsewhere: bool = False, seconds: float | None = None) -> None:
        """One more point is done or failed, perhaps by another sweep; `seconds` of work it took."""
        self._done += 1
        self._failed += status == "failed"
        self._estimate.finished(point, None if elsewhere else seconds)
        now = time.monotonic()
        left = self._estimate.left(now - self._started)
        failed = f", {self._failed} failed" if self._failed else ""
        if self._bar is not None:
            counts = f"{self._done}/{self._total}{failed}"
            words = f"{in_words(left)} left" if left else ""
            share = self._estimate.share
            self._bar.update(
                self._task, completed=share, counts=counts, left=words, description=_cut(point_name(point))
            )
        elif self._enabled and (now - self._said > LOG_SECONDS):
            self._said = now
            rest = f", {in_words(left)} left" if left else ""
            done = f"{self._done} of {self._total} points{failed}, {now - self._started:.0f} s{rest}"
            self._write(f"sweep: {printable(point_name(point))} finished, {done}\n")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _cut(text: str) -> str:
    return text if len(text) <= NAME_LETTERS else text[: NAME_LETTERS - 1] + "…"


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[counts]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
