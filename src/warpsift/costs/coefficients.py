"""Cost tables: TOML entries, each with its source, become energies per event and powers at the machine's technology.

An entry `[event.NAME]` gives an energy as the sum of any of
    pj      picojoules, with the `node_nm` and `voltage_v` they were published for (scaled to the table's technology;
            `scale = false` takes them as they are)
    cacti   accesses to arrays of the CACTI table: kind, size_bytes, word_bits, associativity, and how many
            `read`, `write`, `search` of each; at the table's node, scaled to its voltage
    wire    bits moved over length_mm at fj_per_bit_mm, published for voltage_v (scales with V squared)
and `[power.NAME]` gives watts. Both must carry `source`, `trust` and the factors `low` and `high` between which the
true value is thought to lie. A GPU's table says in `[design]` which machine its watts are those of (`design`).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from warpsift.costs import cacti_table, dram_power, scaling
from warpsift.costs.cost_errors import CostNameError, CostTableError, unknown
from warpsift.costs.design import KEYS as DESIGN_KEYS
from warpsift.costs.design import Design
from warpsift.costs.events import DRAM_EVENTS, DRAM_STATES, GPU_EVENTS, GPU_POWERS

UNIT_LEAKAGE = "logic_leakage_per_mm2"  # the power that a unit's prices must state
TRUST = ("measured", "published", "model", "derived", "assumption")  # from firm to weak
_EVENT_KEYS = {"pj", "node_nm", "voltage_v", "scale", "cacti", "wire", "source", "trust", "low", "high"}
_POWER_KEYS = {"w", "source", "trust", "low", "high"}
_CACTI_KEYS = {"kind", "size_bytes", "word_bits", "associativity", "read", "write", "search", "count"}
_WIRE_KEYS = {"bits", "length_mm", "fj_per_bit_mm", "voltage_v"}


@dataclass(frozen=True)
class Coefficient:
    """One price: `value` in joules per event, or in watts (`unit` 'J' or 'W')."""

    name: str
    value: float
    unit: str
    low: float  # factors: the value lies between low x value and high x value
    high: float
    trust: str
    source: str
    how: str  # how the value follows from the source


@dataclass(frozen=True)
class CostTable:
    """All prices of one machine or unit."""

    name: str
    description: str
    node_nm: float
    voltage_v: float
    technology_source: str
    coefficients: Mapping[str, Coefficient]
    dram: Mapping[str, Any]
    limits: Mapping[str, Any]  # tdp_w, idle_w, die_mm2 and their source
    design: Design | None = None  # the machine that the watts hold for; a unit has none

    def override(self, values: Mapping[str, float]) -> CostTable:
        """The table with some prices replaced (in J or W), as `--set` asks for."""
        changed = dict(self.coefficients)
        for name, value in values.items():
            if name not in changed:
                raise CostNameError(unknown(f"coefficient of {self.name}", name, changed))
            if value < 0:
                raise CostTableError(f"coefficient {name} = {value:g} of {self.name}: a cost cannot be negative.")
            changed[name] = replace(changed[name], value=float(value), trust="assumption", source="set by the user")
        return replace(self, coefficients=changed)


def names() -> list[str]:
    """The GPUs that have a cost table."""
    skip = ("dram_", "cacti", "cells")
    files = [f.name[:-5] for f in _folder().iterdir() if f.name.endswith(".toml")]
    return sorted(name for name in files if not name.startswith(skip))


def gpu_table(name: str) -> CostTable:
    """The prices of a GPU and its memory: a shipped table by name, or the path of one (.toml)."""
    if name.endswith(".toml"):
        path = Path(name)
        try:
            return _gpu_table(path.stem, path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise CostTableError(f"cost table {name}: {error}") from error
    if name not in names():
        raise CostNameError(unknown("machine in the cost tables", name, names()))
    return _gpu_table(name, _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@functools.cache
def _gpu_table(name: str, text: str) -> CostTable:
    data = tomllib.loads(text)
    if "design" not in data:
        raise CostTableError(f"{name}.toml: [design] is missing; say for which machine its watts hold.")
    return parse(name, data, [e.coefficient for e in GPU_EVENTS], list(GPU_POWERS))


@functools.cache
def prices_in(folder: Path, unit: str, events: tuple[str, ...] | None = None) -> CostTable:
    """The prices of a unit, from `prices.toml` in its folder; `events` are the coefficients that it must have."""
    path = folder / "prices.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CostTableError(f"prices of unit '{unit}': {error}") from error
    return parse(unit, data, data.get("event", {}) if events is None else events, [UNIT_LEAKAGE])


def _folder() -> Traversable:
    return resources.files("warpsift.costs").joinpath("tables")


def parse(name: str, data: Mapping[str, Any], events: Iterable[str], powers: Iterable[str]) -> CostTable:
    """A table from its TOML, every entry checked."""
    where = f"{name}.toml"
    _only(where, data, {"description", "technology", "design", "event", "power", "dram", "limits"})
    technology = _section(where, data, "technology", {"node_nm", "voltage_v", "source"})
    node_nm, voltage_v = technology["node_nm"], technology["voltage_v"]
    dram = dict(data.get("dram", {}))
    found: dict[str, Coefficient] = {}
    wanted = list(events)
    if dram.get("device") == "events":  # a column of a power model that prices DRAM per event itself
        wanted += [e.coefficient for e in DRAM_EVENTS]
    elif dram:
        found.update(_dram_coefficients(where, dram))
    entries = data.get("event", {})
    _complete(where, "event", entries, wanted)
    for key, entry in entries.items():
        found[key] = _event(f"{where}, [event.{key}]", key, entry, node_nm, voltage_v)
    entries = data.get("power", {})
    _complete(where, "power", entries, powers)
    for key, entry in entries.items():
        found[key] = _power(f"{where}, [power.{key}]", key, entry)
    return CostTable(
        name=name,
        description=data.get("description", ""),
        node_nm=node_nm,
        voltage_v=voltage_v,
        technology_source=technology["source"],
        coefficients=found,
        dram=dram,
        limits=dict(data.get("limits", {})),
        design=Design(**_section(where, data, "design", DESIGN_KEYS)) if "design" in data else None,
    )


def _only(where: str, entry: Mapping[str, Any], allowed: set[str]) -> None:
    for key in entry:
        if key not in allowed:
            raise CostTableError(f"{where}: {unknown('key', key, allowed)}")


def _section(where: str, data: Mapping[str, Any], name: str, keys: set[str]) -> Mapping[str, Any]:
    section = data.get(name, {})
    _only(f"{where}, [{name}]", section, keys)
    for key in sorted(keys):
        if key not in section:
            raise CostTableError(f"{where}, [{name}]: {key!r} is missing; every table must state it.")
    return section


def _complete(where: str, kind: str, entries: Mapping[str, Any], wanted: Iterable[str]) -> None:
    wanted = list(wanted)
    for key in entries:
        if key not in wanted:
            raise CostTableError(f"{where}: {unknown(f'{kind} entry', key, wanted)}")
    for key in wanted:
        if key not in entries:
            raise CostTableError(f"{where}: [{kind}.{key}] is missing; every {kind} of this table needs a price.")


def _checked(where: str, entry: Mapping[str, Any], allowed: set[str]) -> None:
    _only(where, entry, allowed)
    for key in ("source", "trust", "low", "high"):
        if key not in entry:
            raise CostTableError(f"{where}: {key!r} is missing; every number carries its source and its range.")
    if entry["trust"] not in TRUST:
        raise CostTableError(f"{where}: {unknown('trust', entry['trust'], TRUST)}")
    if not 0 < entry["low"] <= 1 <= entry["high"]:
        raise CostTableError(
            f"{where}: low = {entry['low']:g} and high = {entry['high']:g} must be factors around 1, "
            "such as low = 0.5, high = 2.0."
        )


def _power(where: str, name: str, entry: Mapping[str, Any]) -> Coefficient:
    _checked(where, entry, _POWER_KEYS)
    if not isinstance(entry.get("w"), int | float) or entry["w"] < 0:
        raise CostTableError(f"{where}: 'w' must be a power in watts, not negative, such as w = 12.5.")
    return Coefficient(
        name, float(entry["w"]), "W", entry["low"], entry["high"], entry["trust"], entry["source"], "as stated"
    )


def _event(where: str, name: str, entry: Mapping[str, Any], node_nm: float, voltage_v: float) -> Coefficient:
    _checked(where, entry, _EVENT_KEYS)
    if not {"pj", "cacti", "wire"} & set(entry):
        raise CostTableError(f"{where}: no energy; write pj = ..., cacti = [...] or wire = {{...}}.")
    picojoules, how = 0.0, []
    if "pj" in entry:
        part, words = _stated(where, entry, node_nm, voltage_v)
        picojoules += part
        how.append(words)
    for access in entry.get("cacti", []):
        part, words = _accesses(where, access, node_nm, voltage_v)
        picojoules += part
        how.append(words)
    if "wire" in entry:
        part, words = _wire(where, entry["wire"], voltage_v)
        picojoules += part
        how.append(words)
    return Coefficient(
        name,
        picojoules * 1e-12,
        "J",
        entry["low"],
        entry["high"],
        entry["trust"],
        entry["source"],
        " + ".join(how),
    )


def _stated(where: str, entry: Mapping[str, Any], node_nm: float, voltage_v: float) -> tuple[float, str]:
    if not entry.get("scale", True):
        return entry["pj"], f"{entry['pj']:g} pJ as stated"
    for key in ("node_nm", "voltage_v"):
        if key not in entry:
            raise CostTableError(f"{where}: {key!r} is missing; say for which technology {entry['pj']:g} pJ holds.")
    factor = scaling.scale_energy(1.0, entry["node_nm"], entry["voltage_v"], node_nm, voltage_v)
    words = f"{entry['pj']:g} pJ at {entry['node_nm']:g} nm, {entry['voltage_v']:g} V, x {factor:.3f}"
    return entry["pj"] * factor, words


def _accesses(where: str, access: Mapping[str, Any], node_nm: float, voltage_v: float) -> tuple[float, str]:
    _only(f"{where}, cacti", access, _CACTI_KEYS)
    node = int(node_nm)
    ways = access.get("associativity", 1)
    found = cacti_table.figures(access["kind"], access["size_bytes"], access["word_bits"], node, ways)
    counts = {kind: access.get(kind, 0) for kind in ("read", "write", "search")}
    energy = sum(count * getattr(found, f"{kind}_pj") for kind, count in counts.items())
    factor = cacti_table.voltage_factor(node, voltage_v) * access.get("count", 1)
    said = ", ".join(f"{count:g} {kind}" for kind, count in counts.items() if count)
    copies = f"{access['count']} x " if access.get("count", 1) != 1 else ""
    array = f"{access['size_bytes']} B {access['kind']}, {access['word_bits']} bit"
    words = f"{copies}({said}) of a {array}, at {voltage_v:g} V"
    return energy * factor, words


def _wire(where: str, wire: Mapping[str, Any], voltage_v: float) -> tuple[float, str]:
    _only(f"{where}, wire", wire, _WIRE_KEYS)
    factor = (voltage_v / wire["voltage_v"]) ** 2
    energy = wire["bits"] * wire["length_mm"] * wire["fj_per_bit_mm"] / 1e3 * factor
    return energy, f"{wire['bits']} bit x {wire['length_mm']:g} mm x {wire['fj_per_bit_mm']:g} fJ x {factor:.2f}"


def _dram_coefficients(where: str, dram: Mapping[str, Any]) -> dict[str, Coefficient]:
    keys = {"device", "devices", "devices_per_channel", "clock_mhz", "access_bytes", "refresh_scale", "source"}
    _section(where, {"dram": dram}, "dram", keys)
    device = dram_power.device(dram["device"])
    bits, per_channel = 8 * dram["access_bytes"], dram["devices_per_channel"]
    joules = {
        "dram_activate": dram_power.activate_nj(device) * 1e-9 * per_channel,
        "dram_read": dram_power.read_pj_per_bit(device) * 1e-12 * bits,
        "dram_write": dram_power.write_pj_per_bit(device) * 1e-12 * bits,
        "dram_io_read": dram_power.io_pj_per_bit(device) * 1e-12 * bits,
        "dram_io_write": dram_power.io_pj_per_bit(device, write=True) * 1e-12 * bits,
        "dram_refresh": dram_power.refresh_nj(device) * 1e-9 * per_channel * dram["refresh_scale"],
    }
    how = f"IDD equations for {device.name}"
    found = {
        name: Coefficient(name, value, "J", 0.6, 1.6, "model", device.source, how) for name, value in joules.items()
    }
    for name, state in DRAM_STATES.items():
        watts = dram_power.background_w(device, state)
        found[name] = Coefficient(name, watts, "W", 0.6, 1.6, "model", device.source, f"{how}, per device")
    return found
