"""Special hardware units, by name: what `--unit` and `compare --units` accept.

    run = units.resolve("scu", machine)["bfs"]
    outcome = run(gpu, graph, options)

To add a unit, write its module with a function `styles(machine) -> {algorithm: run}` and name it here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from warpsift.errors import WarpsiftError

# name -> (module, function); imported when asked for
UNITS: dict[str, tuple[str, str]] = {
    "none": ("warpsift.units.registry", "baseline"),
    "scu": ("warpsift.units.registry", "scu_enhanced"),
    "scu-basic": ("warpsift.units.registry", "scu_basic"),
    "mff": ("warpsift.units.mff", "styles"),
}


class UnitError(WarpsiftError):
    """A unit that does not exist, or that does not run an algorithm."""


def resolve(name: str, machine: Any = None) -> dict[str, Callable]:
    """The unit's way of running each algorithm: `run(gpu, graph, options) -> Outcome`."""
    if name not in UNITS:
        raise UnitError(f"no unit {name!r}; write one of {', '.join(UNITS)}")
    module, function = UNITS[name]
    return getattr(import_module(module), function)(machine)
