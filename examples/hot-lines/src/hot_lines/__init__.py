"""A monitor at each L2 slice that finds the lines read most (Space-Saving, Metwally et al., ICDT 2005)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from warpsift.units import Place, Unit


class HotLinesSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The `[hot_lines]` section of a machine file; our own design."""

    entries: int = 16  # counters per slice

    def problems(self, machine: Any = None) -> Iterator[str]:
        if not 1 <= self.entries <= 1024:
            yield f"hot_lines.entries = {self.entries} must lie between 1 and 1024"


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
