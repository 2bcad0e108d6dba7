"""The cost tables as rows to print: every coefficient with its value, range, trust, derivation and source."""

from __future__ import annotations

from typing import Any

from warpsift.costs.coefficients import Coefficient, CostTable


def rows(*tables: CostTable) -> list[dict[str, Any]]:
    """All prices of a machine, and of units."""
    return [row for table in tables for row in _rows(table)]


def _rows(table: CostTable) -> list[dict[str, Any]]:
    return [
        {
            "table": table.name,
            "coefficient": price.name,
            "value": price.value,
            "unit": price.unit,
            "shown": shown(price),
            "low": price.value * price.low,
            "high": price.value * price.high,
            "trust": price.trust,
            "how": price.how,
            "source": price.source,
            "node_nm": table.node_nm,
            "voltage_v": table.voltage_v,
        }
        for price in table.coefficients.values()
    ]


def shown(price: Coefficient) -> str:
    """A value in the unit one would say it in, with its range: '21.5 pJ (8.6 to 32.2)'."""
    scale, unit = (1e12, "pJ") if price.unit == "J" else (1.0, "W")
    if price.unit == "J" and price.value >= 1e-9:
        scale, unit = 1e9, "nJ"
    if price.unit == "W" and 0 < price.value < 0.1:
        scale, unit = 1e3, "mW"
    value = price.value * scale
    low, high = value * price.low, value * price.high
    return f"{_number(value)} {unit} ({_number(low)} to {_number(high)})"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def text(*tables: CostTable) -> str:
    """The rows as plain text, one coefficient in two lines."""
    lines = []
    for table in tables:
        lines += [
            f"{table.name}: {table.description}",
            f"  {table.node_nm:g} nm, {table.voltage_v:g} V ({table.technology_source})",
        ]
        lines += [
            f"  {price.name:<28} {shown(price):<34} {price.trust}\n      {price.how}; {price.source}"
            for price in table.coefficients.values()
        ]
    return "\n".join(lines)
