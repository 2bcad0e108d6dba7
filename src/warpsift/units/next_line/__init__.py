"""Next-line prefetcher at the L2 slices: tagged sequential prefetching (Smith, "Cache Memories", 1982).

A read that misses, or that is the first to use a prefetched line, makes the prefetcher ask for the lines behind it. It
watches the reads of all slices and works under any software, so it has no drivers. It is the smallest complete unit of
this house, and the example of how to write one.

    next_line_spec.py       its numbers            next_line_state.py       records in the engine
    next_line_socket.py     what the engine calls  next_line_component.py   Python's side of it
    next_line_costs.py      energy events, area, analytic floor
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.units.next_line.next_line_spec import NextLineSpec
from warpsift.units.unit import Place, Unit

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.events import Event
    from warpsift.engine.engine import Engine
    from warpsift.engine.unit_socket import UnitComponent
    from warpsift.machines import Machine


class NextLineUnit(Unit):
    name = "next-line"
    title = "Next-line prefetcher at the L2 slices (tagged prefetching, Smith 1982)"
    section = "next_line"
    spec_type = NextLineSpec
    place = Place.L2_SLICE
    style = None
    tables = Path(__file__).parent

    def components(self) -> Sequence[UnitComponent]:
        from warpsift.units.next_line.next_line_component import NextLineComponent

        return [NextLineComponent()]

    def floor(self, machine: Machine, engine: Engine) -> dict[str, float]:
        from warpsift.units.next_line.next_line_costs import floor_cycles

        return floor_cycles(machine, engine.total)

    def events(self) -> Sequence[Event]:
        from warpsift.units.next_line.next_line_costs import EVENTS

        return EVENTS

    def area(self, machine: Machine, **choices: Any) -> AreaReport:
        from warpsift.units.next_line.next_line_costs import area

        return area(self.spec(machine), machine.l2.slices, **choices)


UNITS = (NextLineUnit(),)
