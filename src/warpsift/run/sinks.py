"""One stream, two readers: counting beside timing, with a word to the progress line now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from warpsift.simt.stream import Chunk, LaunchInfo, Sink, UnitChunk, UnitInfo, UnitOperation
from warpsift.simt.stream_counter import Counter, OperationRecord


@dataclass(frozen=True)
class _Passing:
    """An operation whose chunks are looked at as they pass."""

    info: UnitInfo
    pieces: Iterable[UnitChunk]

    def chunks(self) -> Iterable[UnitChunk]:
        return self.pieces


class Observed(Counter):
    """Counts launches and unit operations, hands them on to a timing engine if there is one, and tells `notify`.

    `also` is a further sink, such as a trace writer.
    """

    def __init__(
        self, engine: Any = None, notify: Callable[[str, int], None] | None = None, also: Sink | None = None
    ) -> None:
        super().__init__()
        self.engine: Sink | None = engine
        self._also = also
        self._others = [sink for sink in (engine, also) if sink is not None]
        self._notify = notify

    def begin(self, launch: LaunchInfo) -> None:
        super().begin(launch)
        for sink in self._others:
            sink.begin(launch)

    def chunk(self, chunk: Chunk) -> None:
        super().chunk(chunk)
        for sink in self._others:
            sink.chunk(chunk)
        if self._notify is not None:
            self._notify(self.launches[-1].info.phase, len(self.launches))

    def end(self) -> None:
        super().end()
        for sink in self._others:
            sink.end()

    def operation(self, operation: UnitOperation) -> None:
        if self._also is not None:
            self._also.operation(operation)
        if self.engine is None:
            super().operation(operation)
            return
        record = OperationRecord(operation.info)
        self.engine.operation(_Passing(operation.info, self._counted(operation, record)))
        self.operations.append(record)

    @staticmethod
    def _counted(operation: UnitOperation, record: OperationRecord) -> Iterator[UnitChunk]:
        for chunk in operation.chunks():
            for name, value in chunk.counts().items():
                record.counters[name] = record.counters.get(name, 0) + value
            yield chunk
