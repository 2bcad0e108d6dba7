"""Reads a search file: which designs there are, what they must run, and what makes one better.

    [search]
    objectives = ["time", "energy", "area"]    # smaller is better; also any column of `warpsift results`
    designs = 40                               # to try
    seed = 1

    [constraints]                              # at most
    area = 1.0                                 # mm2

    [common]                                   # holds for every run
    gpu = "gtx980"
    unit = "scu"

    [[workload]]                               # every combination of the lists
    algorithm = ["bfs", "sssp"]
    graph = ["kron-10", "delaunay-10"]

    [design]                                   # what may be chosen: lists, or ranges
    scu.width = [1, 2, 4, 8]
    l2.size_bytes = { from = 524288, to = 4194304, times = 2 }
    sm.count = { from = 4, to = 32, step = 4 }

Keys are those of sweep files. In [design] a list of tables holds keys that change together.
"""

from __future__ import annotations

import itertools
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpsift.errors import WarpsiftError, unknown
from warpsift.run.request import Request
from warpsift.sweep import sweep_requests

SECTIONS = ("search", "constraints", "common", "workload", "design")
SETTINGS = ("objectives", "designs", "seed", "batch")
OBJECTIVES = ("time", "energy", "area")
RANGE = {"from", "to", "step", "times"}
LONGEST_AXIS = 1000  # values; more of them are no choice but a slip of the pen
BATCH = 4  # designs that are asked for at once; of the file, not of the computer, so that a search can be repeated

Design = tuple[int, ...]  # for each axis, which of its values


class SearchError(WarpsiftError):
    """A search file that cannot be used, or a search that cannot go on."""


@dataclass(frozen=True)
class Axis:
    """One choice: a key and its values, or several keys that change together."""

    name: str
    values: tuple[Mapping[str, Any], ...]

    @property
    def ordered(self) -> bool:
        """Whether neighbours are alike: numbers of one key."""
        numbers = [value.get(self.name) for value in self.values]
        return all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers) and len(numbers) > 1


@dataclass(frozen=True)
class SearchSpec:
    """What a search file says."""

    axes: tuple[Axis, ...]
    common: Mapping[str, Any]
    workloads: tuple[Mapping[str, Any], ...]
    folder: Path | None
    objectives: tuple[str, ...] = OBJECTIVES
    constraints: Mapping[str, float] | None = None
    designs: int = 40
    seed: int = 1
    batch: int = BATCH

    @property
    def size(self) -> int:
        """How many designs there are."""
        return math.prod(len(axis.values) for axis in self.axes)

    def choices(self, design: Design) -> dict[str, Any]:
        """Keys and values of a design."""
        return {k: v for axis, which in zip(self.axes, design, strict=True) for k, v in axis.values[which].items()}

    def requests(self, design: Design) -> list[Request]:
        """The runs of a design, one per workload."""
        tree = {"common": {**self.common, **self.choices(design)}, "grid": list(self.workloads)}
        return sweep_requests(tree, self.folder)

    def grid(self) -> Iterator[Design]:
        """Every design."""
        return itertools.product(*(range(len(axis.values)) for axis in self.axes))


def read_search(path: str | os.PathLike[str]) -> SearchSpec:
    """A search file. Paths of graphs and machines are looked up beside it first."""
    file = Path(path)
    try:
        tree = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SearchError(f"{file}: no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SearchError(f"{file}: {error}") from error
    try:
        return search_spec(tree, file.parent)
    except WarpsiftError as error:
        raise SearchError(f"{file}: {error}") from error


def search_spec(tree: Mapping[str, Any], folder: Path | None = None) -> SearchSpec:
    """A search given as data."""
    for section in tree:
        if section not in SECTIONS:
            raise SearchError(unknown("section", section, list(SECTIONS)))
    settings = _table(tree, "search")
    for name in settings:
        if name not in SETTINGS:
            raise SearchError(unknown("key of [search]", name, list(SETTINGS)))
    axes = tuple(_axes(_table(tree, "design")))
    if not axes:
        raise SearchError("nothing to choose: write [design] with a list or a range, such as scu.width = [1, 2, 4]")
    workloads = tree.get("workload", [])
    if not isinstance(workloads, list) or not workloads or not all(isinstance(w, Mapping) for w in workloads):
        raise SearchError("no workload: write [[workload]] with 'algorithm' and 'graph'")
    common = _table(tree, "common")
    if "gpu" not in common and all("gpu" not in w for w in workloads) and not any(_sets_gpu(axis) for axis in axes):
        raise SearchError("no gpu: write it in [common], since designs are compared by time")
    spec = SearchSpec(
        axes,
        common,
        tuple(workloads),
        folder,
        _objectives(settings.get("objectives", list(OBJECTIVES))),
        _constraints(_table(tree, "constraints")),
        **{name: _count(settings, name) for name in ("designs", "seed", "batch") if name in settings},
    )
    spec.requests((0,) * len(axes))  # says what is wrong before anything runs
    return spec


def _table(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = tree.get(name, {})
    if not isinstance(found, Mapping):
        raise SearchError(f"'{name}' must be a table: write [{name}]")
    return found


def _sets_gpu(axis: Axis) -> bool:
    return any("gpu" in value for value in axis.values)


def _count(settings: Mapping[str, Any], name: str) -> int:
    value = settings[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < (0 if name == "seed" else 1):
        raise SearchError(f"{name} = {value!r}: write a whole number above 0")
    return value


def _objectives(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise SearchError('objectives must be a list of names: write objectives = ["time", "energy", "area"]')
    if len(set(names)) < len(names):
        raise SearchError("objectives has a name twice: leave one out")
    return tuple(names)


def _constraints(table: Mapping[str, Any]) -> dict[str, float]:
    for name, bound in table.items():
        if not isinstance(bound, (int, float)) or isinstance(bound, bool):
            raise SearchError(f"constraint {name} = {bound!r}: write a number, the most that is allowed")
    return {name: float(bound) for name, bound in table.items()}


def _axes(table: Mapping[str, Any], prefix: str = "") -> Iterator[Axis]:
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, Mapping) and not {"from", "to"} <= set(value):
            yield from _axes(value, f"{name}.")
            continue
        values = list(_range(name, value)) if isinstance(value, Mapping) else value
        if not isinstance(values, list) or not values:
            raise SearchError(f"{name} = {value!r}: write a list, or {{ from = 1, to = 8, times = 2 }}")
        if len(values) > LONGEST_AXIS:
            raise SearchError(f"{name} has {len(values)} values; {LONGEST_AXIS} are the most: widen the step")
        yield Axis(name, tuple(_together(name, values)))


def _together(name: str, values: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    tables = [isinstance(value, Mapping) for value in values]
    if any(tables) and not all(tables):
        raise SearchError(f"{name} mixes tables and values: give tables only, or values only")
    for value in values:
        yield _flat(value) if isinstance(value, Mapping) else {name: value}


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _range(name: str, said: Mapping[str, Any]) -> Iterator[int | float]:
    """The values of a range, its last one included where a step meets it."""
    for key, value in said.items():
        if key not in RANGE:
            raise SearchError(unknown(f"key of the range {name}", key, sorted(RANGE)))
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise SearchError(f"{name}: {key} = {value!r} is not a number")
    first, last, step, times = said["from"], said["to"], said.get("step", 0), said.get("times", 0)
    if (step <= 0) == (times <= 1) or last < first or (times and first <= 0):
        raise SearchError(f"{name}: write {{ from = 4, to = 32, step = 4 }} or {{ from = 1, to = 8, times = 2 }}")
    for number in range(LONGEST_AXIS + 1):
        value = first + number * step if step > 0 else first * times**number
        if value > last:
            return
        yield value
