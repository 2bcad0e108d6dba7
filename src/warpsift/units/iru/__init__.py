"""Irregular accesses Reorder Unit: a warp gets elements that address one memory block (arXiv 2007.07131).

iru_spec.py      its numbers                     iru_threads.py   iru_stream and t.iru_load, as a program calls them
iru_reorder.py   the order, and what is merged   drivers/         BFS, SSSP and PageRank in the frontier style
iru_socket.py    the unit in the engine: calls in; iru_command.py: the SM's side; iru_parts.py: the slices'
iru_state.py, iru_component.py   records; Python's side         iru_costs.py   events, area, analytic floor
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.units.iru.iru_spec import IruSpec
from warpsift.units.unit import Driver, Place, Unit

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine

PARTS_UNTIMED = 16  # parts of the unit where no machine says how many slices it has


class IruUnit(Unit):
    name = "iru"
    title = "Irregular accesses Reorder Unit (Segura et al., arXiv 2007.07131; its parts are a design of ours)"
    section = "iru"
    spec_type = IruSpec
    place = Place.BEFORE_L2
    style = "frontier"
    network_stalls = reply_stalls = ("iru_stall_reply_cycles",)
    tables = Path(__file__).parent

    def drivers(self, machine: Machine | None) -> Mapping[str, Driver]:
        from warpsift.units.iru.drivers import DRIVERS

        spec = IruSpec() if machine is None else self.spec(machine)
        parts = PARTS_UNTIMED if machine is None else machine.l2.slices
        return {name: partial(run, spec=spec, parts=parts) for name, run in DRIVERS.items()}

    def components(self) -> Sequence[UnitComponent]:
        from warpsift.units.iru.iru_component import IruComponent

        return [IruComponent()]

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        from warpsift.units.iru.iru_costs import floor_cycles

        return floor_cycles(machine, [timed.counters for timed in engine.launches])

    def events(self) -> Sequence[Event]:
        from warpsift.units.iru.iru_costs import EVENTS

        return EVENTS

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.units.iru.iru_costs import area

        return area(self.spec(machine), machine.l2.slices, **choices)


UNITS = (IruUnit(),)
