"""Shared by the tests of stores, sweeps and pools: small points, and a pool in this process that can be watched."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import Executor, Future, InvalidStateError
from typing import Any

from warpsift.run.request import Request, make_request
from warpsift.store.store import Record
from warpsift.sweep import plan
from warpsift.sweep.plan import Point


def requests(count: int, graph: str = "grid-5x5", **choices: str) -> list[Request]:
    return [make_request("bfs", graph, choices | {"seed": seed}) for seed in range(1, count + 1)]


def points(count: int, graph: str = "grid-5x5", **choices: str) -> list[Point]:
    return plan(requests(count, graph, **choices))


def outcome(record: Record) -> tuple[Any, ...]:
    """What must not depend on who ran it."""
    return record.key, record.status, record.request, record.graph, record.machine, record.result, record.error


class WatchedPool(Executor):
    """Runs tasks in this process, a thread each, and remembers them."""

    def __init__(self, slots: int = 2) -> None:
        self._slots = slots
        self.tasks: list[Any] = []

    def slots(self) -> int:
        return self._slots

    def check(self) -> None:
        pass

    def submit(self, fn, /, *args, **kwargs):
        self.tasks.append(args[0])
        future: Future = Future()

        def work() -> None:
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
                    future.set_result(result)

        threading.Thread(target=work, daemon=True).start()
        return future
