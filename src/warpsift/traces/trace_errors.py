"""Errors that a trace file can cause."""

from __future__ import annotations

from warpsift.errors import WarpsiftError


class TraceError(WarpsiftError):
    """A trace cannot be read or written; the message names the file and, where there is one, the line."""
