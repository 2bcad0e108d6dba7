"""What can go wrong when costs are looked up; every message says what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from warpsift.errors import MOST_LISTED, NEAREST, WarpsiftError, nearest


class CostError(WarpsiftError):
    """Base of the errors of this package."""


class CostTableError(CostError):
    """A cost table (TOML) lacks an entry, has an unknown one, or an entry of the wrong form."""


class CostNameError(CostError):
    """A machine, unit, coefficient or option was named that does not exist."""


class ScalingError(CostError):
    """A node or voltage lies outside what the published scaling equations cover."""


class CactiError(CostError):
    """An array lies outside the shipped CACTI table, or CACTI itself failed."""


def unknown(what: str, name: str, known: Iterable[str], listing: str = "'warpsift costs show'") -> str:
    """The message for a name that does not exist: what was asked for, the nearest names, who lists all."""
    names = sorted(known)
    lower = {known_name.lower(): known_name for known_name in names}
    near = [lower[each] for each in get_close_matches(name.lower(), lower, NEAREST)]
    if len(names) > MOST_LISTED:
        return f"unknown {what} {name!r}: {nearest(near, names, listing)}"
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {name!r}.{hint} Known: {', '.join(names)}."
