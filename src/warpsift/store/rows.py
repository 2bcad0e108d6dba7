"""A stored run as one flat row, and what a user asks of many: which, in what order, which columns.

Columns are the request's fields, the options by their own names, machine parameters with their dotted keys
(`l2.size_bytes`), and every number of the result; nested ones are dotted (`stall_stack.memory`).
"""

from __future__ import annotations

import datetime
import functools
import itertools
import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from warpsift.errors import WarpsiftError, unknown
from warpsift.run.request import LOADING, all_options
from warpsift.store.store import Record

Row = dict[str, Any]
IDENTITY = ("algorithm", "graph", "style", "unit", "gpu")
# Of a result: elsewhere in the row, or no numbers of the run as a whole.
_ASIDE = {"algorithm", "style", "unit", "reading", "graph", "options", "phases", "machine", "array_traffic", "timeline"}


class QueryError(WarpsiftError):
    """A question to the results that cannot be answered."""


def flat_rows(records: Sequence[Record], columns: Collection[str]) -> list[Row]:
    """Rows with these columns and all that differ between their inputs: of machines what is the same is left out."""
    machines = list({id(record.machine): record.machine for record in records if record.machine is not None}.values())
    names = {name for machine in machines for name in machine}
    same = {name for name in names if not isinstance(machines[0].get(name), list) and _all_equal(machines, name)}
    kept = [name for name in names if name not in same or name in columns or name == "name"]
    short = {id(machine): {name: machine[name] for name in kept if name in machine} for machine in machines}
    return [flat_row(record, short.get(id(record.machine)), columns) for record in records]


def _all_equal(machines: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(name in machine and machine[name] == machines[0].get(name) for machine in machines)


def flat_row(
    record: Record,
    machine: Mapping[str, Any] | None = None,
    columns: Collection[str] = ("unit_area_mm2", "finished_at"),
) -> Row:
    """Inputs first, then how it ended, then the numbers; of the machine's parameters all, or those of `machine`.

    Of the two columns that take long to find, those that are named.
    """
    request, graph, result = record.request, record.graph, record.result or {}
    row: Row = {
        "algorithm": request.get("algorithm"),
        "graph": graph["name"],
        "style": request.get("style"),
        "unit": request.get("unit"),
        "gpu": request.get("gpu"),
        "status": record.status,
        "reading": request.get("reading"),
        **(result.get("options") or request["options"]),
        "visibility_ctas": request.get("visibility_ctas"),
        **{name: request[name] for name in LOADING if name in request},  # older stores lack them
        "nodes": graph.get("nodes"),
        "edges": graph.get("edges"),
        "stand_in_for": graph.get("stand_in_for"),
        **_of_machine(record.machine, machine),
    }
    for key, value in request["overrides"].items():
        row.setdefault(key, parse_value(str(value)))  # cost coefficients
    _flatten(result, "", row, _ASIDE)
    if "unit_area_mm2" in columns and (area := unit_area_mm2(request)) is not None:
        row.setdefault("unit_area_mm2", area)
    row |= {
        "error_kind": record.error_kind,
        "error": record.error,
        "version": record.version,
        "package": record.package,
        "key": record.key,
        "host": record.host,
        "host_seconds": record.host_seconds,
    }
    if "finished_at" in columns:
        row["finished_at"] = _moment(record.finished_at)
    return row


def _of_machine(machine: Mapping[str, Any] | None, part: Mapping[str, Any] | None) -> Row:
    if machine is None:
        return {}
    parameters = machine if part is None else part
    return {"machine": machine.get("name")} | {
        name: value for name, value in parameters.items() if name not in ("name", "description")
    }


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):  # no moment of any calendar: a damaged store
        return None


def _flatten(tree: Mapping[str, Any], prefix: str, row: Row, aside: Collection[str] = ()) -> None:
    for name, value in tree.items():
        if name in aside:
            continue
        if isinstance(value, dict):
            _flatten(value, f"{prefix}{name}.", row)
        else:
            row[prefix + name] = value


@functools.cache
def _area_mm2(unit: str, gpu: str, settings: tuple[tuple[str, Any], ...]) -> float | None:
    from warpsift.machines import load_machine
    from warpsift.units import resolve

    chosen = resolve(unit)
    return 0.0 if chosen is None else chosen.area(load_machine(gpu, dict(settings))).total_mm2


def unit_area_mm2(request: Mapping[str, Any]) -> float | None:
    """Silicon that the unit adds (32 nm, see docs/area.md); none for a run without a machine, or of a lost unit."""
    if request.get("gpu") is None:
        return None
    settings = sorted((k, v) for k, v in request["overrides"].items() if not k.startswith("costs."))
    try:
        return _area_mm2(request.get("unit", "none"), request["gpu"], tuple(settings))
    except WarpsiftError:  # a unit or a machine file that is no longer there
        return None


def columns_of(rows: Iterable[Row]) -> list[str]:
    """All columns, in order of first appearance."""
    kinds = dict.fromkeys(map(tuple, rows))  # most rows of a sweep have the same columns
    return list(dict.fromkeys(name for names in kinds for name in names))


def need_column(name: str, rows: Sequence[Row]) -> str:
    if not any(name in row for row in rows):
        raise QueryError(unknown("column", name, columns_of(rows), "'warpsift results --json'"))
    return name


# Filters.

_TEST = re.compile(r"([\w.]+)\s*(==|!=|<=|>=|=|<|>|~)")
_PIECES = re.compile(r"\s+|'[^']*'|\"[^\"]*\"|[^\s'\"]+|['\"]")  # every letter is in exactly one: linear time
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "~": lambda a, b: str(b).lower() in str(a).lower(),
}


def where(rows: Sequence[Row], tests: Iterable[str]) -> list[Row]:
    """Rows that pass all tests: "gpu = 'gtx980'", "cycles<1e6", "graph ~ kron", joined by "and" or given apart."""
    kept = list(rows)
    for text in tests:
        for part in _parts(text):
            kept = _passing(rows, kept, part)
    return kept


def named_in(tests: Iterable[str]) -> set[str]:
    """The columns that these tests look at."""
    found = (_TEST.match(part.strip()) for text in tests for part in _parts(text))
    return {test[1] for test in found if test is not None}


def _parts(text: str) -> list[str]:
    """The tests that are joined by "and", a word by itself and not inside quotes."""
    pieces = _PIECES.findall(text)
    parts, begin = [], 0
    for at in range(1, len(pieces) - 1):
        if pieces[at].lower() == "and" and pieces[at - 1].isspace() and pieces[at + 1].isspace():
            parts.append("".join(pieces[begin:at]))
            begin = at + 1
    return [*parts, "".join(pieces[begin:])]


def _passing(rows: Sequence[Row], kept: list[Row], text: str) -> list[Row]:
    text = text.strip()
    found = _TEST.match(text)
    if found is None:
        raise QueryError(f"cannot read the test {text[:60]!r}: write KEY=VALUE, such as gpu=gtx980 or cycles<1e6")
    name, sign = found.groups()
    wanted = text[found.end() :].strip()
    if rows:
        need_column(name, rows)
    test = _COMPARE[sign.replace("==", "=")]
    value = parse_value(wanted)
    return [row for row in kept if _holds(test, sign, row.get(name), value)]


def parse_value(text: str) -> Any:
    """A number, true, false, none, or a text with or without quotes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    lowered = text.lower()
    if lowered in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[lowered]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _holds(test: Callable[[Any, Any], bool], sign: str, value: Any, wanted: Any) -> bool:
    if wanted is None and value == "none":  # unit=none means the unit called none
        value = None
    if sign in ("=", "==", "!=", "~"):
        return test(value, wanted)
    try:
        return value is not None and test(value, wanted)
    except TypeError:
        return False


def sort(rows: Sequence[Row], keys: Sequence[str]) -> list[Row]:
    """By one or more columns; a minus sign in front turns the order; rows without a value come last."""
    ordered = list(rows)
    for key in reversed(keys):
        name, down = key.removeprefix("-"), key.startswith("-")
        if rows:
            need_column(name, rows)
        present = [row for row in ordered if row.get(name) is not None]
        absent = [row for row in ordered if row.get(name) is None]
        present.sort(key=lambda row: _order(row[name]), reverse=down)
        ordered = present + absent
    return ordered


def _order(value: Any) -> tuple[int, Any]:
    """Numbers before texts, so that a column may hold both."""
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))


TIMED_METRICS = ("microseconds", "mteps", "energy_joules", "dram_bytes")
COUNTED_METRICS = ("warp_instructions", "transactions")


def default_columns(rows: Sequence[Row]) -> list[str]:
    """What was run, whatever differs between the rows, and the main numbers there are."""
    inputs = list(IDENTITY) + [name for name in columns_of(rows) if _is_input(name)]
    chosen, options = ["algorithm", "graph"], frozenset(all_options())
    for name in inputs:
        if name not in chosen and _differs(rows, name, name in options) and not _follows_gpu(name, rows):
            chosen.append(name)
    timed = any(row.get("microseconds") is not None for row in rows)
    chosen += [n for n in (TIMED_METRICS if timed else COUNTED_METRICS) if any(row.get(n) is not None for row in rows)]
    chosen.append("check")
    if any(row.get("error") for row in rows):
        chosen += ["status", "error"]
    return [name for name in chosen if any(name in row for row in rows)]


def _differs(rows: Sequence[Row], name: str, optional: bool) -> bool:
    """Whether a column has more than one value; not all algorithms have an option, and lacking it is no value."""
    if all(map(operator.contains, rows, itertools.repeat(name))):
        values = list(map(operator.itemgetter(name), rows))
    else:
        values = [row.get(name) for row in rows if not optional or name in row]
    try:
        return len(set(values)) > 1
    except TypeError:  # lists
        return len(set(map(str, values))) > 1


@functools.cache
def _inputs() -> frozenset[str]:
    from warpsift.machines.machine_file import machine_keys

    return frozenset([*all_options(), *(key for key in machine_keys() if "." in key)])


def _is_input(name: str) -> bool:
    return name in _inputs()


def _follows_gpu(name: str, rows: Sequence[Row]) -> bool:
    """Whether a column is the same for all rows of one machine (or, the source, of one graph and seed)."""
    by = ("graph", "algorithm", "seed") if name == "source" else ("gpu",)
    owners = list(zip(*([row.get(b) for row in rows] for b in by), strict=True))
    values = [str(row.get(name)) for row in rows]
    different = len(set(owners))
    return different > 1 and len(set(zip(owners, values, strict=True))) == different


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan
