"""Runs points on a pool and keeps what comes out; the same for one process, many, and a cluster.

The ledger decides who runs what: a point is claimed before it is started, so that two sweeps on one store share the
work, and a sweep that was killed goes on where it stopped. Only this process writes; workers compute.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warpsift.errors import WarpsiftError
from warpsift.host_cores import usable_cores
from warpsift.run.request import Request
from warpsift.store.canonical_json import to_json
from warpsift.store.store import HEARTBEAT_SECONDS, Record, Store, StoreError, new_owner
from warpsift.sweep.plan import Point, plan
from warpsift.sweep.sweep_progress import SweepProgress
from warpsift.sweep.work import Report, Task, execute
from warpsift.sweep.workers import ClusterError, DaskPool, LocalPool

SMALLEST = "grid-3x3"  # a graph to compile with
POLL_SECONDS = 1.0  # how often to look whether another sweep has finished a point
TRIES_AFTER_CANCEL = 5  # a cluster that cancels a point so often will not run it
TRIES_AFTER_DEATH = 2  # a worker may die for reasons of its own (memory taken by others); not twice over one point


class FailedRun(WarpsiftError):
    """A run that was asked for has failed; the text says why."""


@dataclass(frozen=True)
class SweepOptions:
    """How to run a sweep; none of it changes a result."""

    workers: int | None = None  # local processes; None: one per core
    dask: str | None = None  # address of a scheduler instead
    retry_failed: bool = False
    quiet: bool = False


class Results:
    """What a sweep gave: a record per request, finished or failed."""

    def __init__(self, points: dict[str, Point], records: dict[str, Record]) -> None:
        self._points = points  # by the request's text
        self._records = records

    def __getitem__(self, request: Request) -> Record:
        """The finished record of a request; a failed or missing one is an error that says why."""
        record = self.of(request)
        if record.status != "done":
            raise FailedRun(f"{request.algorithm} on {request.graph} failed: {record.error}")
        return record

    def of(self, request: Request) -> Record:
        """The record of a request, finished or failed."""
        point = self._points.get(to_json(request.as_dict()))
        record = None if point is None else self._records.get(point.key)
        if record is None:
            raise KeyError(f"{request.algorithm} on {request.graph} was not part of this sweep")
        return record

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    @property
    def failed(self) -> list[Record]:
        return [record for record in self if record.status == "failed"]

    def rows(self) -> list[dict[str, Any]]:
        """One flat dictionary per record: `pandas.DataFrame(results.rows())`."""
        return [row for record in self for row in record.rows()]

    def _repr_html_(self) -> str:
        from warpsift.store.export import html_table

        return html_table(self.rows())


@dataclass
class _State:
    todo: deque[Point]
    later: list[Point] = field(default_factory=list)  # another sweep is running these
    running: dict[Future[Report], Point] = field(default_factory=dict)
    again: list[Point] = field(default_factory=list)  # still ours: their worker died, or the cluster let go of them
    deaths: dict[str, int] = field(default_factory=dict)
    lost: list[tuple[Point, Exception]] = field(default_factory=list)  # their workers died once too often
    cancels: dict[str, int] = field(default_factory=dict)


def run_sweep(
    requests: Iterable[Request], store: str | os.PathLike[str], options: SweepOptions | None = None
) -> Results:
    """Run what is not in the store yet and return everything that was asked for."""
    options = options or SweepOptions()
    wanted = list(requests)
    with SweepProgress(enabled=not options.quiet) as progress, Store(store) as ledger:
        points = plan(wanted, progress.note)
        missing = unfinished(points, ledger, options.retry_failed)
        if missing:
            with make_pool(options, missing, progress) as pool:
                progress.start(points, missing)  # the estimate begins when the engine is compiled
                run_points(missing, ledger, pool, progress, options.retry_failed)
        return collect(wanted, points, ledger)


def collect(requests: Iterable[Request], points: list[Point], ledger: Store) -> Results:
    """The records of points, in order."""
    found = {point.key: record for point in points if (record := ledger.record(point.key)) is not None}
    by_text: dict[str, Point] = {}
    texts = {to_json(point.request.as_dict()): point for point in points}
    for request in requests:
        text = to_json(request.as_dict())
        if text not in texts:  # planned under an equal request, written otherwise
            (texts[text],) = plan([request])
        by_text[text] = texts[text]
    return Results(by_text, found)


def unfinished(points: list[Point], ledger: Store, retry_failed: bool) -> list[Point]:
    statuses = ledger.statuses()
    settled = {"done"} if retry_failed else {"done", "failed"}
    return [point for point in points if statuses.get(point.key) not in settled]


def compile_for(points: Iterable[Point], progress: SweepProgress) -> None:
    """Run the smallest point of every kind here, so that kernels and engine are compiled once, and stored, for all.

    What is compiled already is only loaded: some hundredths of a second for each kind.
    """
    from warpsift.graph import load_graph
    from warpsift.run.execute import Observer, run_request

    kinds: dict[tuple[Any, ...], Request] = {}
    for point in points:
        if point.problem is None:
            r = point.request
            kinds.setdefault((r.algorithm, r.style, r.unit, r.gpu is None), r)
    progress.note("preparing the timing engine" if any(r.gpu for r in kinds.values()) else "preparing the kernels")
    graph = load_graph(SMALLEST)
    for request in kinds.values():
        # The source may not be a node of the small graph.
        source: dict[str, Any] = {"source": None} if hasattr(request.options, "source") else {}
        small = replace(request, graph=SMALLEST, check=False, options=replace(request.options, **source))
        with contextlib.suppress(Exception):  # a point that cannot run is recorded when its turn comes
            run_request(small, graph, Observer())


@contextlib.contextmanager
def make_pool(options: SweepOptions, points: list[Point], progress: SweepProgress) -> Iterator[LocalPool | DaskPool]:
    """Workers, ended at once if anything goes wrong. What they need is compiled before they start, not by each."""
    pool: LocalPool | DaskPool
    if options.dask is not None:
        pool = DaskPool(options.dask)
    else:
        compile_for(points, progress)
        pool = LocalPool(max(1, min(options.workers or usable_cores(), len(points))))
    clean = False
    try:
        yield pool
        clean = True
    finally:
        pool.shutdown(wait=True, cancel_futures=not clean)


def run_points(
    points: list[Point], ledger: Store, pool: LocalPool | DaskPool, progress: SweepProgress, retry_failed: bool = False
) -> None:
    """Every point ends as done or failed, here or in another sweep on the same store."""
    owner = new_owner()
    before = time.time() if retry_failed else 0.0
    state = _State(deque(points))
    with _Heartbeat(ledger.path, owner) as heart:
        try:
            while state.todo or state.again or state.running or state.later:
                heart.check()
                _start(state, ledger, pool, progress, (owner, before))
                if state.running:
                    ended, _ = wait(state.running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                    if sum(_keep(state, future, ledger, progress) for future in ended):
                        pool.check()  # before anything is given up: the cluster itself may be gone
                        _give_up(state, ledger, progress)
                elif state.later:
                    progress.note(f"waiting for {len(state.later)} that another sweep is running")
                    time.sleep(POLL_SECONDS)
                if not state.todo and state.later and len(state.running) < pool.slots():
                    state.todo.extend(state.later)
                    state.later.clear()
        finally:
            for future in state.running:
                future.cancel()
            with contextlib.suppress(StoreError):  # the reason we are leaving may be the store itself
                ledger.release(owner)


def _start(
    state: _State, ledger: Store, pool: LocalPool | DaskPool, progress: SweepProgress, claim: tuple[str, float]
) -> None:
    """Claim and submit until the pool is busy."""
    owner, before = claim
    while state.again and len(state.running) < pool.slots():
        _submit(state, pool, state.again.pop())
    while state.todo and len(state.running) < pool.slots():
        point = state.todo.popleft()
        answer = ledger.claim(point, owner, retry_failed_before=before)
        if answer == "busy":
            state.later.append(point)
        elif answer != "mine":
            progress.finished(point, answer, elsewhere=True)
        elif point.problem is not None:
            ledger.fail(point, "MachineError", point.problem)
            progress.finished(point, "failed")
        else:
            _submit(state, pool, point)


def _submit(state: _State, pool: LocalPool | DaskPool, point: Point) -> None:
    alone = isinstance(pool, LocalPool) and 2 * pool.workers <= usable_cores()  # two cores for each point
    task = Task(point.request, point.graph["content_hash"], point.version, 2 if alone else 1)
    state.running[pool.submit(execute, task)] = point


def _keep(state: _State, future: Future[Report], ledger: Store, progress: SweepProgress) -> bool:
    """Write down what came of a task; True if nothing did: it was cancelled, or its worker was lost."""
    point = state.running.pop(future)
    try:
        report = future.result()
    except CancelledError:  # not a failure: nobody has run it
        state.cancels[point.key] = state.cancels.get(point.key, 0) + 1
        state.again.append(point)
        return True
    except Exception as error:  # the worker, not the run: those come back as data
        state.deaths[point.key] = state.deaths.get(point.key, 0) + 1
        if state.deaths[point.key] < TRIES_AFTER_DEATH:
            state.again.append(point)
        else:
            state.lost.append((point, error))
        return True
    if report.result is not None:
        ledger.finish(point, report.result, report.host, report.host_seconds)
        progress.finished(point, "done", seconds=report.host_seconds)
    else:
        ledger.fail(point, report.error_kind, report.error, report.host)
        progress.finished(point, "failed")
    return False


def _give_up(state: _State, ledger: Store, progress: SweepProgress) -> None:
    """The pool is there: what is lost again and again is the fault of the point, or of those who cancel it."""
    for point, error in state.lost:
        ledger.fail(point, type(error).__name__, f"{error} ({state.deaths[point.key]} times)")
        progress.finished(point, "failed")
    state.lost.clear()
    often = [point for point in state.again if state.cancels.get(point.key, 0) >= TRIES_AFTER_CANCEL]
    if often:
        request = often[0].request
        raise ClusterError(
            f"{request.algorithm} on {request.graph} was cancelled {TRIES_AFTER_CANCEL} times by the cluster: "
            "see its scheduler's log; what is not finished is not marked as failed"
        )


class _Heartbeat:
    """Renews the claims of an owner from a thread with its own connection."""

    def __init__(self, path: Path, owner: str) -> None:
        self._path, self._owner = path, owner
        self._stop = threading.Event()
        self._problem: StoreError | None = None
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> _Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def check(self) -> None:
        """Raise what went wrong in the thread."""
        if self._problem is not None:
            raise self._problem

    def _beat(self) -> None:
        try:
            with Store(self._path) as ledger:
                while not self._stop.wait(HEARTBEAT_SECONDS):
                    ledger.heartbeat(self._owner)
        except StoreError as error:
            self._problem = error
