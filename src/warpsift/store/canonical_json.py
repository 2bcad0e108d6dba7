"""JSON text that is the same for the same data: what keys are hashed from and what the ledger holds."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def to_json(value: Any) -> str:
    """Compact, keys sorted, NumPy scalars as numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def from_json(text: str) -> Any:
    return json.loads(text)


def digest(value: Any) -> str:
    """160 bits of a hash of the data's text."""
    return hashlib.blake2b(to_json(value).encode(), digest_size=20).hexdigest()
