"""What a user may choose about triangle counting."""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.algorithms.options import Options, option


@dataclass(frozen=True, kw_only=True)
class TcOptions(Options):
    relabel: str = option(
        "auto",
        "Order nodes by degree, or 'never': by number; 'auto': by degree if degrees are skewed.",
        choices=("auto", "always", "never"),
    )
    per_node: bool = option(False, "Count the triangles through each node, not only all of them.")
