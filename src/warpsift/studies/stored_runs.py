"""Finished runs of a store, found by what was asked, whatever version of the sources made them.

A claim of a paper is about six graphs and several sources. What of that is in the store is used, the largest size of
each graph first, and the names of the graphs go along with every number. Joules are those of the stored counters at
today's prices.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from warpsift.run.request import Request, make_request
from warpsift.store.canonical_json import to_json
from warpsift.store.rows import geometric_mean
from warpsift.store.store import Record
from warpsift.store.stored_energy import repriced

Run = dict[str, Any]
SIZES = ("", "@1/2", "@1/4", "@1/8", "@1/16", "@1/32")  # behind a graph's name, the largest first
FULL_SIZE = SIZES[:1]
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Measured:
    """One number: over which graphs, and what it would be with the unit at its analytic floor."""

    value: float
    by_graph: dict[str, float]
    bound: float | None = None
    cause: str = ""  # which bound decides the floor
    each: tuple[float, ...] = ()  # of every graph and source
    sources: int = 1  # at most, of one graph

    @property
    def graphs(self) -> str:
        return ", ".join(self.by_graph)


def asked_of(request: dict[str, Any]) -> str:
    """What tells runs apart: not how they were watched or checked, nor the reading's name: its choices are in it.

    Options at their defaults are left out, so that a run which is older than an option is found too.
    """
    aside = ("check", "sample_interval_cycles", "reading")
    said = {name: value for name, value in request.items() if name not in aside}
    said["overrides"] = {key: str(value).lower() for key, value in request["overrides"].items()}
    usual = _usual_options(str(request["algorithm"]), str(request["unit"]))
    said["options"] = {name: value for name, value in request["options"].items() if value != usual.get(name, ...)}
    return to_json(said)


@functools.cache
def _usual_options(algorithm: str, unit: str) -> dict[str, Any]:
    return asdict(make_request(algorithm, "", {"unit": unit}).options)


class StoredRuns:
    """The finished runs of one store under one reading."""

    def __init__(
        self,
        records: Iterable[Record],
        reading: str,
        sizes: Sequence[str] = SIZES,
        *,
        sample: int = 0,
        files: Mapping[str, str] | None = None,
    ) -> None:
        """`sizes` of a graph are looked for in this order; `files` are graphs that were read from a user's file."""
        self.reading, self.sizes = reading, sizes
        self._sample, self._files = sample, files or {}
        self._found: dict[str, Record] = {}
        self._priced: dict[str, Run] = {}  # by what was asked
        for record in sorted(records, key=lambda r: r.finished_at or 0.0):
            if record.status == "done":
                self._found[asked_of(dict(record.request))] = record  # the newest stays
        self.graphs = {str(record.request["graph"]) for record in self._found.values()}

    def request(self, algorithm: str, graph: str, gpu: str, unit: str, **changes: Any) -> Request:
        """The request of a run under this reading."""
        choices: dict[str, Any] = {"gpu": gpu, "unit": unit, "reading": self.reading, "sample": self._sample, **changes}
        if algorithm == "pagerank":
            choices.setdefault("max_iterations", 2)  # all iterations do the same work
        return make_request(algorithm, graph, choices)

    def record(self, request: Request) -> Record | None:
        return self._found.get(asked_of(request.as_dict()))

    def priced(self, request: Request) -> Record | None:
        """The record of a request with its energy at today's prices."""
        record = self.record(request)
        return None if record is None else record._replace(result=self._run(record))

    def pairs(self, graph: str, wanted: Callable[[str, int], Sequence[Request]]) -> tuple[str, list[list[Run]]]:
        """The largest size of a graph of which all wanted runs of a source are there, with one list per source."""
        for name in [self._files[graph]] if graph in self._files else [graph + size for size in self.sizes]:
            found = []
            for seed in SEEDS:
                records = [self.record(request) for request in wanted(name, seed)]
                if all(record is not None for record in records):
                    found.append([record for record in records if record is not None])
            if found:
                graph_facts = found[0][0].graph
                real = "" if graph_facts.get("stand_in_for") or graph_facts.get("generated") else " (real)"
                return f"{graph if graph in self._files else name}{real}", [
                    [self._run(r) for r in runs] for runs in found
                ]
        return graph, []

    def _run(self, record: Record) -> Run:
        """A run at today's prices, with what was asked of it."""
        text = asked_of(dict(record.request))
        if text not in self._priced:
            self._priced[text] = {**repriced(record), "asked": dict(record.request)}
        return self._priced[text]


def over_graphs(
    runs: StoredRuns,
    graphs: Iterable[str],
    wanted: Callable[[str, int], Sequence[Request]],
    measure: Callable[..., float],
    bound: Callable[..., float] | None = None,
    *,
    geometric: bool = True,
) -> Measured | None:
    """A measure of the wanted runs: the mean over sources, then over graphs; None where there are none."""
    values: dict[str, float] = {}
    apart: list[list[float]] = []  # by graph, then by source
    bounds: list[float] = []
    causes: dict[str, float] = {}
    for graph in graphs:
        name, found = runs.pairs(graph, wanted)
        if not found:
            continue
        apart.append([measure(*each) for each in found])
        values[name] = statistics.fmean(apart[-1])
        if bound is not None:
            bounds.append(statistics.fmean(bound(*each) for each in found))
        for cause, cycles in (found[0][-1].get("unit_floor_cycles_by_bound") or {}).items():
            causes[cause] = causes.get(cause, 0.0) + cycles
    if not values:
        return None
    mean = geometric_mean if geometric and min(values.values()) > 0 else statistics.fmean
    return Measured(
        mean(list(values.values())),
        values,
        mean(bounds) if bounds else None,
        max(causes, key=lambda name: causes[name]) if causes else "",
        tuple(value for sources in apart for value in sources),
        max(map(len, apart)),
    )
