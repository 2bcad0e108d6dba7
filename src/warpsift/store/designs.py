"""Two choices of one key side by side, and the designs that no other beats.

`compare` pairs runs that were asked for in the same way but for one key. `pareto` takes a design to be everything
that was asked for but the workload (algorithm, graph and how it is loaded, seed, source), and its cost to be the
geometric mean over the workloads that all designs have run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from warpsift.run.request import LOADING, algorithm_named
from warpsift.store.canonical_json import to_json
from warpsift.store.rows import QueryError, Row, flat_row, geometric_mean, need_column, parse_value
from warpsift.store.store import Record

WORKLOAD = ("algorithm", "graph", "seed", "source", *LOADING)


@dataclass(frozen=True)
class Comparison:
    """Pairs of runs that differ in `key` alone; a ratio is the first over the second, so above 1 the second is less."""

    key: str
    first: Any
    second: Any
    metrics: tuple[str, ...]
    rows: list[Row]  # per pair: what they share, and for each metric both values and the ratio

    def means(self) -> dict[str, float]:
        """Geometric mean of each metric's ratios."""
        return {m: geometric_mean(r[f"{m} ratio"] for r in self.rows if r[f"{m} ratio"]) for m in self.metrics}


def asked(record: Record) -> dict[str, Any]:
    """What was asked for, flat: fields, options that are not at their default, overrides as they were written.

    Algorithms have different options, so those at their default would set apart designs that are the same.
    """
    request = dict(record.request)
    flat = {name: value for name, value in request.items() if name not in ("options", "overrides")}
    usual = {each.name: each.default for each in fields(algorithm_named(request["algorithm"]).options)}
    options = {name: value for name, value in request["options"].items() if value != usual.get(name)}
    return flat | options | {k: parse_value(str(v)) for k, v in request["overrides"].items()}


def compare(records: Sequence[Record], choice: str, metrics: Sequence[str] = ()) -> Comparison:
    """`choice` is KEY=A,B, such as "unit=none,scu" or "l2.size_bytes=393216,786432"."""
    key, equals, values = choice.partition("=")
    first, comma, second = values.partition(",")
    if not equals or not comma or not first or not second:
        raise QueryError(f"cannot read {choice!r}: write KEY=A,B, such as unit=none,scu")
    key = key.strip()
    good = [record for record in records if record.status == "done"]
    rows = [flat_row(record) for record in good]
    need_column(key, rows)
    for metric in metrics:
        need_column(metric, rows)
    named = tuple(metrics) or _present(rows, ("microseconds", "energy_joules")) or ("transactions",)
    sides: dict[str, dict[int, tuple[Record, Row]]] = {}
    for record, row in zip(good, rows, strict=True):
        for side, wanted in enumerate((first, second)):
            if str(row.get(key)) == wanted.strip() or row.get(key) == parse_value(wanted.strip()):
                rest = {name: value for name, value in asked(record).items() if name != key}
                sides.setdefault(to_json(rest), {})[side] = (record, row)
    pairs = [(both[0][1], both[1][1]) for both in sides.values() if len(both) == 2]
    if not pairs:
        seen = sorted({str(row.get(key)) for row in rows})
        raise QueryError(f"no two runs differ in {key} = {first}, {second} alone; {key} is {', '.join(seen)}")
    return Comparison(key, first, second, named, [_pair(a, b, named) for a, b in pairs])


def _present(rows: Sequence[Row], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if any(row.get(name) is not None for row in rows))


def _pair(a: Row, b: Row, metrics: Iterable[str]) -> Row:
    pair: Row = {name: a[name] for name in a if a[name] == b.get(name)}
    for metric in metrics:
        one, two = a.get(metric), b.get(metric)
        ratio = one / two if isinstance(one, (int, float)) and isinstance(two, (int, float)) and one and two else None
        pair |= {f"{metric} A": one, f"{metric} B": two, f"{metric} ratio": ratio}
    return pair


@dataclass(frozen=True)
class Design:
    """One way to build the machine, with its mean costs (both better when smaller)."""

    name: str
    choices: dict[str, Any]
    x: float
    y: float
    workloads: int
    on_front: bool = False


def pareto(records: Sequence[Record], x: str, y: str) -> list[Design]:
    """The designs, cheapest x first; `on_front` tells which no other beats in both."""
    good = [record for record in records if record.status == "done"]
    rows = [flat_row(record) for record in good]
    for name in (x, y):
        need_column(name, rows)
    tables: dict[str, dict[str, Row]] = {}
    choices: dict[str, dict[str, Any]] = {}
    for record, row in zip(good, rows, strict=True):
        wanted = asked(record)
        design = {name: value for name, value in wanted.items() if name not in WORKLOAD}
        text = to_json(design)
        choices[text] = design
        tables.setdefault(text, {})[to_json([wanted.get(name) for name in WORKLOAD])] = row
    shared = set.intersection(*(set(table) for table in tables.values())) if tables else set()
    if not shared:
        raise QueryError("the designs have no workload in common: narrow them with --where")
    varied = _varied(list(choices.values()))
    designs = []
    for text, table in tables.items():
        used = [table[workload] for workload in sorted(shared)]
        name = ", ".join(_short(k, choices[text][k]) for k in varied if choices[text].get(k) is not None)
        designs.append(
            Design(name, {k: choices[text].get(k) for k in varied}, _mean(used, x), _mean(used, y), len(shared))
        )
    return _with_front(sorted(designs, key=lambda d: (d.x, d.y)))


def _short(key: str, value: Any) -> str:
    return str(value) if key in ("gpu", "unit", "style") else f"{key}={value}"


def _varied(designs: list[dict[str, Any]]) -> list[str]:
    keys = dict.fromkeys(key for design in designs for key in design)
    return [key for key in keys if len({to_json(design.get(key)) for design in designs}) > 1]


def _mean(rows: list[Row], name: str) -> float:
    values = [row.get(name) for row in rows]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) < len(values):
        raise QueryError(f"{name} is not a number in every run: narrow them with --where")
    if min(numbers) < 0 or (min(numbers) == 0 and max(numbers) > 0):
        raise QueryError(f"{name} is not positive in every run, so it has no geometric mean")
    return 0.0 if max(numbers) == 0 else geometric_mean(numbers)


def _with_front(designs: list[Design]) -> list[Design]:
    marked, best = [], float("inf")
    for design in designs:
        marked.append(replace(design, on_front=design.y < best))
        best = min(best, design.y)
    return marked
