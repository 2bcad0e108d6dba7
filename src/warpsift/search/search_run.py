"""Runs a search: proposals in batches, run by the workers of sweeps, kept in their store.

A search has no state of its own. What it proposes follows from the file, the seed and the results, and results are
the same to the last digit; so the same command on the same store goes the same way again without a run, and goes on
where it was stopped. `--designs` may be raised later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from warpsift.errors import WarpsiftError
from warpsift.run.set_up import machine_of
from warpsift.search.hypervolume import front
from warpsift.search.proposals import Proposals
from warpsift.search.search_file import Design, SearchError, SearchSpec
from warpsift.search.tried import Tried, judged
from warpsift.store.rows import unit_area_mm2
from warpsift.store.store import Record, Store
from warpsift.sweep.plan import Point, plan
from warpsift.sweep.sweep_progress import SweepProgress
from warpsift.sweep.sweep_run import SweepOptions, collect, make_pool, run_points, unfinished

Evaluate = Callable[[Sequence[Design]], list[Tried]]


@dataclass(frozen=True)
class Found:
    """What a search tried, in its order."""

    spec: SearchSpec
    tried: tuple[Tried, ...]
    records: tuple[Record, ...] = ()
    ran: int = 0  # runs that were not in the store

    @property
    def front(self) -> list[Tried]:
        """Designs that keep the bounds and that no other such design beats, cheapest first by the first objective."""
        allowed = [tried for tried in self.tried if tried.allowed]
        costs = [[tried.costs[name] for name in self.spec.objectives] for tried in allowed]
        return sorted((allowed[k] for k in front(costs)), key=lambda t: t.costs[self.spec.objectives[0]])


def search(
    spec: SearchSpec,
    store: str | os.PathLike[str],
    options: SweepOptions | None = None,
    note: Callable[[list[Tried]], None] | None = None,
) -> Found:
    """Try `spec.designs` designs. `note` hears of each batch."""
    with Runs(spec, store, options or SweepOptions()) as runs:
        tried = propose_and_try(spec, runs.evaluate, note)
        return Found(spec, tuple(tried), tuple(runs.records.values()), runs.ran)


def propose_and_try(
    spec: SearchSpec, evaluate: Evaluate, note: Callable[[list[Tried]], None] | None = None
) -> list[Tried]:
    """The search itself, whoever runs the designs."""
    proposals = Proposals(spec, spec.seed, lambda design: _possible(spec, design))
    tried: list[Tried] = []
    while len(tried) < spec.designs:
        batch = proposals.ask(min(spec.batch, spec.designs - len(tried)))
        if not batch:
            break  # every design of the space was tried
        for each in evaluate(batch):
            proposals.tell(each)
            tried.append(each)
        if note is not None:
            note(tried)
    if not tried:
        raise SearchError("no design can be built within the constraints: widen [design], or raise the bounds")
    return tried


def _possible(spec: SearchSpec, design: Design) -> bool:
    """Whether the machine exists and its area, which needs no run, keeps its bound."""
    bound = (spec.constraints or {}).get("area")
    try:
        requests = spec.requests(design)
        for request in requests:
            machine_of(request)
    except WarpsiftError:
        return False
    if bound is None:
        return True
    areas = [unit_area_mm2(request.as_dict()) for request in requests]
    return all(area is None or area <= bound for area in areas)


class Runs:
    """The store and the workers, open for as long as a search goes on. Use as a context manager."""

    def __init__(self, spec: SearchSpec, store: str | os.PathLike[str], options: SweepOptions) -> None:
        self._spec, self._options = spec, options
        self._stack = ExitStack()
        self._progress = self._stack.enter_context(SweepProgress(enabled=not options.quiet))
        self._ledger = self._stack.enter_context(Store(store))
        self._pool: Any = None
        self._graphs: dict[str, dict[str, Any]] = {}  # content of each graph, read once
        self.records: dict[str, Record] = {}  # by key
        self.ran = 0

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def evaluate(self, designs: Sequence[Design]) -> list[Tried]:
        """Run what the store does not have, and judge every design."""
        requests = [self._spec.requests(design) for design in designs]
        every = [request for group in requests for request in group]
        points = plan(every, self._progress.note, self._graphs)
        self._run(points, unfinished(points, self._ledger, self._options.retry_failed))
        results = collect(every, points, self._ledger)
        self.records |= {record.key: record for record in results}
        return [
            judged(self._spec, design, [results.of(request) for request in group])
            for design, group in zip(designs, requests, strict=True)
        ]

    def _run(self, points: list[Point], missing: list[Point]) -> None:
        if not missing:
            return
        if self._pool is None:
            self._pool = self._stack.enter_context(make_pool(self._options, missing, self._progress))
        self._progress.start(points, missing)
        run_points(missing, self._ledger, self._pool, self._progress, self._options.retry_failed)
        self.ran += len(missing)
