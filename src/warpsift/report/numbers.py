"""Numbers as text, the same in the page, the pictures and the tables."""

from __future__ import annotations

import math
from typing import Any

_STEPS = (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))
NOTHING = "–"


def shown(value: Any, how: str = "number") -> str:
    """A cell's text: four significant digits, thin spaces between thousands."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if how == "percent":
        return f"{100 * value:.3g} %"
    if how == "bytes":
        return _bytes(value)
    return _number(value)


def _number(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    size = abs(value)
    if float(value).is_integer() and size < 1e15:
        return f"{int(value):,}".replace(",", "\u202f")
    if size >= 1e6 or size < 1e-3:
        return f"{value:.3e}"
    if size >= 1000:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.4g}" if size >= 1 else f"{value:.3g}"


def _bytes(value: float) -> str:
    for name, size in _STEPS:
        if value >= size:
            return f"{value / size:.4g} {name}B"
    return f"{value:g} B"
