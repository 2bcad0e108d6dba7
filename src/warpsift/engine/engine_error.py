"""What the engine refuses."""

from __future__ import annotations

from warpsift.errors import WarpsiftError


class EngineError(WarpsiftError):
    """The simulation cannot go on."""
