"""What a user may choose about PageRank."""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.algorithms.options import option
from warpsift.algorithms.style_options import VERTEX, VertexOptions


@dataclass(frozen=True, kw_only=True)
class PagerankOptions(VertexOptions):
    damping: float = option(
        0.15, "The papers' alpha: rank = alpha + (1 - alpha) * sum.", minimum=0, maximum=1, exclusive=True
    )
    epsilon: float = option(1e-6, "Largest change of a rank at the end, of the mean rank.", minimum=0)
    normalize: bool = option(False, "Ranks that sum to 1: (1 - d) / N + d * sum.")
    dangling: bool = option(False, "Give the rank of nodes without out-edges to all nodes.")
    temporal_window: int = option(
        1,
        "Of so many loads of a warp from edge list and shares, each line is asked for once (MFF paper, Fig. 5).",
        minimum=1,
        maximum=1024,
        styles=VERTEX,
    )
