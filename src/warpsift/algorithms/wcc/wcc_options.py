"""What a user may choose about weakly connected components."""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.algorithms.style_options import VertexOptions


@dataclass(frozen=True, kw_only=True)
class WccOptions(VertexOptions):
    """Nothing beyond what the vertex style has."""
