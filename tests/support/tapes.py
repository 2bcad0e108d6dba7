"""A sink that keeps everything, to be looked at or replayed to an engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpsift.simt.stream import Chunk, LaunchInfo, UnitOperation


class Tape:
    """Launches with their chunks, in order."""

    def __init__(self) -> None:
        self.launches: list[tuple[LaunchInfo, list[Chunk]]] = []

    def begin(self, launch: LaunchInfo) -> None:
        self.launches.append((launch, []))

    def chunk(self, chunk: Chunk) -> None:
        self.launches[-1][1].append(chunk)

    def end(self) -> None:
        pass

    def operation(self, operation: UnitOperation) -> None:
        raise AssertionError("a unit's operation among the launches of this test")

    @property
    def info(self) -> list[LaunchInfo]:
        return [launch for launch, _ in self.launches]

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for _, chunks in self.launches for chunk in chunks]

    def replay(self, engine: Any) -> Any:
        """Time the launches; gives the engine's counters."""
        for launch, chunks in self.launches:
            engine.begin(launch)
            for chunk in chunks:
                engine.chunk(chunk)
            engine.end()
        return engine.total

    def warps(self) -> Iterator[tuple[Any, list[Any]]]:
        """(ops, transactions of each op) of every warp of every launch."""
        for _, chunks in self.launches:
            for chunk in chunks:
                for w in range(chunk.warps):
                    ops = chunk.ops[chunk.warp_first[w] : chunk.warp_first[w + 1]]
                    yield ops, [chunk.transactions[o["first"] : o["first"] + o["transactions"]] for o in ops]
