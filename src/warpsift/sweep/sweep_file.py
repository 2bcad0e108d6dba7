"""Reads a sweep file: which points to run.

    [common]                        # holds for every point
    gpu = "gtx480-gpgpusim4"

    [[grid]]                        # every combination of the lists
    algorithm = ["bfs", "sssp"]
    graph = ["delaunay-14", "kron-12"]
    l2.size_bytes = [393216, 786432]
    design = [{ unit = "none" }, { unit = "scu", l1.size_bytes = 32768 }]   # keys that change together

    [[point]]                       # one more
    algorithm = "wcc"
    graph = "kron-12"

A key is a field of `Request`, an option of the algorithm or unit, or a dotted machine parameter. The word "default"
leaves a key alone.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from warpsift.errors import WarpsiftError, unknown
from warpsift.paths import is_file
from warpsift.run.request import REQUEST_FIELDS, Request, RequestError, all_options, make_request

SECTIONS = ("common", "grid", "point")
REQUEST_KEYS = tuple(name for name in REQUEST_FIELDS if name != "overrides")
DEFAULT = "default"
MAX_POINTS = 100_000  # beyond this a slip of the pen is likelier than a wish


class SweepError(WarpsiftError):
    """A sweep file that cannot be used."""


def read_sweep(path: str | os.PathLike[str]) -> list[Request]:
    """The requests of a sweep file. Paths of graphs and machines are looked up beside the file first."""
    file = Path(path)
    try:
        tree = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SweepError(f"{file}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SweepError(f"{file}: cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: integers of 5,000 digits, nested lists
        raise SweepError(f"{file}: {error}") from error
    try:
        return sweep_requests(tree, file.parent)
    except WarpsiftError as error:
        raise SweepError(f"{file}: {error}") from error


def sweep_requests(tree: Mapping[str, Any], folder: Path | None = None) -> list[Request]:
    """The requests of a sweep given as data."""
    for section in tree:
        if section not in SECTIONS:
            raise SweepError(unknown("section", section, list(SECTIONS)) + " (as [common], [[grid]], [[point]])")
    common = tree.get("common", {})
    if not isinstance(common, Mapping):
        raise SweepError("'common' must be a table: write [common]")
    requests = []
    for kind in ("grid", "point"):
        for number, table in enumerate(_tables(tree, kind), 1):
            where = f"[[{kind}]] number {number}"
            try:
                requests += [_request(choice, folder) for choice in _choices({**common, **table}, kind)]
                for gpu in {request.gpu for request in requests} - {None}:
                    _check_gpu(str(gpu))
            except WarpsiftError as error:
                raise SweepError(f"{where}: {error}") from error
    if not requests:
        raise SweepError("no points: write a [[grid]] or a [[point]] with at least 'algorithm' and 'graph'")
    return requests


def _tables(tree: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    found = tree.get(kind, [])
    tables = [found] if isinstance(found, Mapping) else found
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise SweepError(f"'{kind}' must be a table or several: write [[{kind}]]")
    return tables


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _choices(table: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """Every combination of the lists of a table."""
    axes: list[list[dict[str, Any]]] = []
    for name, value in _flat(table).items():
        alternatives = value if isinstance(value, list) else [value]
        if kind == "point" and isinstance(value, list):
            raise SweepError(f"'{name}' is a list, but a point has one value for each key; use [[grid]] for lists")
        if not alternatives:
            raise SweepError(f"'{name}' is an empty list: the grid has no points")
        together = [isinstance(each, Mapping) for each in alternatives]
        if any(together) and not all(together):
            raise SweepError(f"'{name}' mixes tables and values: give tables only, or values only")
        if all(together):
            axes.append([_flat(each) for each in alternatives])
        else:
            axes.append([{name: each} for each in alternatives])
    for axis in axes:
        for alternative in axis:
            _check_keys(alternative)
    if math.prod(map(len, axes)) > MAX_POINTS:
        raise SweepError(f"more than {MAX_POINTS} points; split the sweep")
    for combination in itertools.product(*axes):
        choice: dict[str, Any] = {}
        for part in combination:
            for name, value in part.items():
                if name in choice:
                    raise SweepError(f"'{name}' is given twice for one point")
                choice[name] = value
        yield choice


def _check_keys(alternative: Mapping[str, Any]) -> None:
    machine, own = _machine_keys(), [*REQUEST_KEYS, *all_options()]
    for name in alternative:
        if name in own or name in machine:
            continue
        section = name.rpartition(".")[0]
        if section:
            siblings = [key for key in machine if key.rpartition(".")[0] == section]
            raise SweepError(unknown("machine parameter", name, siblings or list(machine), "'warpsift list keys'"))
        raise SweepError(unknown("key", name, own, "'warpsift run --help'") + ", or a machine parameter (l2.ways)")


def _request(choice: Mapping[str, Any], folder: Path | None) -> Request:
    chosen = {name: value for name, value in choice.items() if value != DEFAULT}
    for needed in ("algorithm", "graph"):
        if not isinstance(chosen.get(needed), str):
            raise SweepError(f"every point needs '{needed}', a text such as {needed} = \"{_EXAMPLE[needed]}\"")
    algorithm, graph = chosen.pop("algorithm"), _beside(folder, chosen.pop("graph"))
    overrides = {name: value for name, value in chosen.items() if "." in name}
    own = {name: value for name, value in chosen.items() if name not in overrides}
    if isinstance(own.get("gpu"), str):
        own["gpu"] = _beside(folder, own["gpu"])
    elif overrides:
        raise SweepError(f"'{next(iter(overrides))}' is a machine parameter, but the point names no gpu")
    if isinstance(own.get("reading"), str):
        own["reading"] = _beside(folder, own["reading"])
    _check_unit(own.get("unit", "none"))
    return make_request(algorithm, graph, {**own, "overrides": overrides})


_EXAMPLE = {"algorithm": "bfs", "graph": "kron-12"}


@functools.cache
def _machine_keys() -> dict[str, None]:
    """Machine parameters and prices, in their order."""
    from warpsift.machines.machine_file import machine_keys

    return dict.fromkeys([*machine_keys(), *_cost_keys()])


@functools.cache
def _cost_keys() -> tuple[str, ...]:
    """Prices that a point may replace, costs.NAME, and what the SMs do while a unit works, costs.gpu_idle."""
    from warpsift.costs.coefficients import gpu_table, names
    from warpsift.run.run_energy import GPU_IDLE_KEY
    from warpsift.units import units

    tables = [*map(gpu_table, names()), *(unit.prices() for unit in units().values())]
    return (*dict.fromkeys(f"costs.{name}" for table in tables for name in table.coefficients), GPU_IDLE_KEY)


def _check_gpu(gpu: str) -> None:
    from warpsift.machines import load_machine, machine_names

    if not gpu.endswith(".toml") and gpu not in machine_names():
        known = unknown("gpu", gpu, machine_names(), "'warpsift list machines'")
        raise RequestError(f"{known}, or give the path of a .toml file")
    load_machine(gpu)


def _check_unit(unit: str) -> None:
    from warpsift.units import resolve

    resolve(unit)


def _beside(folder: Path | None, name: str) -> str:
    """A file beside the sweep file wins; anything else stays as written."""
    if folder is not None and not Path(name).is_absolute():
        path = folder / name.partition("::")[0]
        if is_file(path):
            return str(folder / name)
    return name
