"""Costs as one says them: 12.3 us, 1.4 mJ, 0.43 mm2."""

from __future__ import annotations

from collections.abc import Mapping

STEPS = ((1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))
UNITS = {"time": "s", "energy": "J"}


def cost_in_words(name: str, value: float) -> str:
    """A cost with its unit, if it has one."""
    if name == "area":
        return f"{value:.3g} mm2"
    if name not in UNITS:
        return f"{value:.4g}"
    size, prefix = next(((s, p) for s, p in STEPS if abs(value) >= s), STEPS[-1])
    return f"{value / size:.3g} {prefix}{UNITS[name]}"


def costs_in_words(costs: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {cost_in_words(name, value)}" for name, value in costs.items())
