"""Sections of a machine file that belong to special units: `[scu]`, `[mff]`, ...

Machines know no unit by name. Whoever knows the units says so with `describe_units`; a unit's spec is a frozen
`msgspec.Struct` whose defaults hold where a machine file says nothing, with a method `problems(machine)` that yields
what no hardware could have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

SpecTypes = Mapping[str, type[msgspec.Struct]]


def _none() -> SpecTypes:
    return {}


_provider: Callable[[], SpecTypes] = _none


def describe_units(provider: Callable[[], SpecTypes]) -> None:
    """Say who knows the sections of units: a function that gives section -> type of its spec."""
    global _provider
    _provider = provider


def spec_types() -> SpecTypes:
    return _provider()


def default_specs() -> dict[str, Any]:
    """Every unit as its own defaults have it."""
    return {section: kind() for section, kind in spec_types().items()}
