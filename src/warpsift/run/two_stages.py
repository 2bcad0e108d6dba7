"""Two stages on two cores: the kernels' function runs ahead while the engine times what they have recorded.

The function never waits for timing. So launches go through a queue to a thread of their own, in which the engine runs
without Python's lock; the counters are those of a run on one core, to the last digit. The queue is bounded by bytes:
who records too far ahead waits. An error of the engine is raised in the thread that records, at its next launch or
chunk, with its own type; whatever ends the recording (Ctrl-C too) stops the engine within one of its pauses.

A unit that reads device memory while it is timed (the fast-forward unit follows the edges) must find what the kernel
saw: after a launch with such a binding the recording waits until it is timed.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from warpsift.host_cores import usable_cores
from warpsift.run.request import RequestError
from warpsift.simt.stream import Chunk, LaunchInfo, Sink, UnitChunk, UnitInfo, UnitOperation

QUEUED_BYTES = 256 << 20  # recorded and not yet taken by the engine; a single chunk may be larger
# How long a thread may hold Python's lock while the other wants it. The engine wants it some hundred times a second,
# for microseconds; at Python's 5 ms it would wait for most of the run.
HANDOVER_SECONDS = 2e-4
NOTE_BYTES = 1 << 10  # what the beginning or end of a launch counts as, so that their number is bounded too


def stages_on(threads: int | None) -> Stages:
    """How a run's two stages share so many cores; None: two where there are two."""
    if threads is not None and threads < 1:
        raise RequestError(f"threads={threads}: a run takes 1 or 2 (--threads 1)")
    return TwoStages() if (threads or usable_cores()) > 1 else Stages()


class Stopped(Exception):
    """The engine is told to end: nobody wants its results any more."""


@dataclass(frozen=True)
class _Queued:
    """An operation whose pieces come through the queue."""

    info: UnitInfo
    pieces: Iterator[UnitChunk]

    def chunks(self) -> Iterator[UnitChunk]:
        return self.pieces


class Stages:
    """One stage after the other, in one thread: what `TwoStages` does for those who do not want a second."""

    def __init__(self) -> None:
        self._sink: Sink | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def heed(self, progress: Callable[[int], None] | None) -> Callable[[int], None] | None:
        """What the engine calls when it comes up for air."""
        return progress

    def feeding(self, sink: Sink | None) -> Sink | None:
        """The sink to record to, so that this one gets it all."""
        return sink

    def wait(self) -> None:
        """Until the engine is through with everything that it was given."""


class TwoStages(Stages):
    """A sink that hands everything on to another one in a thread of its own. Leave it by `with`; `wait` for the end."""

    def __init__(self) -> None:
        super().__init__()
        self._items: deque[tuple[str, Any, int]] = deque()
        self._bytes = 0
        self._unfinished = 0
        self._changed = threading.Condition()
        self._stop = False
        self._error: BaseException | None = None
        self._reads_memory = False
        self._patience = sys.getswitchinterval()
        self._thread = threading.Thread(target=self._work, name="warpsift engine", daemon=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        sys.setswitchinterval(self._patience)

    def feeding(self, sink: Sink | None) -> Sink | None:
        if sink is None:
            return None
        self._sink = sink
        sys.setswitchinterval(HANDOVER_SECONDS)
        self._thread.start()
        return self

    def heed(self, progress: Callable[[int], None] | None) -> Callable[[int], None]:
        """As the progress that is given; but the engine ends here if it is told to."""

        def told(cycles: int) -> None:
            if self._stop:
                raise Stopped
            if progress is not None:
                progress(cycles)

        return told

    # ---- the sink, in the thread that records ----------------------------------------------------------------

    def begin(self, launch: LaunchInfo) -> None:
        self._reads_memory = bool(launch.bindings)
        self._put("begin", launch, NOTE_BYTES)

    def chunk(self, chunk: Chunk) -> None:
        arrays = (chunk.ops, chunk.warp_first, chunk.transactions, chunk.commands)
        self._put("chunk", chunk, sum(array.nbytes for array in arrays))

    def end(self) -> None:
        self._put("end", None, NOTE_BYTES)
        if self._reads_memory:
            self.wait()

    def operation(self, operation: UnitOperation) -> None:
        self._put("operation", operation.info, NOTE_BYTES)
        for piece in operation.chunks():
            held = vars(piece).values() if hasattr(piece, "__dict__") else ()
            self._put("piece", piece, NOTE_BYTES + sum(part.nbytes for part in held if isinstance(part, np.ndarray)))
        self._put("last piece", None, NOTE_BYTES)

    def wait(self) -> None:
        with self._changed:
            while self._unfinished and self._error is None:
                self._changed.wait()
        self._raise()

    def _put(self, what: str, content: Any, size: int) -> None:
        with self._changed:
            while self._items and self._bytes + size > QUEUED_BYTES and self._error is None:
                self._changed.wait()
            if self._error is None:
                self._items.append((what, content, size))
                self._bytes += size
                self._unfinished += 1
                self._changed.notify_all()
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    # ---- the thread of the engine ----------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while (item := self._get()) is not None:
                self._hand_on(*item)
                self._finish()
        except Stopped:
            pass
        except BaseException as error:  # whatever it is, the thread that records raises it
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _hand_on(self, what: str, content: Any) -> None:
        assert self._sink is not None
        if what == "begin":
            self._sink.begin(content)
        elif what == "chunk":
            self._sink.chunk(content)
        elif what == "end":
            self._sink.end()
        else:
            self._sink.operation(_Queued(content, self._pieces()))

    def _pieces(self) -> Iterator[UnitChunk]:
        """The pieces of the operation at the head of the queue."""
        while True:
            item = self._get()
            if item is None:
                raise Stopped
            self._finish()
            if item[0] == "last piece":
                return
            yield item[1]

    def _get(self) -> tuple[str, Any] | None:
        """The next item; None when there will be none."""
        with self._changed:
            while not self._items and not self._stop:
                self._changed.wait()
            if self._stop:
                return None
            what, content, size = self._items.popleft()
            self._bytes -= size
            self._changed.notify_all()
        return what, content

    def _finish(self) -> None:
        with self._changed:
            self._unfinished -= 1
            self._changed.notify_all()
