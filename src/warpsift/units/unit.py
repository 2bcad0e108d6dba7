"""The contract of a special unit: everything that the rest of warpsift needs to know of one.

A unit is a folder with one declaration, an instance of a subclass of `Unit`, named in `registry.py` (or by a Python
entry point of another package). Machine files, the engine, costs, results, comparisons and the command line ask the
declaration and know no unit by name. What the parts of a unit compute, they compute from one `spec`.

Only the declaration is imported when warpsift starts; a method imports what it needs when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from warpsift.errors import WarpsiftError

if TYPE_CHECKING:
    import msgspec

    from warpsift.algorithms import Options, Outcome
    from warpsift.algorithms.operators.scheduling import ActiveSet
    from warpsift.costs.area import AreaReport
    from warpsift.costs.coefficients import CostTable
    from warpsift.costs.energy import BuiltUnit
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine

Driver = Callable[..., "Outcome"]  # run(gpu, graph, options)


class Place(Enum):
    """Where a unit sits."""

    CROSSBAR_CLIENT = "a client of the interconnect"
    BEFORE_L2 = "between the interconnect and the L2 slices"
    L2_SLICE = "at the L2 slices"
    LOAD_STORE_UNIT = "at the SMs' load-store units"


class UnitError(WarpsiftError):
    """A unit that does not exist, or that cannot do what it is asked for."""


class Unit:
    """One special unit. Attributes are constants of the class."""

    name: str  # what --unit takes
    title: str  # one line, with the source
    section: str  # of a machine file; its record in the engine has the same name
    sections: Sequence[str] = ()  # of a machine file, if its numbers come from more than its own
    spec_type: type[msgspec.Struct]
    place: Place
    style: str | None  # of the algorithms: what it accelerates and is compared with; None: any, it needs no drivers
    schedules = False  # can make the list of active vertices for another unit (`active_set`)
    scheduled: Sequence[str] = ()  # algorithms whose list of active vertices another unit may make
    area_choices: Mapping[str, Sequence[str]] = MappingProxyType({})  # how it may be built: keywords of `area`
    network_stalls: Sequence[str] = ()  # its counters of cycles in which it waits for the interconnect
    reply_stalls: Sequence[str] = ()  # of these, for room in the reply network
    full_stalls: Sequence[str] = ()  # its counters of cycles in which the network waits for it: it is full
    options: type[Options] | None = None  # what a user may choose beyond the algorithm's options
    tables: Path  # folder with its prices (prices.toml) and gate counts

    def spec(self, machine: Machine) -> Any:
        """The unit's numbers in this machine; timing, energy and area all read these."""
        return machine.unit(self.section)

    def drivers(self, machine: Machine | None) -> Mapping[str, Driver]:
        """How the unit runs each algorithm: name -> run(gpu, graph, options); none if it works under any software."""
        return {}

    def components(self) -> Sequence[UnitComponent]:
        """The unit in the timing engine; several where units are combined."""
        raise NotImplementedError

    def active_set(self, machine: Machine | None) -> Callable[..., ActiveSet]:
        """How the unit makes the list of active vertices: a subclass of `ActiveSet`, or a function that gives one."""
        raise NotImplementedError

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        """Core cycles below which no unit of these numbers could do what it did: `cycles`, and the share by bound."""
        raise NotImplementedError

    def events(self) -> Sequence[Event]:
        """What costs energy: counters and the price each pays, an entry of `prices.toml`."""
        raise NotImplementedError

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        """The unit's silicon, part by part."""
        raise NotImplementedError

    def prices(self) -> CostTable:
        """The prices of its events, with their sources."""
        from warpsift.costs.coefficients import prices_in

        return prices_in(self.tables, self.section, tuple(event.coefficient for event in self.events()))

    def built(self, machine: Machine) -> Sequence[BuiltUnit]:
        """What an energy report needs to know of the unit in this machine; several where units are combined."""
        from warpsift.costs.coefficients import UNIT_LEAKAGE
        from warpsift.costs.energy import BuiltUnit

        report, prices = self.area(machine), self.prices()
        leakage_w = sum(part.leakage_w for part in report.parts.values())
        leakage_w += report.logic_mm2 * prices.coefficients[UNIT_LEAKAGE].value
        return [BuiltUnit(self.section, tuple(self.events()), prices, leakage_w)]

    def read_sections(self) -> set[str]:
        """Every section of a machine file that its numbers come from."""
        return {self.section, *self.sections}

    def driver(self, algorithm: str, machine: Machine | None) -> Driver:
        """How the unit runs one algorithm; a clear sentence if it does not."""
        drivers = self.drivers(machine)
        if algorithm not in drivers:
            raise UnitError(
                f"unit '{self.name}' has no driver for '{algorithm}'; it runs {', '.join(drivers)}: "
                f"leave out the unit, or choose another algorithm"
            )
        return drivers[algorithm]
