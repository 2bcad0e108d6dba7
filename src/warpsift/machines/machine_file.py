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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from warpsift.machines.spec import Machine, MachineError
from warpsift.machines.unit_sections import spec_types

_FOLDER = Path(__file__).parent


def machine_names() -> list[str]:
    """Names of the machines that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_machine(name_or_path: str | Path, overrides: Mapping[str, Any] | None = None) -> Machine:
    """Read a machine by name or from a TOML file, apply overrides, and check it."""
    tree = _read(str(name_or_path), ())
    for key, value in (overrides or {}).items():
        _override(tree, key, value)
    lineage = tuple(tree.pop("lineage"))
    machine = msgspec.structs.replace(_convert(tree, str(name_or_path)), lineage=lineage)
    machine.check()
    return machine


def machine_keys() -> list[str]:
    """Every key that a machine file may hold, dotted."""
    own = [key for key in _keys(Machine, "") if key not in ("units", "lineage")]
    return own + [key for section, kind in spec_types().items() for key in _keys(kind, f"{section}.")]


def machine_parameters(machine: Machine) -> dict[str, Any]:
    """The resolved machine as a flat dictionary with dotted keys."""
    tree = msgspec.to_builtins(machine)
    units = tree.pop("units")
    tree.pop("lineage")
    flat: dict[str, Any] = {}
    _flatten(tree | units, "", flat)
    return flat


def _flatten(tree: Mapping[str, Any], prefix: str, flat: dict[str, Any]) -> None:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            _flatten(value, f"{prefix}{key}.", flat)
        else:
            flat[prefix + key] = value


def _read(name: str, chain: tuple[str, ...]) -> dict[str, Any]:
    path = Path(name)
    if path.suffix != ".toml":
        path = _FOLDER / f"{name}.toml"
    if not path.exists():
        known = ", ".join(machine_names())
        raise MachineError(f"no machine {name!r}: known are {known}; or give the path of a .toml file")
    if name in chain:
        raise MachineError(f"machine {name!r} extends itself: {' -> '.join((*chain, name))}")
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MachineError(f"machine file {path}: {error}") from error
    if "lineage" in tree:
        raise _unknown("lineage")
    tree.setdefault("name", path.stem)
    own_lineage = _prices(tree, path)
    own_memory = _resolve_memory(tree, path)
    base = tree.pop("extends", None)
    if base is None:
        return tree | {"lineage": own_lineage}
    if (path.parent / f"{base}.toml").exists():
        base = str(path.parent / f"{base}.toml")
    merged = _read(str(base), (*chain, name))
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
    memory = _FOLDER / "dram" / f"{name}.toml"
    if not memory.exists():
        known = ", ".join(memory_names())
        raise MachineError(f"machine file {path.name}: no memory {name!r} for dram.extends: known are {known}")
    tree["dram"] = _merge(tomllib.loads(memory.read_text(encoding="utf-8")), section)
    return True


def _merge(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = value
    return base


def _keys(struct: type, prefix: str) -> Iterator[str]:
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _keys(field.type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def _unknown(key: str) -> MachineError:
    valid = machine_keys()
    section = key.rpartition(".")[0]
    near = [k for k in valid if k.rpartition(".")[0] == section] if section else []
    close = difflib.get_close_matches(key, valid, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return MachineError(f"unknown machine key {key!r}{hint} (valid keys: {', '.join(near or valid)})")


def _override(tree: dict[str, Any], key: str, value: Any) -> None:
    if key not in machine_keys():
        raise _unknown(key)
    *sections, last = key.split(".")
    for section in sections:
        tree = tree.setdefault(section, {})
    if isinstance(value, str):
        with contextlib.suppress(tomllib.TOMLDecodeError):  # a bare word is a string: --set sm.policy=lrr
            value = tomllib.loads(f"value = {value}")["value"]
    tree[last] = value


def _convert(tree: dict[str, Any], source: str) -> Machine:
    flat: dict[str, Any] = {}
    _flatten(tree, "", flat)
    valid = set(machine_keys())
    for key in flat:
        if key not in valid:
            raise _unknown(key)
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
        raise MachineError(f"machine {source!r}: {where}{message}") from error
