"""A number that a paper states, and how ours compare with it under each reading.

met             within 25 % of the paper's number, or inside of its range
same direction  on the paper's side of what would be no effect
opposite        on the other side
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warpsift.run.reading import reading_named
from warpsift.studies.stored_runs import Measured, StoredRuns

NEAR = 0.25  # of the paper's number
MET, SAME, OPPOSITE, MISSING = "met within 25 %", "same direction", "opposite", "not run"
HELPED = "* this claim helped to choose the reading; all others are predictions"  # below a table
ORDER = (OPPOSITE, SAME, MET, MISSING)  # of a table: misses first


@dataclass(frozen=True)
class Claim:
    """One statement of a paper."""

    paper: str
    name: str
    where: str  # in the paper
    value: float  # of a range: its lower end
    measure: Callable[[StoredRuns], Measured | None]
    neutral: float = 1.0  # what no effect would be
    upper: float | None = None  # of a range
    only_direction: bool = False  # the paper says which way, without a number
    share: bool = False  # shown in percent
    tag: str = ""  # by which readings name it where it helped to choose
    cause: str = ""  # of a difference, where the unit's floor does not say it

    def verdict(self, ours: Measured | None) -> str:
        """Where our number lies."""
        if ours is None:
            return MISSING
        if self.only_direction:
            return MET if (ours.value - self.neutral) * (self.value - self.neutral) > 0 else OPPOSITE
        least, most = self.value * (1 - NEAR), (self.upper or self.value) * (1 + NEAR)
        if self.upper is not None:
            least, most = self.value, self.upper
        if least <= ours.value <= most:
            return MET
        return SAME if (ours.value - self.neutral) * (self.value - self.neutral) > 0 else OPPOSITE

    def shown(self, value: float | None) -> str:
        if value is None:
            return ""
        return f"{100 * value:.0f} %" if self.share else f"{value:.2f}"

    @property
    def stated(self) -> str:
        """The paper's number as a table has it."""
        if self.only_direction:
            return "falls" if self.value < self.neutral else "rises"
        return self.shown(self.value) + (f" to {self.shown(self.upper)}" if self.upper is not None else "")


@dataclass(frozen=True)
class Judged:
    """A claim with what the stored runs of each reading say."""

    claim: Claim
    ours: dict[str, Measured | None]  # by reading
    helped: tuple[str, ...]  # readings that the claim helped to choose

    @property
    def first(self) -> str:
        return next(iter(self.ours))

    @property
    def verdict(self) -> str:
        """Under the first reading."""
        return self.claim.verdict(self.ours[self.first])

    @property
    def cause(self) -> str:
        if self.verdict in (MET, MISSING):
            return ""
        measured = self.ours[self.first]
        return self.claim.cause or (measured.cause if measured is not None else "")

    def as_dict(self) -> dict[str, Any]:
        claim = self.claim
        return {
            "paper": claim.paper,
            "claim": claim.name,
            "where": claim.where,
            "stated": claim.stated,
            "paper_value": claim.value,
            "readings": {
                name: {
                    "value": ours.value if ours else None,
                    "bound": ours.bound if ours else None,
                    "by_graph": ours.by_graph if ours else {},
                    "by_graph_and_source": list(ours.each) if ours else [],
                    "sources": ours.sources if ours else 0,
                    "verdict": claim.verdict(ours),
                    "helped_to_choose": name in self.helped,
                }
                for name, ours in self.ours.items()
            },
            "cause": self.cause,
            "verdict": self.verdict,
        }

    def cells(self) -> list[str]:
        """A row of the table: claim, paper, ours by reading, spread, ideal bound, cause, verdict, graphs."""
        numbers = []
        for name, ours in self.ours.items():
            mark = " *" if name in self.helped and ours is not None else ""
            numbers.append(self.claim.shown(ours.value if ours else None) + mark)
        measured = self.ours[self.first]
        bound = self.claim.shown(measured.bound) if measured is not None else ""
        graphs = measured.graphs if measured is not None else ""
        return [
            f"{self.claim.name} ({self.claim.where})",
            self.claim.stated,
            *numbers,
            self._spread(measured),
            bound,
            self.cause,
            self.verdict,
            graphs,
        ]

    def _spread(self, measured: Measured | None) -> str:
        """From the least to the most of all graphs and sources."""
        if measured is None or len(measured.each) < 2:
            return ""
        return f"{self.claim.shown(min(measured.each))} to {self.claim.shown(max(measured.each))}"


def judge(claims: Sequence[Claim], runs: Sequence[StoredRuns]) -> list[Judged]:
    """Every claim under every reading, misses first."""
    found = []
    chosen_by = {r.reading: [(c.unit, tag) for c in reading_named(r.reading).choices for tag in c.claims] for r in runs}
    for claim in claims:
        helped = tuple(name for name, used in chosen_by.items() if (claim.paper, claim.tag) in used)
        found.append(Judged(claim, {each.reading: claim.measure(each) for each in runs}, helped))
    return sorted(found, key=lambda judged: ORDER.index(judged.verdict))


def summary(judged: Sequence[Judged]) -> str:
    """The verdict in one sentence per reading."""
    return " ".join(verdicts(judged))


def verdicts(judged: Sequence[Judged]) -> list[str]:
    """The same, a sentence each."""
    parts = []
    for reading in judged[0].ours if judged else ():
        verdicts = [each.claim.verdict(each.ours[reading]) for each in judged]
        counts = {name: verdicts.count(name) for name in ORDER}
        ran = len(verdicts) - counts[MISSING]
        tail = f"; {counts[MISSING]} are not run" if counts[MISSING] else ""
        parts.append(
            f"{reading}: of {ran} claims {counts[MET]} are met within 25 %, {counts[SAME]} go the same way, "
            f"{counts[OPPOSITE]} the opposite way{tail}."
        )
    return parts
