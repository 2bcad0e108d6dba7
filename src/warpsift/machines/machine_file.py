"""Reads machine files: `load_machine("gtx980", {"l2.size_bytes": "4194304"})`.

A file may say `extends = "other"` and give only what differs; in its [dram] section, `extends` names a memory
(dram/). `prices` names the cost table of its energy; without it, that of the nearest machine that it extends holds.
Overrides are dotted keys with the value as text, as they come from the command line
(`--set l2.size_bytes=4194304`), or as numbers.
"""

from __future__ import annotations

import contextlib
import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from warpsift.errors import LONGEST_COMPARED, NEAREST, nearest, unknown
from warpsift.machines.ranges import declared, either, shown
from warpsift.machines.spec import Machine, MachineError
from warpsift.machines.toml_file import is_there, read_toml
from warpsift.machines.unit_sections import spec_types

_FOLDER = Path(__file__).parent
DEEPEST = 3  # sections within sections: dram.timing.cl has two; one more to name what is wrong
LONGEST_CHAIN = 16  # machines that extend one another


def machine_names() -> list[str]:
    """Names of the machines that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_machine(name_or_path: str | Path, overrides: Mapping[str, Any] | None = None) -> Machine:
    """Read a machine by name or from a TOML file, apply overrides, and check it."""
    source = str(name_or_path)
    tree = _read(source, ())
    valid = machine_keys()
    for key in _flat({name: value for name, value in tree.items() if name != "lineage"}):
        if key not in valid:
            raise _unknown(key)
    for key, value in (overrides or {}).items():
        _override(tree, key, value)
    lineage = tuple(tree.pop("lineage"))
    machine = msgspec.structs.replace(_convert(tree, source), lineage=lineage)
    machine.check()
    return machine


def machine_keys() -> list[str]:
    """Every key that a machine file may hold, dotted."""
    own = [key.key for key in declared(Machine)]
    return own + [key.key for section, kind in spec_types().items() for key in declared(kind, f"{section}.")]


def machine_parameters(machine: Machine) -> dict[str, Any]:
    """The resolved machine as a flat dictionary with dotted keys."""
    tree = msgspec.to_builtins(machine)
    tree.pop("lineage")
    return _flat(tree | tree.pop("units"))


def _flat(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys and their values. Without recursion: a file may nest as deep as it likes."""
    flat: dict[str, Any] = {}
    waiting = [("", tree)]
    while waiting:
        prefix, branch = waiting.pop(0)
        for key, value in branch.items():
            if isinstance(value, Mapping) and value and prefix.count(".") < DEEPEST:
                waiting.append((f"{prefix}{key}.", value))
            else:
                flat[prefix + key] = value
    return flat


def _read(name: str, chain: tuple[Path, ...]) -> dict[str, Any]:
    path = Path(name) if name.endswith(".toml") else _FOLDER / f"{name}.toml"
    if not is_there(path):
        near = difflib.get_close_matches(name[:LONGEST_COMPARED], machine_names(), NEAREST)
        known = nearest(near, machine_names(), "'warpsift list machines'")
        raise MachineError(f"no machine {shown(name)}: {known}, or give the path of a .toml file")
    if path.resolve() in chain:
        steps = " -> ".join(step.name for step in (*chain, path))
        raise MachineError(f"machine {shown(name)} extends itself: {steps}")
    if len(chain) >= LONGEST_CHAIN:
        raise MachineError(f"machine {shown(name)}: {LONGEST_CHAIN} files extend one another; write fewer")
    tree = read_toml(path)
    if "lineage" in tree:
        raise _unknown("lineage")
    tree.setdefault("name", path.stem)
    own_lineage = _prices(tree, path)
    own_memory = _resolve_memory(tree, path)
    base = tree.pop("extends", None)
    if base is None:
        return tree | {"lineage": own_lineage}
    if not isinstance(base, str):
        raise MachineError(f"machine file {path.name}: extends = {shown(base)}; write the name of a machine")
    if is_there(path.parent / f"{base}.toml"):
        base = str(path.parent / f"{base}.toml")
    merged = _read(base, (*chain, path.resolve()))
    if own_memory:
        merged.pop("dram", None)
    return _merge(merged, tree) | {"lineage": [*own_lineage, *merged["lineage"]]}


def _prices(tree: dict[str, Any], path: Path) -> list[str]:
    """Whose prices this file's machine may have: what it says, a path as seen from its folder, then its own name.

    They move to the lineage, nearest first, so that a machine with a table of its own does not inherit another's.
    """
    found = [str(tree["name"])]
    if "prices" in tree:
        said = str(tree.pop("prices"))
        found.insert(0, str((path.parent / said).resolve()) if said.endswith(".toml") else said)
    return found


def memory_names() -> list[str]:
    """Names that `dram.extends` may give: memories that come with the package."""
    return sorted(path.stem for path in (_FOLDER / "dram").glob("*.toml"))


def _resolve_memory(tree: dict[str, Any], path: Path) -> bool:
    """Replace `dram.extends = "name"` by that memory's file; whether there was one."""
    section = tree.get("dram")
    if not isinstance(section, dict) or "extends" not in section:
        return False
    name = section.pop("extends")
    if name not in memory_names():
        near = difflib.get_close_matches(str(name)[:LONGEST_COMPARED], memory_names(), NEAREST)
        known = nearest(near, memory_names(), f"the folder {_FOLDER / 'dram'}")
        raise MachineError(f"machine file {path.name}: no memory {shown(name)} for dram.extends: {known}")
    tree["dram"] = _merge(read_toml(_FOLDER / "dram" / f"{name}.toml"), section)
    return True


def _merge(base: dict[str, Any], changes: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), dict) and depth < DEEPEST:
            _merge(base[key], value, depth + 1)
        else:
            base[key] = value
    return base


def _unknown(key: str) -> MachineError:
    valid = machine_keys()
    sections = list(dict.fromkeys(k.rpartition(".")[0] for k in valid))
    inside = [k for k in valid if k.startswith(f"{key}.")]
    if inside:
        return MachineError(f"machine key {key!r} is a section: write [{key}] and in it keys such as {inside[0]}")
    section = key.rpartition(".")[0]
    siblings = [k for k in valid if k.rpartition(".")[0] == section] if section in sections and section else []
    return MachineError(unknown("machine key", shown(key)[1:-1], siblings or valid, "'warpsift list keys'"))


def _override(tree: dict[str, Any], key: str, value: Any) -> None:
    if key not in machine_keys():
        raise _unknown(key)
    *sections, last = key.split(".")
    for section in sections:
        tree = tree.setdefault(section, {})
    if isinstance(value, str):
        # A bare word is a string: --set sm.policy=lrr. So is what TOML cannot read: its key will say what it wants.
        with contextlib.suppress(ValueError, RecursionError):
            value = tomllib.loads(f"value = {value}")["value"]
    tree[last] = value


def _convert(tree: dict[str, Any], source: str) -> Machine:
    units = {section: _typed(tree.pop(section, {}), kind, source, section) for section, kind in spec_types().items()}
    return msgspec.structs.replace(_typed(tree, Machine, source), units=units)


def _typed(tree: dict[str, Any], kind: type, source: str, section: str = "") -> Any:
    """A section's values as its struct; a wrong one is an error that names its key."""
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        place = section + place.rstrip("`") if section else place.rstrip("`").lstrip(".")
        where = f"key {place!r}: " if place else ""
        choices = {key.key: key.choices for key in declared(kind, f"{section}." if section else "")}.get(place)
        if choices and message.startswith("Invalid enum value"):
            message = f"{shown(_flat(tree).get(place.removeprefix(section).lstrip('.')))}; write {either(choices)}"
        raise MachineError(f"machine {shown(source)}: {where}{message}") from error
