"""Several units in one machine: one does the compute stage of the vertex style, another makes its lists of vertices.

In the vertex style a super-step has two parts: the compute stage over the active vertices, and vertex scheduling, which
turns the bits of active vertices into a list. A unit that accelerates the first (`style = "vertex"`) and one that can
do the second (`active_set`) combine; others do not, since they accelerate different texts of an algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from warpsift.algorithms.options import joined
from warpsift.units.unit import Driver, Unit, UnitError

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.energy import BuiltUnit
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine


class Combination(Unit):
    """A unit for the compute stage and one for vertex scheduling; costs and floors add up."""

    def __init__(self, scheduling: Unit, computing: Unit) -> None:
        self.parts = (scheduling, computing)
        self.name = f"{scheduling.name}+{computing.name}"
        self.title = f"{computing.title}; vertex scheduling by the {scheduling.title}"
        self.style, self.place, self.section = computing.style, computing.place, computing.section
        self.sections = tuple(name for part in self.parts for name in part.read_sections())
        self.spec_type, self.tables = computing.spec_type, computing.tables
        declared = [part.options for part in self.parts if part.options is not None]
        self.options = joined(*declared) if declared else None

    def drivers(self, machine: Machine | None) -> Mapping[str, Driver]:
        scheduling, computing = self.parts
        active_set = scheduling.active_set(machine)
        return {
            name: partial(run, active_set=active_set)
            for name, run in computing.drivers(machine).items()
            if name in computing.scheduled
        }

    def components(self) -> Sequence[UnitComponent]:
        return [component for part in self.parts for component in part.components()]

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        found: dict[str, float] = {}
        for part in self.parts:
            for bound, cycles in part.floor(machine, engine).items():
                found[bound] = found.get(bound, 0.0) + cycles
        return found

    def events(self) -> Sequence[Event]:
        return [event for part in self.parts for event in part.events()]

    def built(self, machine: Machine) -> Sequence[BuiltUnit]:
        return [built for part in self.parts for built in part.built(machine)]

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.costs.area import AreaReport

        reports = {part.section: part.area(machine, **choices) for part in self.parts}
        parts = {f"{unit}.{name}": part for unit, report in reports.items() for name, part in report.parts.items()}
        return AreaReport(self.name, next(iter(reports.values())).node_nm, parts)


def combine(units: Sequence[Unit]) -> Unit:
    """The combination of these units, in either order; a clear sentence where there is none."""
    name = "+".join(unit.name for unit in units)
    if len(units) == 2:
        for scheduling, computing in (tuple(units), tuple(reversed(units))):
            if scheduling.section != computing.section and scheduling.schedules and computing.scheduled:
                return Combination(scheduling, computing)
    styles = ", ".join(f"{unit.name}: {unit.style}" for unit in units)
    raise UnitError(
        f"unit '{name}': these do not combine ({styles}): one must schedule vertices and another do the compute stage "
        f"of the vertex style, such as scu+mff; to see units side by side, "
        f"compare --units none,{name.replace('+', ',')}"
    )
