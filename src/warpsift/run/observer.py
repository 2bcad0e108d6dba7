"""Who wants to hear of a run while it goes on, or to see its stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpsift.simt.stream import Sink


@dataclass(frozen=True)
class Observer:
    """All of it is optional; none of it but `before_engine` changes a result."""

    on_launch: Callable[[str, int], None] | None = None  # phase, number of launches so far
    on_progress: Callable[[float], None] | None = None  # share of the work done, roughly
    on_cycles: Callable[[int], None] | None = None  # simulated core cycles
    also: Sink | None = None  # gets every launch too: a trace writer
    before_engine: Callable[[Sink], Sink] | None = None  # what the engine gets passes through this: what-if studies
