"""Stream Compaction Unit: compaction, duplicate filtering and access grouping off the cores (Segura et al., ISCA 2019).

scu_spec.py, scu_buffers.py   its numbers              scu_api.py      the five operations, as a host calls them
scu_operation.py, scu_walk.py, filtering.py, grouping.py   what they compute     scu_checks.py   wrong arguments
scu_trace.py                  what the engine gets      drivers/, scu_frontier.py, scu_scheduling.py   algorithms
scu_pipeline.py               the unit in the engine: stages; scu_probes.py, scu_memory.py, scu_state.py
scu_component.py              Python's side of it       scu_events.py, scu_area.py, scu_floor.py   prices, area, floor
slice_*.py, slices/           probes at the L2 slices   iscu_socket.py, iscu/   filter and hash at the L2 slices
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.unit import Driver, Place, Unit

if TYPE_CHECKING:
    import msgspec

    from warpsift.algorithms.operators.scheduling import ActiveSet
    from warpsift.costs.area import AreaReport
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine


class ScuUnit(Unit):
    name = "scu"
    title = "Stream Compaction Unit with filtering and grouping (Segura et al., ISCA 2019)"
    section = "scu"
    spec_type: type[msgspec.Struct] = ScuSpec
    place = Place.CROSSBAR_CLIENT
    style = "frontier"
    network_stalls: Sequence[str] = ("scu_stall_network_cycles", "scu_stall_hash_network_cycles")
    tables = Path(__file__).parent
    enhanced = True
    schedules = True
    area_choices = {  # noqa: RUF012
        "storage": ("sram", "flip_flop", "shift_register"),
        "logic": ("synthesised", "estimated"),
    }

    def drivers(self, machine: Machine | None) -> Mapping[str, Driver]:
        from warpsift.units.scu.drivers import DRIVERS

        spec = None if machine is None else machine.unit("scu")
        return {name: partial(run, spec=spec, enhanced=self.enhanced) for name, run in DRIVERS.items()}

    def components(self) -> Sequence[UnitComponent]:
        from warpsift.units.scu.scu_component import ScuComponent

        return [ScuComponent()]

    def active_set(self, machine: Machine | None) -> Callable[..., ActiveSet]:
        from warpsift.units.scu.scu_scheduling import ScuActiveSet

        return partial(ScuActiveSet, spec=None if machine is None else machine.unit("scu"))

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        from warpsift.units.scu.scu_floor import floor_cycles

        mine = [timed.counters for timed in engine.operations if timed.info.unit == self.section]
        return floor_cycles(machine, mine)

    def events(self) -> Sequence[Event]:
        from warpsift.units.scu.scu_events import EVENTS

        return EVENTS

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.units.scu.scu_area import Built, area

        return area(machine.unit("scu"), Built(**{"enhanced": self.enhanced, **choices}))


class BasicScuUnit(ScuUnit):
    """Section 3 of the paper alone: no filtering, no grouping."""

    name = "scu-basic"
    title = "Stream Compaction Unit without filtering and grouping (Segura et al., ISCA 2019, section 3)"
    enhanced = False


UNITS = (ScuUnit(), BasicScuUnit())
