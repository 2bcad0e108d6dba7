"""The shipped result of synthesis: cells and library area of every part of the SCU, by width.

`synthesis.csv` is written by `make synth` (warpsift.hdl.synthesis): Yosys onto the OSU 0.18 µm cells. Areas
are scaled to a node by `scaling` and divided by the placement's utilisation. A width between two that were synthesised
is interpolated; beyond them `scu_area` takes its gate counts, scaled to meet the nearest one.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path

from warpsift.costs import scaling

LIBRARY_NODE_NM = 180
UTILISATION = 0.7  # of placed cells, as for the estimate (costs/tables/cells.toml)


@functools.cache
def library_um2() -> dict[int, dict[str, float]]:
    """Area of cells at the library's node: by width, then by part."""
    found: dict[int, dict[str, float]] = {}
    table = Path(__file__).parent / "synthesis.csv"
    if not table.is_file():
        return found
    with table.open() as file:
        for row in csv.DictReader(file):
            found.setdefault(int(row["width"]), {})[row["part"]] = float(row["library_um2"])
    return found


def neighbours(width: int) -> tuple[int, int] | None:
    """The synthesised widths on both sides of this one (twice itself if it was synthesised); None if there are none."""
    below = [w for w in library_um2() if w <= width]
    above = [w for w in library_um2() if w >= width]
    return (max(below), min(above)) if below and above else None


def logic_mm2(width: int, part: str, node_nm: int) -> float | None:
    """Logic of a part at a node, linear in the width between synthesised widths; None outside of them."""
    around = neighbours(width)
    if around is None:
        return None
    low, high = around
    areas = [library_um2()[w].get(part, 0.0) for w in around]
    share = (width - low) / (high - low) if high > low else 0.0
    area = areas[0] + share * (areas[1] - areas[0])
    return scaling.scale_area(area / UTILISATION / 1e6, LIBRARY_NODE_NM, node_nm)


def source_of(width: int) -> str:
    """Where the logic of this width comes from, in words."""
    around = neighbours(width)
    if around is None:
        nearest = nearest_width(width)
        return "gate counts" if nearest is None else f"gate counts, scaled to meet synthesis at width {nearest}"
    if around[0] == width:
        return "synthesised at this width"
    return f"interpolated between the synthesised widths {around[0]} and {around[1]}"


def nearest_width(width: int) -> int | None:
    """The synthesised width with the smallest ratio to this one; None if the table is empty."""
    return min(library_um2(), key=lambda w: max(w, width) / min(w, width), default=None)
