"""Scaling of energy and area between CMOS nodes and supply voltages.

Method: A. Stillmaker and B. Baas, "Scaling equations for the accurate prediction of CMOS device performance from
180 nm to 7 nm", Integration 58 (2017), with its corrigendum. The energy of a gate at a node is fitted there by
a V² + b V + c; a known energy scales by the ratio of two such values, a known area by a ratio of the area table.
The paper has no rows for 40, 28 and 22 nm: between two rows we interpolate log(energy) and log(area) over log(node).

Limits that matter here: the 20 nm rows are fits to multi-gate devices, while the 20 nm process of the Tegra X1 is
planar; and GPUs run at voltages (1.0 to 1.2 V) at the upper end of the fits. Two nodes apart, expect ±30 %.
"""

from __future__ import annotations

import math

from warpsift.costs.cost_errors import ScalingError

# (a, b, c) of energy = a V² + b V + c, table of the paper; HP = high performance, LP = low power.
ENERGY_HP = {
    180: (0.0, 24.64, -17.98),
    130: (7.171, -6.709, 2.904),
    90: (4.762, -4.781, 2.092),
    65: (3.755, -4.398, 1.975),
    45: (1.018, -0.3107, 0.1539),
    32: (0.8367, -0.4341, 0.1701),
    20: (0.373, -0.1582, 0.04104),
    16: (0.2958, -0.1241, 0.03024),
    14: (0.2363, -0.09675, 0.02239),
    10: (0.2068, -0.09311, 0.02375),
    7: (0.1776, -0.09097, 0.02447),
}
ENERGY_LP = {
    45: (1.103, -0.362, 0.2767),
    32: (0.9559, -0.7823, 0.471),
    20: (0.2632, -0.14, 0.06841),
    16: (0.2139, -0.1187, 0.05639),
    14: (0.1556, -0.06472, 0.03066),
    10: (0.1261, -0.0518, 0.02769),
    7: (0.09365, -0.03409, 0.02043),
}
ENERGY = {"hp": ENERGY_HP, "lp": ENERGY_LP}

# Area relative to 45 nm, the row of 45 nm in the paper's area table.
AREA = {180: 19, 130: 6.4, 90: 2.8, 65: 1.5, 45: 1, 32: 0.46, 20: 0.21, 16: 0.19, 14: 0.17, 10: 0.1, 7: 0.059}

VOLTAGE_RANGE_V = (0.5, 1.3)


def _between(node_nm: float, nodes: list[int]) -> tuple[int, int, float]:
    """The rows around a node, and how far (in log(node)) it lies from the first towards the second."""
    if not min(nodes) <= node_nm <= max(nodes):
        raise ScalingError(
            f"{node_nm:g} nm lies outside the scaling equations; write a node of {min(nodes)} to {max(nodes)} nm."
        )
    larger = min(n for n in nodes if n >= node_nm)
    smaller = max(n for n in nodes if n <= node_nm)
    if larger == smaller:
        return larger, larger, 0.0
    return larger, smaller, math.log(larger / node_nm) / math.log(larger / smaller)


def energy_factor(node_nm: float, voltage_v: float, flavour: str = "hp") -> float:
    """Relative energy of a gate at a node and voltage (the fitted polynomial; no unit, only ratios mean anything)."""
    if flavour not in ENERGY:
        raise ScalingError(f"unknown transistor flavour {flavour!r}; write 'hp' or 'lp'.")
    low, high = VOLTAGE_RANGE_V
    if not low <= voltage_v <= high:
        raise ScalingError(
            f"{voltage_v:g} V lies outside the scaling equations; write a voltage of {low:g} to {high:g} V."
        )
    rows = ENERGY[flavour]
    larger, smaller, t = _between(node_nm, list(rows))

    def at(node: int) -> float:
        a, b, c = rows[node]
        return a * voltage_v**2 + b * voltage_v + c

    return math.exp((1 - t) * math.log(at(larger)) + t * math.log(at(smaller)))


def scale_energy(energy: float, from_node_nm: float, from_v: float, to_node_nm: float, to_v: float) -> float:
    """An energy known at one node and voltage, at another (high-performance rows)."""
    return energy * energy_factor(to_node_nm, to_v) / energy_factor(from_node_nm, from_v)


def scale_area(area: float, from_node_nm: float, to_node_nm: float) -> float:
    """An area known at one node, at another."""

    def at(node_nm: float) -> float:
        larger, smaller, t = _between(node_nm, list(AREA))
        return math.exp((1 - t) * math.log(AREA[larger]) + t * math.log(AREA[smaller]))

    return area * at(to_node_nm) / at(from_node_nm)
