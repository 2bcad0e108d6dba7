"""The SCU whose hash tables are probed at the L2 slices: filtering and grouping where the table is (docs/scu-slice.md).

slice_spec.py             numbers of the stations       scu_remote.py    the SCU's end: probes out, answers in
slice_station.py          the slices' end               slice_state.py, slice_socket.py, slice_component.py
slice_costs.py, slices/   energy events, prices, area, analytic floor
Operations, pipeline and drivers are the SCU's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warpsift.units.scu import ScuUnit
from warpsift.units.scu.slice_spec import SliceSpec
from warpsift.units.unit import Place, Unit

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.coefficients import CostTable
    from warpsift.costs.energy import BuiltUnit
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine


class SliceScuUnit(ScuUnit):
    name = "scu-slice"
    title = "Stream Compaction Unit that filters and groups at the L2 slices (a design of ours)"
    section = "scu_slice"
    sections = ("scu", "scu_slice")
    spec_type = SliceSpec
    place = Place.L2_SLICE
    network_stalls = (*ScuUnit.network_stalls, "scu_slice_stall_answer_cycles")
    reply_stalls = ("scu_slice_stall_answer_cycles",)
    tables = ScuUnit.tables / "slices"

    def components(self) -> Sequence[UnitComponent]:
        from warpsift.units.scu.slice_component import ScuOfStations, StationComponent

        return [ScuOfStations(), StationComponent()]

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        from warpsift.units.scu.slice_costs import floor_cycles

        mine = [timed.counters for timed in engine.operations if timed.info.unit == "scu"]
        return floor_cycles(machine, mine)

    def events(self) -> Sequence[Event]:
        from warpsift.units.scu.slice_costs import EVENTS

        return [*super().events(), *EVENTS]

    def prices(self) -> CostTable:
        return _Stations().prices()

    def built(self, machine: Machine) -> Sequence[BuiltUnit]:
        return [*ScuUnit().built(machine), *_Stations().built(machine)]

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.costs.area import AreaReport

        unit = super().area(machine, **choices)
        stations = _Stations().area(machine, node_nm=unit.node_nm)
        parts = {**unit.parts, **{f"stations.{name}": part for name, part in stations.parts.items()}}
        return AreaReport(self.name, unit.node_nm, parts, note=unit.note)


class _Stations(Unit):
    """What is at the slices, for costs alone."""

    section = "scu_slice"
    tables = SliceScuUnit.tables

    def events(self) -> Sequence[Event]:
        from warpsift.units.scu.slice_costs import EVENTS

        return EVENTS

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.units.scu.slice_costs import area

        return area(self.spec(machine), machine.l2.slices, **choices)


UNITS = (SliceScuUnit(),)
