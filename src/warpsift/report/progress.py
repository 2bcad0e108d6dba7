"""A progress line for anything that takes longer than two seconds, on standard error.

On a terminal the line is redrawn; elsewhere (a log file, CI) a line is added every ten seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from warpsift.printable import printable

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
        self._share = 0.0
        self._cycles = 0
        self._over = threading.Event()

    def __enter__(self) -> Progress:
        """A thread redraws the line while one long step runs without telling us anything."""
        if self._enabled:
            threading.Thread(target=self._tick, daemon=True).start()
        return self

    def _tick(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            self._draw()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
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

    def _draw(self) -> None:
        now = time.monotonic()
        elapsed = now - self._start
        wait = REDRAW_SECONDS if self._terminal or not self._shown else LOG_SECONDS
        silent = not self._enabled or not self._text or self._over.is_set()
        if silent or elapsed < QUIET_SECONDS or now - self._shown < wait:
            return
        self._shown = now
        line = printable(f"{self._title}: {self._text}, {elapsed:.0f} s")
        if self._cycles:
            line += f", {self._cycles / 1e6:.2f} M cycles"
        if self._share > 0.02:
            left = elapsed * (1 - self._share) / self._share
            line += f", about {100 * self._share:.0f} % done, {left:.0f} s left"
        sys.stderr.write(f"\r\x1b[K{line[:110]}" if self._terminal else f"{line}\n")
        sys.stderr.flush()
