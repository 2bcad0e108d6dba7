"""A monitor at each L2 slice that finds the lines read most (Space-Saving, Metwally et al., ICDT 2005)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from warpsift.machines.ranges import Bounds, range_problems
from warpsift.units import Place, Unit


class HotLinesSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The `[hot_lines]` section of a machine file; our own design."""

    entries: Annotated[int, Bounds(1, 1024, "counters per slice", "each is searched in one clock")] = 16

    def problems(self, machine: Any = None) -> Iterator[str]:
        yield from range_problems(self, "hot_lines.")

    def host_bytes(self, machine: Any) -> dict[str, int]:
        return {"hot_lines.entries": machine.l2.slices * self.entries * 16}


class HotLinesUnit(Unit):
    name = "hot-lines"
    title = "Monitor of the lines read most, at the L2 slices (Space-Saving, Metwally et al. 2005)"
    section = "hot_lines"
    spec_type = HotLinesSpec
    place = Place.L2_SLICE
    style = None  # works under any software
    tables = Path(__file__).parent

    def components(self):
        from hot_lines.hot_lines_engine import HotLinesComponent

        return [HotLinesComponent()]

    def floor(self, machine, engine):
        from hot_lines.hot_lines_costs import floor_cycles

        return floor_cycles(machine, engine.total)

    def events(self):
        from hot_lines.hot_lines_costs import EVENTS

        return EVENTS

    def area(self, machine, **choices):
        from hot_lines.hot_lines_costs import area

        return area(self.spec(machine), machine.l2.slices, **choices)


UNITS = (HotLinesUnit(),)
