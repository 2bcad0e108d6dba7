"""Why a claim is missed: the two runs that it compares, again with one choice of the reading changed.
Or the same runs, counted otherwise.

    warpsift sweep examples/claims_scu.toml --store claims.db
    warpsift sweep examples/scu_misses.toml --store claims.db
    warpsift claims --experiments --store claims.db

A cause is shown where the change brings the number to the paper's, and refuted where it does not move.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from warpsift.run.request import Request
from warpsift.studies.claim import Claim
from warpsift.studies.markdown_rows import head, line
from warpsift.studies.marked_page import put_between_marks
from warpsift.studies.stored_runs import Run, StoredRuns

EXPERIMENTS = {
    "scu": "warpsift.studies.scu.scu_claim_experiments",
    "mff": "warpsift.studies.mff.mff_claim_experiments",
}
READING = "authors"
COLUMNS = ("claim", "graph", "paper", "as read", "what is changed", "then")
Measure = Callable[[Run, Run], float]


@dataclass(frozen=True)
class Side:
    """One of the two runs: its unit, and what is asked of it."""

    unit: str
    asked: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """Two runs of an algorithm on a graph as the reading has them, and with a change to the one, the other or both."""

    claim: str  # its name in the table of claims
    case: tuple[str, str, str]  # algorithm, GPU, graph
    change: str  # in words
    measure: Measure
    sides: tuple[Side, Side]
    changed: tuple[Side, Side]
    counted: Measure | None = None  # if the change is what is counted
    reading: str = READING  # of the changed runs

    def requests(self, runs: StoredRuns, sides: tuple[Side, Side]) -> list[Request]:
        algorithm, gpu, graph = self.case
        return [runs.request(algorithm, graph, gpu, side.unit, seed=1, **side.asked) for side in sides]


@dataclass(frozen=True)
class Repricing:
    """A claim of area or power that needs no run, priced otherwise."""

    claim: str
    change: str
    price: Callable[[StoredRuns], float]  # with the change

    case = ("", "", "")


@dataclass(frozen=True)
class Outcome:
    """An experiment with its two numbers; None where a run is not in the store."""

    experiment: Experiment | Repricing
    claim: Claim
    before: float | None
    after: float | None

    def cells(self) -> list[str]:
        claim, experiment = self.claim, self.experiment
        shown = [claim.shown(self.before), experiment.change, claim.shown(self.after)]
        return [f"{claim.name} ({claim.where})", experiment.case[2], claim.stated, *shown]

    def as_dict(self) -> dict[str, Any]:
        algorithm, gpu, graph = self.experiment.case
        row: dict[str, Any] = {"paper": self.claim.paper, "claim": self.claim.name, "stated": self.claim.stated}
        row |= {"algorithm": algorithm, "gpu": gpu, "graph": graph, "change": self.experiment.change}
        return row | {"as_read": self.before, "changed": self.after}


def outcomes(paper: str, claims: Sequence[Claim], stored: Callable[[str], StoredRuns]) -> list[Outcome]:
    """The experiments of a paper of which both numbers, or one, are in the store; `stored` gives a reading's runs."""
    named = {claim.name: claim for claim in claims}
    found = []
    module = import_module(EXPERIMENTS[paper])
    for experiment in module.EXPERIMENTS:
        before = _number(experiment, stored(READING), experiment.sides, experiment.measure)
        counted = experiment.counted or experiment.measure
        after = _number(experiment, stored(experiment.reading), experiment.changed, counted)
        if after is not None:
            found.append(Outcome(experiment, named[experiment.claim], before, after))
    runs = stored(READING)
    for repricing in module.REPRICINGS:
        claim = named[repricing.claim]
        measured = claim.measure(runs)
        found.append(Outcome(repricing, claim, measured.value if measured else None, repricing.price(runs)))
    return found


def _number(experiment: Experiment, runs: StoredRuns, sides: tuple[Side, Side], measure: Measure) -> float | None:
    records = [runs.priced(request) for request in experiment.requests(runs, sides)]
    both = [dict(record.result) for record in records if record is not None and record.result is not None]
    return measure(*both) if len(both) == 2 else None


def write_experiments(found: Sequence[Outcome], file: Path | None, page: Path | None) -> None:
    """As CSV, and between the marks of a Markdown page."""
    if file is not None:
        with file.open("w", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened)
            writer.writerow(COLUMNS)
            writer.writerows(each.cells() for each in found)
    if page is not None:
        put_between_marks(page, "experiments", "\n".join([head(COLUMNS), *(line(each.cells()) for each in found)]))
