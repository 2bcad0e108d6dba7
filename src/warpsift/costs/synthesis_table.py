"""The shipped result of synthesis: cells and library area of every part of the SCU, by width.

`tables/scu_synthesis.csv` is written by `make synth` (warpsift.hdl.synthesis): Yosys onto the OSU 0.18 µm cells. Areas
are scaled to a node by `scaling` and divided by the placement's utilisation. For a width that the table lacks
costs/area.py takes its gate counts, scaled to meet the nearest width that was synthesised.
"""

from __future__ import annotations

import csv
import functools
from importlib import resources

from warpsift.costs import scaling

LIBRARY_NODE_NM = 180
UTILISATION = 0.7  # of placed cells, as for the estimate (tables/area.toml)


@functools.cache
def library_um2() -> dict[int, dict[str, float]]:
    """Area of cells at the library's node: by width, then by part."""
    found: dict[int, dict[str, float]] = {}
    table = resources.files("warpsift.costs").joinpath("tables/scu_synthesis.csv")
    if not table.is_file():
        return found
    with table.open() as file:
        for row in csv.DictReader(file):
            found.setdefault(int(row["width"]), {})[row["part"]] = float(row["library_um2"])
    return found


def logic_mm2(width: int, part: str, node_nm: int) -> float | None:
    """Logic of a part at a node; None if this width was not synthesised."""
    area = library_um2().get(width, {}).get(part)
    if area is None:
        return None
    return scaling.scale_area(area / UTILISATION / 1e6, LIBRARY_NODE_NM, node_nm)


def nearest_width(width: int) -> int | None:
    """The synthesised width with the smallest ratio to this one; None if the table is empty."""
    return min(library_um2(), key=lambda w: max(w, width) / min(w, width), default=None)
