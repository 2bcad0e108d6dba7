"""Which units there are. To add one, write its folder and name it here; `CONTRIBUTING.md` has the steps.

Another package adds units by an entry point of the group `warpsift.units` that leads to a module with `UNITS`.
"""

from __future__ import annotations

import functools
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from warpsift.errors import unknown
from warpsift.machines.unit_sections import SpecTypes, describe_units
from warpsift.units.unit import Unit, UnitError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Section of a machine file -> module with a tuple `UNITS`. The order decides the units' sockets in the engine.
BUILT_IN = {
    "scu": "warpsift.units.scu",
    "mff": "warpsift.units.mff",
    "next_line": "warpsift.units.next_line",
    "scu_slice": "warpsift.units.scu.slice_unit",
    "iru": "warpsift.units.iru",
    "iscu": "warpsift.units.scu.iscu",
}
ENTRY_POINTS = "warpsift.units"
NO_UNIT = "none"


@functools.cache
def _modules() -> Mapping[str, str]:
    """Section -> module, those of other packages behind ours."""
    others = {found.name: found.value for found in entry_points(group=ENTRY_POINTS)}
    return {**BUILT_IN, **{name: others[name] for name in sorted(others) if name not in BUILT_IN}}


def outside_modules() -> list[str]:
    """The modules of other packages that declare units."""
    return [module for section, module in _modules().items() if section not in BUILT_IN]


def socket_of(section: str) -> int:
    """Which socket of the engine a unit has."""
    return list(_modules()).index(section)


@functools.cache
def units() -> Mapping[str, Unit]:
    """All units by name."""
    found: dict[str, Unit] = {}
    for section, module in _modules().items():
        try:
            for unit in import_module(module).UNITS:
                found[unit.name] = unit
        except Exception as error:
            if section in BUILT_IN:
                raise
            raise UnitError(f"unit package '{section}' ({module}) cannot be loaded: {error}") from error
    return found


def unit_names() -> list[str]:
    """What --unit accepts, `none` first."""
    return [NO_UNIT, *units()]


def unit_named(name: str) -> Unit:
    if name not in units():
        raise UnitError(unknown("unit", name, unit_names()))
    return units()[name]


def resolve(name: str) -> Unit | None:
    """The unit that `--unit` names: one, several joined by `+`, or None for `none`."""
    if name == NO_UNIT:
        return None
    if not isinstance(name, str):  # a sweep file may say anything
        raise UnitError(f"unit {str(name)[:40]!r}: expected a name, such as {NO_UNIT!r} or 'scu'")
    if "+" not in name:
        return unit_named(name)
    from warpsift.units.combination import combine

    return combine([unit_named(part) for part in name.split("+")])


def spec_types() -> SpecTypes:
    """Sections that units add to machine files."""
    return {unit.section: unit.spec_type for unit in units().values()}


describe_units(spec_types)
