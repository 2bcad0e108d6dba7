"""Which runs of "which unit suits which graph?" to repeat at full size: those that were near to winning in the part.

A pair of graph and algorithm has up to nine contenders, and a full-size run may take minutes. So only the fastest of the
part go on: two styles of software and three units, none less than half as fast as the best of its kind.
"""

from __future__ import annotations

from warpsift.studies.which_unit_area import CONTENDERS
from warpsift.studies.which_unit_map import Cell

STYLES = 2
UNITS = 3
AS_FAST = 0.5  # as the best of its kind


def nearest(cell: Cell, units: int = UNITS) -> list[str]:
    """The contenders of a pair that go on to full size, software first."""
    chosen: list[str] = []
    for is_unit, most in ((False, STYLES), (True, units)):
        mine = {name: value for name, value in cell.values.items() if (name in CONTENDERS) is is_unit}
        ranked = sorted(mine, key=lambda name: mine[name])
        chosen += [name for name in ranked[:most] if mine[ranked[0]] >= AS_FAST * mine[name]]
    return chosen
