"""A design that was run on every workload, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpsift.search.search_file import Design, SearchError, SearchSpec
from warpsift.store.rows import flat_row, geometric_mean, need_column
from warpsift.store.store import Record

COLUMNS = {"time": "seconds", "energy": "energy_joules", "area": "unit_area_mm2"}


@dataclass(frozen=True)
class Tried:
    """What came of a design."""

    design: Design
    choices: Mapping[str, Any]
    costs: Mapping[str, float]  # by objective and constraint; empty if it could not run
    violations: Mapping[str, float]  # by how much, as a share, a bound is passed; 0 or less: kept
    problem: str = ""  # why it has no costs

    @property
    def allowed(self) -> bool:
        return not self.problem and all(value <= 0 for value in self.violations.values())


def judged(spec: SearchSpec, design: Design, records: Sequence[Record]) -> Tried:
    """The costs of a design from its runs: geometric means over workloads, and the largest area."""
    wrong = next((problem for record in records if (problem := _problem(record))), "")
    if wrong:
        return Tried(design, spec.choices(design), {}, {}, wrong)
    rows = [flat_row(record) for record in records]
    bounds = spec.constraints or {}
    costs = {name: _cost(name, rows) for name in dict.fromkeys((*spec.objectives, *bounds))}
    violations = {name: _violation(costs[name], bound) for name, bound in bounds.items()}
    return Tried(design, spec.choices(design), costs, violations)


def _problem(record: Record) -> str:
    if record.status != "done":
        return (record.error or "failed").splitlines()[-1]
    if record.result is not None and record.result["check"] == "fail":
        return f"wrong answer: {record.result['check_reason']}"
    return ""


def _violation(cost: float, bound: float) -> float:
    return cost / bound - 1 if bound > 0 else cost - bound


def _cost(name: str, rows: Sequence[Mapping[str, Any]]) -> float:
    column = COLUMNS.get(name, name)
    if name == "energy" and rows[0].get(column) is None:
        raise SearchError(
            "this machine has no energy prices: leave 'energy' out of the objectives, or see docs/energy.md"
        )
    values = [row.get(need_column(column, [dict(row)])) for row in rows]
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) < len(values):
        raise SearchError(f"objective '{name}' is not a number of every run: take another column")
    if name == "area":
        return max(numbers)
    if min(numbers) < 0:
        raise SearchError(f"objective '{name}' is negative in a run, so it has no geometric mean: take another column")
    return geometric_mean(numbers) if min(numbers) > 0 else 0.0
