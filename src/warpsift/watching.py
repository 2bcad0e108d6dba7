"""Who shows what is going on: at most one at a time, so that two do not write over each other's line.

A progress line says that it is watching. The compiler then tells it how far it is instead of printing dots, and a run
tells it what is being run. Without a watcher both do as they like.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Watcher(Protocol):
    def compiling(self, part: str, functions: int) -> None:
        """So many functions of a part have been compiled; the last call says 0."""

    def running(self, what: str) -> None:
        """A run begins."""


_watchers: list[Watcher] = []


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def watcher() -> Watcher | None:
    """The innermost of those who watch."""
    return _watchers[-1] if _watchers else None


def describe(algorithm: str, graph: str, unit: str, gpu: str | None) -> str:
    """One point in words: what a line of progress begins with."""
    with_unit = "" if unit == "none" else f" with {unit}"
    return f"{algorithm} on {graph}{with_unit}" + (f", {gpu}" if gpu else "")
