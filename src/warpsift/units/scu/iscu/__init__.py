"""IRU-enhanced SCU: filtering, merging and grouping in a hash at the L2 slices, in one pass (docs/iscu.md).

Segura, Arnau and González, IEEE Trans. Computers 2021, 10.1109/TC.2021.3104749; its parts are a design of ours.

iscu_spec.py   numbers of the parts      iscu_api.py, iscu_operation.py   the operations that pass them
iscu_hash.py   what the parts compute    drivers/                         BFS, SSSP and PageRank in the frontier style
iscu_sender.py the SCU's end, in the engine; iscu_parts.py: the slices'; ../iscu_socket.py: calls in
iscu_state.py, iscu_component.py   records; Python's side      iscu_costs.py   events, area, analytic floor
Operations without merging, the pipeline and its numbers (`[scu]`) are the SCU's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.units.scu import ScuUnit
from warpsift.units.scu.iscu.iscu_spec import IscuSpec
from warpsift.units.unit import Driver, Place, Unit

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.coefficients import CostTable
    from warpsift.costs.energy import BuiltUnit
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine

PARTS_UNTIMED = 16  # parts of the unit where no machine says how many slices it has


class IscuUnit(ScuUnit):
    name = "iscu"
    title = "IRU-enhanced SCU (Segura et al., IEEE Trans. Computers 2021; its parts are a design of ours)"
    section = "iscu"
    sections = ("scu", "iscu")
    spec_type = IscuSpec
    place = Place.L2_SLICE
    network_stalls = (*ScuUnit.network_stalls, "iscu_stall_reply_cycles")
    reply_stalls = ("iscu_stall_reply_cycles",)
    tables = Path(__file__).parent
    enhanced = False  # the SCU's own filtering and grouping is left out

    def drivers(self, machine: Machine | None) -> Mapping[str, Driver]:
        from warpsift.units.scu.iscu.drivers import DRIVERS

        spec = IscuSpec() if machine is None else self.spec(machine)
        parts = PARTS_UNTIMED if machine is None else machine.l2.slices
        scu = None if machine is None else machine.unit("scu")
        return {name: partial(run, spec=scu, iscu_spec=spec, parts=parts) for name, run in DRIVERS.items()}

    def components(self) -> Sequence[UnitComponent]:
        from warpsift.units.scu.iscu.iscu_component import PartComponent, ScuWithParts

        return [ScuWithParts(), PartComponent()]

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        from warpsift.units.scu.iscu.iscu_costs import floor_cycles

        return floor_cycles(machine, [timed.counters for timed in engine.operations if timed.info.unit == "scu"])

    def events(self) -> Sequence[Event]:
        from warpsift.units.scu.iscu.iscu_costs import EVENTS

        return [*super().events(), *EVENTS]

    def prices(self) -> CostTable:
        return _Parts().prices()

    def built(self, machine: Machine) -> Sequence[BuiltUnit]:
        return [*_Center().built(machine), *_Parts().built(machine)]

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.costs.area import AreaReport

        center = _Center().area(machine, **choices)
        parts = _Parts().area(machine, node_nm=center.node_nm)
        every = {**center.parts, **{f"parts.{name}": part for name, part in parts.parts.items()}}
        return AreaReport(self.name, center.node_nm, every, note=center.note)


class _Center(ScuUnit):
    """The SCU without filtering and grouping, but with the buffer that it has for them, for costs alone."""

    enhanced = False

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from dataclasses import replace

        from warpsift.units.scu.scu_area import Built, hash_buffer

        basic = super().area(machine, **choices)
        landing = hash_buffer(machine.unit("scu"), Built(**choices))
        return replace(basic, parts={**basic.parts, "landing_buffer": landing}, paper={})


class _Parts(Unit):
    """What is at the slices, for costs alone."""

    section = "iscu"
    tables = IscuUnit.tables

    def events(self) -> Sequence[Event]:
        from warpsift.units.scu.iscu.iscu_costs import EVENTS

        return EVENTS

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.units.scu.iscu.iscu_costs import area

        return area(self.spec(machine), machine.l2.slices, machine.unit("scu").width, **choices)


UNITS = (IscuUnit(),)
