"""Special hardware units: one folder each, one contract (`unit.py`), one list (`registry.py`)."""

from warpsift.units.registry import resolve, socket_of, unit_named, unit_names, units
from warpsift.units.unit import Driver, Place, Unit, UnitError

__all__ = ["Driver", "Place", "Unit", "UnitError", "resolve", "socket_of", "unit_named", "unit_names", "units"]
