"""Readings: named sets of choices for what a paper leaves open, each choice with its evidence.

    warpsift run bfs --graph cond --gpu gtx980 --unit scu --reading authors

A unit ships readings beside its numbers, one file each (`readings/NAME.toml` in its folder); a reading of one's own is
such a file, whose choices say which `unit` they are for:

    title = "What I would build"
    extends = "hardware"                      # a shipped reading or another file, whose choices come first

    [[choice]]
    unit = "scu"                              # in the unit's own folder: left out
    what = "buffers of table 1"               # the open question
    set = { scu.resources = "lane" }          # parameters of the machine
    evidence = "table 1 is the same for widths 1 and 4"

A choice may also name `options` of the algorithm, the `machine` that stands for a GPU's name, and what it is for: one
`gpu`, one `algorithm`, runs with the unit or `plain` ones (`holds`). A unit's choices hold for its runs, and for the
plain GPU in the style that it accelerates. `claims` are numbers of the paper that helped to choose: they are no
predictions. What a user says beside the reading wins over it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from warpsift.errors import WarpsiftError, unknown
from warpsift.machines.spec import MachineError
from warpsift.machines.toml_file import read_toml
from warpsift.paths import is_file
from warpsift.units import Unit, units

FOLDER = "readings"  # of a unit
SUFFIX = ".toml"
LONGEST_CHAIN = 8  # readings that extend one another


class ReadingError(WarpsiftError):
    """A reading that does not exist, or a file that is none."""


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One answer to one open question."""

    what: str
    evidence: str
    unit: str = ""  # its section of machine files
    set: dict[str, Any] = {}
    options: dict[str, Any] = {}
    machine: dict[str, str] = {}
    gpu: str = ""
    algorithm: str = ""
    holds: Literal["both", "unit", "plain"] = "both"
    claims: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        changes = {**self.machine, **flat(self.set), **self.options}
        where = [self.unit, self.gpu, self.algorithm, "" if self.holds == "both" else f"{self.holds} only"]
        return {
            "for": ", ".join(filter(None, where)),
            "what": self.what,
            "choice": ", ".join(f"{key} = {value}" for key, value in changes.items()) or "as the machine has it",
            "evidence": self.evidence,
            "claims that helped": ", ".join(self.claims),
        }


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    title: str
    extends: str = ""
    choice: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A named set of choices."""

    name: str
    title: str
    choices: tuple[Choice, ...]

    def of(self, unit: Unit | None, style: str, algorithm: str) -> list[Choice]:
        """The choices for such a run, on whatever machine."""
        sections = _sections(unit, style)
        spoken = {choice.unit for choice in self.choices}
        if not sections & spoken:
            asked = f"unit '{unit.name}'" if unit is not None else f"the {style} style"
            raise ReadingError(f"reading '{self.name}' says nothing of {asked}; it is for {', '.join(sorted(spoken))}")
        without = ("unit" if unit is None else "plain",)
        return [
            choice
            for choice in self.choices
            if choice.unit in sections and choice.algorithm in ("", algorithm) and choice.holds not in without
        ]


@dataclass(frozen=True)
class Decided:
    """What a reading says of one run."""

    gpu: str | None
    overrides: dict[str, Any]
    options: dict[str, Any]


def decide(reading: Reading, unit: Unit | None, style: str, algorithm: str, gpu: str | None) -> Decided:
    """The machine that stands for `gpu`, its changes, and the algorithm's options."""
    chosen = reading.of(unit, style, algorithm)
    replaced = {name: other for choice in chosen for name, other in choice.machine.items()}
    meant = next((name for name, other in replaced.items() if other == gpu), gpu)  # its name, or the GPU's that it is
    overrides: dict[str, Any] = {}
    options: dict[str, Any] = {}
    foreign = {other.section for other in units().values()} - (set() if unit is None else _sections(unit, style))
    for choice in chosen:
        if choice.gpu not in ("", meant):
            continue
        options |= choice.options
        for key, value in flat(choice.set).items():
            if key.partition(".")[0] not in foreign:  # of a unit that this run does not have
                overrides[key] = value
    return Decided(replaced.get(gpu or "", gpu), overrides if gpu else {}, options)


def _sections(unit: Unit | None, style: str) -> set[str]:
    """The units whose choices hold: those of the run, or those that it is compared with."""
    if unit is not None:
        return unit.read_sections()
    return {other.section for other in units().values() if other.style == style}


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted keys."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return found


@functools.cache
def shipped() -> dict[str, Reading]:
    """The readings that come with the units, by name: a name is one reading over all units that have it."""
    found: dict[str, Reading] = {}
    for unit in {unit.section: unit for unit in units().values()}.values():
        for path in sorted((unit.tables / FOLDER).glob(f"*{SUFFIX}")):
            known = found[path.stem].choices if path.stem in found else ()
            title, own = _of_unit(path, unit.section)
            found[path.stem] = Reading(path.stem, title, (*known, *own))
    return found


def _of_unit(path: Path, section: str) -> tuple[str, tuple[Choice, ...]]:
    """Title and choices of a unit's file, behind those of the file beside it that it extends."""
    file = _read(path)
    base = _of_unit(path.with_name(file.extends + SUFFIX), section)[1] if file.extends else ()
    return file.title, (*base, *(_owned(choice, section, path) for choice in file.choice))


def reading_named(name: str) -> Reading:
    """A shipped reading, or the one in a TOML file."""
    if name in shipped():
        return shipped()[name]
    if not name.endswith(SUFFIX):
        raise ReadingError(unknown("reading", name, list(shipped())) + ", or give the path of a .toml file")
    if not is_file(name):
        raise ReadingError(f"reading {name}: no such file; shipped are {', '.join(shipped())}")
    return _from_file(Path(name), ())


def _from_file(path: Path, chain: tuple[Path, ...]) -> Reading:
    if path.resolve() in chain or len(chain) >= LONGEST_CHAIN:
        raise ReadingError(f"reading {path}: it extends itself, or more than {LONGEST_CHAIN} others")
    file = _read(path)
    base: Iterable[Choice] = ()
    if file.extends:
        beside = path.parent / file.extends
        is_other = file.extends.endswith(SUFFIX)
        base = (_from_file(beside, (*chain, path.resolve())) if is_other else reading_named(file.extends)).choices
    return Reading(path.stem, file.title, (*base, *(_owned(choice, choice.unit, path) for choice in file.choice)))


def _read(path: Path) -> _File:
    try:
        return msgspec.convert(read_toml(path), _File)
    except MachineError as error:
        raise ReadingError(str(error).replace("machine file", "reading")) from error
    except msgspec.ValidationError as error:
        raise ReadingError(f"reading {path.name}: {error}") from error


def _owned(choice: Choice, section: str, path: Path) -> Choice:
    """A choice that says whose it is, and says something."""
    from warpsift.machines.machine_file import machine_keys

    where = f"reading {path.name}, {choice.what!r}"
    sections = list(dict.fromkeys(unit.section for unit in units().values()))
    if section not in sections:
        raise ReadingError(f"{where}: {unknown('unit', section, sections)}")
    if not choice.evidence.strip():
        raise ReadingError(f"{where}: a choice needs its evidence: the sentence or the file that supports it")
    for key in flat(choice.set):
        if not key.startswith("costs.") and key not in machine_keys():
            known = unknown("machine parameter", key, machine_keys(), "'warpsift list keys'")
            raise ReadingError(f"{where}: {known}")
    return msgspec.structs.replace(choice, unit=section)


def listing(names: Iterable[str] | None = None) -> Iterator[dict[str, Any]]:
    """Every choice of these readings (default: the shipped ones) as a row."""
    for name in names if names is not None else shipped():
        for choice in reading_named(name).choices:
            yield {"reading": name, **choice.as_dict()}
