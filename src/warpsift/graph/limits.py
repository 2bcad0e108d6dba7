"""How much memory a graph may take: files are untrusted and names may ask for anything."""

from __future__ import annotations

import os

from warpsift.graph.build import MAX_NODES
from warpsift.graph.graph_errors import GraphError

DEFAULT_MAX_BYTES = 4 << 30  # the memory of the papers' largest GPU (GTX 980, SCU paper table 3): more cannot run
LIMIT_VARIABLE = "WARPSIFT_MAX_GRAPH_BYTES"


def byte_limit(max_bytes: int | None) -> int:
    """The limit given, or that of the environment, or the default."""
    if max_bytes is not None:
        return max_bytes
    text = os.environ.get(LIMIT_VARIABLE)
    if text is None:
        return DEFAULT_MAX_BYTES
    if not text.isdecimal():
        raise GraphError(f"{LIMIT_VARIABLE}={text!r}: expected a number of bytes, e.g. {DEFAULT_MAX_BYTES}")
    return int(text)


def size_problem(nodes: int, arcs: int, max_bytes: int) -> str | None:
    """Why a graph of this size is refused, or None; asked before any memory is taken."""
    if nodes > MAX_NODES:
        return f"{nodes} nodes; node IDs are 4 bytes, so at most {MAX_NODES} fit"
    needed = 8 * (nodes + 1) + 4 * arcs
    if needed > max_bytes:
        return (
            f"{nodes} nodes and {arcs} arcs need {needed} bytes, over the limit of {max_bytes} "
            f"(raise it with max_bytes or {LIMIT_VARIABLE})"
        )
    return None
