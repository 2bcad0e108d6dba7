"""What a user may choose about single-source shortest paths."""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.algorithms.options import option
from warpsift.algorithms.style_options import SourceOptions, VertexOptions


@dataclass(frozen=True, kw_only=True)
class SsspOptions(SourceOptions, VertexOptions):
    random_weights: bool = option(False, "Seeded weights 1 to 64, although the graph has its own.")
    delta: float | None = option(
        None,
        "Step of the near-far threshold (Davidson et al.); default: 32 * mean weight / mean degree.",
        minimum=0,
        exclusive=True,
        styles=("frontier",),
    )
