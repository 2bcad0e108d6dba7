"""Memory Fast-Forward unit: chases pointers next to memory and merges requests over time (Park et al., DATE 2015).

mff_spec.py     its numbers                 mff_threads.py   PC_gather, PC_scatter_set, PC_wait in kernels
drivers/        the four algorithms         mff_lists.py     what they share
mff_socket.py   the unit in the engine: calls in; mff_component.py: Python's side; mff_state.py: records
mff_command.py  the SM's side               mff_issue.py     issue engines
mff_unit.py     memory units                mff_tags.py, mff_words.py  tags and lines, registers with data
mff_events.py, mff_area.py, mff_floor.py: energy events, area, analytic floor
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.units.mff.mff_spec import MffSpec
from warpsift.units.unit import Driver, Place, Unit

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine


class MffUnit(Unit):
    area_choices = {"registers": ("banked", "single"), "memory_units": ("slices", "paper")}  # noqa: RUF012
    name = "mff"
    title = "Memory Fast-Forward unit (Park et al., DATE 2015)"
    section = "mff"
    spec_type = MffSpec
    place = Place.BEFORE_L2
    style = "vertex"
    scheduled = ("bfs", "sssp", "wcc")  # PageRank works on all vertices
    network_stalls = reply_stalls = ("mff_stall_reply_cycles",)
    full_stalls = ("mff_stall_job_cycles",)
    tables = Path(__file__).parent

    def drivers(self, machine: Machine | None) -> Mapping[str, Driver]:
        from warpsift.units.mff.drivers import DRIVERS

        return DRIVERS

    def components(self) -> Sequence[UnitComponent]:
        from warpsift.units.mff.mff_component import MffComponent

        return [MffComponent()]

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        from warpsift.units.mff.mff_floor import floor_cycles

        return floor_cycles(machine, [timed.counters for timed in engine.launches])

    def events(self) -> Sequence[Event]:
        from warpsift.units.mff.mff_events import EVENTS

        return EVENTS

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.units.mff.mff_area import area

        return area(self.spec(machine), machine.l2.slices, **choices)


UNITS = (MffUnit(),)
