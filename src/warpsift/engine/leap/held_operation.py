"""An operation of a unit whose first pieces have been looked at already, so that it could be chosen."""

from __future__ import annotations

from collections.abc import Iterator

from warpsift.simt.stream import UnitChunk, UnitOperation


class HeldOperation:
    """Gives its pieces once more, the first from memory."""

    def __init__(self, operation: UnitOperation, first: list[UnitChunk], rest: Iterator[UnitChunk]) -> None:
        self.info = operation.info
        self._first, self._rest = first, rest

    def chunks(self) -> Iterator[UnitChunk]:
        yield from self._first
        yield from self._rest
