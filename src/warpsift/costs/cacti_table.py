"""The shipped CACTI figures, with interpolation between sizes and voltage scaling within a node.

`tables/cacti_arrays.csv` holds one row per array of `cacti.grid()`; `tables/cacti_template.cfg` with the columns of
a row filled in is the exact input that produced it. Between two sizes every figure is interpolated linearly in
log(figure) over log(size), so it is exact at the grid and monotone between neighbours. Below 22 nm, where CACTI has
no table that works, the 22 nm figures are scaled by `scaling`.
"""

from __future__ import annotations

import csv
import functools
import math
from bisect import bisect_left
from dataclasses import fields
from importlib import resources

from warpsift.costs import scaling
from warpsift.costs.cacti import NODES_NM, Array, Figures
from warpsift.costs.cost_errors import CactiError

# Supply voltage of CACTI's itrs-hp devices: 45, 32 and 22 nm from its tech_params, the others interpolated as it does.
VOLTAGE_V = {22: 0.80, 28: 0.86, 32: 0.90, 40: 0.9615, 45: 1.00}

_Family = tuple[str, int, int, int]  # kind, node, word bits, associativity


@functools.cache
def _families() -> dict[_Family, list[tuple[int, Figures]]]:
    """All rows, grouped by everything but size, in order of size."""
    families: dict[_Family, list[tuple[int, Figures]]] = {}
    with resources.files("warpsift.costs").joinpath("tables/cacti_arrays.csv").open() as file:
        for row in csv.DictReader(file):
            key = (row["kind"], int(row["node_nm"]), int(row["word_bits"]), int(row["associativity"]))
            figures = Figures(**{f.name: float(row[f.name]) for f in fields(Figures)})
            families.setdefault(key, []).append((int(row["size_bytes"]), figures))
    for points in families.values():
        points.sort(key=lambda point: point[0])
    return families


def arrays() -> list[tuple[Array, Figures]]:
    """Every row of the shipped table."""
    return [
        (Array(kind, node, bits, ways, size), figures)
        for (kind, node, bits, ways), points in _families().items()
        for size, figures in points
    ]


def smallest_bytes(kind: str, word_bits: int) -> int:
    """The smallest array of this kind in the table: what a smaller one costs at most."""
    return min(points[0][0] for (k, _, bits, _), points in _families().items() if (k, bits) == (kind, word_bits))


def figures(kind: str, size_bytes: float, word_bits: int, node_nm: int = 32, associativity: int = 1) -> Figures:
    """CACTI's figures for an array of any size in range, at the node's own voltage."""
    table_node = node_nm if node_nm in NODES_NM else 22
    points = _families().get((kind, table_node, word_bits, associativity))
    if points is None or (table_node != node_nm and not 16 <= node_nm < 22):
        known = sorted({f"{k} {b} bit {w}-way" for k, _, b, w in _families()})
        raise CactiError(
            f"no CACTI table for a {kind} of {word_bits}-bit words, {associativity}-way, {node_nm} nm; "
            f"there are: {', '.join(known)}; at {', '.join(map(str, NODES_NM))} nm."
        )
    found = _interpolate(points, size_bytes, f"{kind} of {word_bits}-bit words")
    if table_node == node_nm:
        return found
    return _below_table(found, node_nm)


def _interpolate(points: list[tuple[int, Figures]], size_bytes: float, what: str) -> Figures:
    sizes = [size for size, _ in points]
    if not sizes[0] <= size_bytes <= sizes[-1]:
        raise CactiError(
            f"a {what} of {size_bytes:g} bytes lies outside the CACTI table; write {sizes[0]} to {sizes[-1]} bytes."
        )
    above = bisect_left(sizes, size_bytes)
    if sizes[above] == size_bytes:
        return points[above][1]
    (small, low), (large, high) = points[above - 1], points[above]
    t = math.log(size_bytes / small) / math.log(large / small)

    def mix(name: str) -> float:
        a, b = getattr(low, name), getattr(high, name)
        return 0.0 if a == 0.0 else math.exp((1 - t) * math.log(a) + t * math.log(b))

    return Figures(**{f.name: mix(f.name) for f in fields(Figures)})


def _below_table(at_22: Figures, node_nm: int) -> Figures:
    """22 nm figures at a smaller node, at the same voltage; times are left as they are (pessimistic)."""
    energy = scaling.scale_energy(1.0, 22, VOLTAGE_V[22], node_nm, VOLTAGE_V[22])
    area = scaling.scale_area(1.0, 22, node_nm)
    return Figures(
        access_ns=at_22.access_ns,
        cycle_ns=at_22.cycle_ns,
        search_pj=at_22.search_pj * energy,
        read_pj=at_22.read_pj * energy,
        write_pj=at_22.write_pj * energy,
        leakage_mw=at_22.leakage_mw * area,  # leakage goes with the transistors' width
        area_mm2=at_22.area_mm2 * area,
    )


def voltage_factor(node_nm: int, voltage_v: float) -> float:
    """What CACTI's energies have to be multiplied with when the array runs at another voltage than the node's."""
    own = VOLTAGE_V.get(node_nm, VOLTAGE_V[22])
    return scaling.scale_energy(1.0, node_nm, own, node_nm, voltage_v)
