"""What a user may choose about breadth-first search."""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.algorithms.options import option
from warpsift.algorithms.style_options import VERTEX, SourceOptions, VertexOptions

FRONTIERS = ("frontier", "direction")  # Merrill et al.; the direction-optimising style expands in the same way


@dataclass(frozen=True, kw_only=True)
class BfsOptions(SourceOptions, VertexOptions):
    warp_culling: bool = option(True, "Drop duplicates inside a warp.", styles=FRONTIERS)
    history_culling: bool = option(True, "Drop nodes that the CTA has seen recently.", styles=FRONTIERS)
    split_kernels: bool = option(
        False, "Flags and compaction in launches of their own, which shows compaction's share.", styles=FRONTIERS
    )
    filter_kernel: bool = option(
        False,
        "A third launch per level, as b40c has: drop what the bitmask knows, then contract what is left.",
        styles=("frontier",),
    )
    checked_activation: bool = option(
        False, "Wake only neighbours not visited yet; without a unit, since no scatter can do that.", styles=VERTEX
    )
