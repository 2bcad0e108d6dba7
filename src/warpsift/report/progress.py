"""A progress line for anything that takes longer than two seconds, on standard error.

On a terminal the line is redrawn; elsewhere (a log file, CI) a line is added every ten seconds. It says what is run,
with which unit, and the launch; while the engine is compiled it says that instead, and that time is not counted when
the rest is estimated.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from contextlib import ExitStack
from types import TracebackType

from warpsift.printable import printable
from warpsift.remaining_time import RemainingTime, in_words
from warpsift.watching import watching

QUIET_SECONDS = 2.0
REDRAW_SECONDS = 0.2
LOG_SECONDS = 10.0
TICK_SECONDS = 0.5


class Progress:
    """Use as a context manager; call `note` and `share` as often as you like."""

    def __init__(self, title: str, enabled: bool = True) -> None:
        self._title = title
        self._enabled = enabled
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._shown = 0.0
        self._text = ""
        self._cycles = 0
        self._compiling: tuple[str, float] | None = None  # what, and since when
        self._over = threading.Event()
        self._watch = ExitStack()
        self._begin_run()

    def _begin_run(self) -> None:
        self._run_start = time.monotonic()
        self._share = 0.0
        self._cycles = 0
        self._remaining = RemainingTime()

    def __enter__(self) -> Progress:
        """A thread redraws the line while one long step runs without telling us anything."""
        if self._enabled:
            self._watch.enter_context(watching(self))
            threading.Thread(target=self._tick, daemon=True).start()
        return self

    def _tick(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            self._draw()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._watch.close()
        if self._shown and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def note(self, text: str) -> None:
        """What is being done now."""
        self._text = text
        self._draw()

    def share(self, done: float) -> None:
        """How much is done, from 0 to 1."""
        self._share = max(self._share, done)
        self._draw()

    def cycles(self, now: int) -> None:
        """How many cycles have been simulated."""
        self._cycles = now
        self._draw()

    def running(self, what: str) -> None:
        """Another run begins: its own name, its own share."""
        self._title = what
        self._begin_run()

    def compiling(self, part: str, functions: int) -> None:
        """The engine is compiled meanwhile; `functions` 0 when that is over."""
        now = time.monotonic()
        if functions:
            since = self._compiling[1] if self._compiling else now
            self._compiling = (f"compiling {part} (once), {functions} functions", since)
        elif self._compiling is not None:
            self._run_start += now - self._compiling[1]
            self._compiling = None
        self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        elapsed = now - self._start
        wait = REDRAW_SECONDS if self._terminal or not self._shown else LOG_SECONDS
        silent = not self._enabled or not (self._text or self._compiling) or self._over.is_set()
        if silent or elapsed < QUIET_SECONDS or now - self._shown < wait:
            return
        self._shown = now
        line = self.line(now)
        room = shutil.get_terminal_size((110, 24)).columns - 1
        sys.stderr.write(f"\r\x1b[K{line[:room]}" if self._terminal else f"{line}\n")
        sys.stderr.flush()

    def line(self, now: float) -> str:
        """What is shown at a moment."""
        elapsed = now - self._start
        if self._compiling is not None:
            return printable(f"{self._title}: {self._compiling[0]}, {elapsed:.0f} s")
        line = printable(f"{self._title}: {self._text}, {elapsed:.0f} s")
        if self._cycles:
            line += f", {self._cycles / 1e6:.2f} M cycles"
        left = self._remaining.update(now - self._run_start, self._share)
        if self._share > 0.02:
            line += f", about {100 * self._share:.0f} % done"
        return line + (f", {in_words(left)} left" if left else "")
