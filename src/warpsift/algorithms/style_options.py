"""Options that several algorithms have because they share a style or begin at a node."""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.algorithms.options import Options, option

VERTEX = ("vertex",)


@dataclass(frozen=True, kw_only=True)
class VertexOptions(Options):
    """The vertex style (Harish & Narayanan, with Hong's bit vector), with and without the fast-forward unit.

    PageRank keeps every vertex active, so `active` and `bit_setting` change nothing there.
    """

    active: str = option(
        "compact",
        "Threads for active vertices only, or 'all': one for every vertex.",
        choices=("compact", "all"),
        styles=VERTEX,
    )
    bit_setting: str = option(
        "atomic",
        "How a vertex is activated: atomicOr on words, or plain stores of bytes.",
        choices=("atomic", "byte"),
        styles=VERTEX,
    )
    occupancy: str = option(
        "full",
        "Warps of the plain GPU: all that fit, or 'target': those that the MFF's targets leave room for.",
        choices=("full", "target"),
        styles=VERTEX,
    )
    target_words: int = option(
        32,
        "MFF: words per thread of a target; 32 is the paper's 4 KB per warp.",
        minimum=1,
        maximum=32,
        styles=VERTEX,
    )


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Options):
    """Algorithms that begin at one node."""

    source: int | None = option(None, "Start node; default: seeded, in the largest component.")
