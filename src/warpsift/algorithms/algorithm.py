"""The shape of an algorithm: how it is run, what it answers, and what the answer cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpsift.algorithms.options import Options
from warpsift.graph import CsrGraph
from warpsift.simt import Gpu


@dataclass
class Work:
    """The work ledger: what was done, against what the graph needed."""

    edges: int = 0  # of the graph
    edges_touched: int = 0
    nodes_processed: int = 0
    duplicates: int = 0  # nodes or edges processed although an equal one had been
    relaxations: int = 0  # successful lowerings of a distance or label

    @property
    def edges_touched_per_edge(self) -> float:
        return self.edges_touched / self.edges if self.edges else 0.0

    @property
    def relaxations_per_edge(self) -> float:
        return self.relaxations / self.edges if self.edges else 0.0

    def as_dict(self) -> dict[str, float]:
        return {
            "edges_touched": self.edges_touched,
            "edges_touched_per_edge": round(self.edges_touched_per_edge, 4),
            "nodes_processed": self.nodes_processed,
            "duplicates": self.duplicates,
            "relaxations": self.relaxations,
            "relaxations_per_edge": round(self.relaxations_per_edge, 4),
        }


@dataclass
class Outcome:
    """The answer of a run, one value per node, and how it came about."""

    values: np.ndarray
    iterations: int
    work: Work
    notes: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """What the independent check found."""

    passed: bool
    reason: str  # which oracle, or what differs and where


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: how to run it in each style, and how to check an answer without our own code."""

    name: str
    title: str
    styles: Mapping[str, Callable[[Gpu, CsrGraph, Any], Outcome]]  # the options are of the class below
    check: Callable[[CsrGraph, Outcome, Any], Verdict]
    prepare: Callable[[CsrGraph, Any], tuple[CsrGraph, Any]]  # choose a source, make weights, reject
    options: type[Options] = Options  # what a user may choose
    checks_partial: bool = False  # whether the check holds for a run that was stopped by max_iterations

    @property
    def usual_style(self) -> str:
        """The style of those who ask for none: the first."""
        return next(iter(self.styles))
