"""The claims of both papers as one table, from one store."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from warpsift.errors import WarpsiftError, unknown
from warpsift.run.reading import reading_named
from warpsift.store.store import Store
from warpsift.studies.claim import Claim, Judged, judge, summary, verdicts
from warpsift.studies.markdown_rows import head, line
from warpsift.studies.marked_page import as_list, put_between_marks
from warpsift.studies.stored_runs import FULL_SIZE, SIZES, StoredRuns

CLAIMS = {"scu": "warpsift.studies.scu.scu_claims", "mff": "warpsift.studies.mff.mff_claims"}


class ClaimsError(WarpsiftError):
    """A paper that has no claims here, or a reading that is silent about it."""


def claims_of(paper: str) -> Sequence[Claim]:
    if paper not in CLAIMS:
        raise ClaimsError(unknown("paper", paper, list(CLAIMS)))
    return tuple(import_module(CLAIMS[paper]).CLAIMS)


def papers_of(paper: str | None) -> list[str]:
    """The paper that is asked for, or all of them."""
    return [paper] if paper is not None else list(CLAIMS)


def stored_runs(store: Path, readings: Sequence[str], paper: str | None, full_size: bool) -> list[StoredRuns]:
    """The finished runs of each reading; it must speak of each paper that is asked for.

    `full_size` leaves out parts of graphs: what holds for an eighth need not hold for the whole.
    """
    if not readings:
        raise ClaimsError("no reading: write --readings authors,hardware")
    for name in papers_of(paper):
        claims_of(name)
        for reading in readings:
            if name not in {choice.unit for choice in reading_named(reading).choices}:
                raise ClaimsError(f"reading '{reading}' says nothing of the {name} paper: leave one of them out")
    with Store(store, readonly=True) as ledger:
        records = ledger.records(("done",))
    return [StoredRuns(records, reading, FULL_SIZE if full_size else SIZES) for reading in readings]


def judged_claims(
    store: Path, readings: Sequence[str], paper: str | None = None, full_size: bool = False
) -> list[Judged]:
    """The claims of one paper, or of both, misses first."""
    runs = stored_runs(store, readings, paper, full_size)
    return judge([claim for name in papers_of(paper) for claim in claims_of(name)], runs)


def columns(readings: Sequence[str]) -> list[str]:
    return ["claim", "paper", *readings, "spread", "ideal bound", "cause", "verdict", "graphs"]


def write_csv(path: Path, judged: Sequence[Judged]) -> None:
    """The table with its summary in the first line, as a comment."""
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {summary(judged)}\n")
        writer = csv.writer(file)
        writer.writerow(["paper", *columns(list(judged[0].ours) if judged else [])])
        writer.writerows([[each.claim.paper, *each.cells()] for each in judged])


def write_page(path: Path, judged: Sequence[Judged]) -> None:
    """The table in a Markdown page; graphs are left to the CSV file."""
    names = columns(list(judged[0].ours) if judged else [])[:-1]
    table = "\n".join([head(names), *(line(each.cells()[:-1]) for each in judged)])
    put_between_marks(path, "claims", f"{as_list(verdicts(judged))}\n\n{table}\n")
