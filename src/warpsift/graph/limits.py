"""How much memory a graph may take, and how much reading it may: files are untrusted and names may ask for anything.

Two limits, asked before anything is allocated. The graph's arrays and a file's expanded text stay below `graph_bytes`.
Everything that a reader holds at once stays below `loading_bytes`, which grows with the file, so that no small file
takes much memory: a header of 75 bytes can promise 400 million nodes. Who gives a limit raises both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from warpsift.graph.build import MAX_NODES
from warpsift.graph.graph_errors import GraphError

DEFAULT_MAX_BYTES = 4 << 30  # the memory of the papers' largest GPU (GTX 980, SCU paper table 3): more cannot run
LIMIT_VARIABLE = "WARPSIFT_MAX_GRAPH_BYTES"
HOW_TO_RAISE = f"(raise it with max_bytes or {LIMIT_VARIABLE})"

# What any file may take, and what each of its bytes may add: 384 MB for 1 MB. The worst honest text is an arc of 4
# bytes (`0 1` and a line end), so 50 times its size; compression shortens lists of arcs to a fifth or so.
BASE_BYTES = 256 << 20
PER_FILE_BYTE = 128

# What readers hold at their peak (tests/test_graph_limits.py measures it): per row of numbers the columns as read, the
# IDs renumbered and the arcs while they are sorted; per node offsets and cursors of both sorts, then what describes it.
ROW_BYTES = 200
NODE_BYTES = 64


@dataclass(frozen=True)
class Limits:
    """What one file may take."""

    graph_bytes: int
    loading_bytes: int

    @property
    def text_bytes(self) -> int:
        """What the file may expand to."""
        return min(self.graph_bytes, self.loading_bytes)

    def graph_problem(self, nodes: int, arcs: int) -> str | None:
        """Why a graph of this size is refused, or None."""
        return size_problem(nodes, arcs, self.graph_bytes)

    def loading_problem(self, needed_bytes: int) -> str | None:
        """Why a reader that needs so much is refused, or None."""
        if needed_bytes <= self.loading_bytes:
            return None
        return f"reading takes about {needed_bytes} bytes, over the limit of {self.loading_bytes} {HOW_TO_RAISE}"


def limits_of(max_bytes: int | None, files: Iterable[Path] = ()) -> Limits:
    """The limits for these files; `max_bytes` as a user gave it, None for the environment's or the default."""
    own = sum(path.stat().st_size for path in files) * PER_FILE_BYTE + BASE_BYTES
    chosen = byte_limit(max_bytes)
    given = max_bytes is not None or LIMIT_VARIABLE in os.environ
    return Limits(chosen, max(own, chosen) if given else own)


def byte_limit(max_bytes: int | None) -> int:
    """The limit given, or that of the environment, or the default."""
    if max_bytes is not None:
        return max_bytes
    text = os.environ.get(LIMIT_VARIABLE)
    if text is None:
        return DEFAULT_MAX_BYTES
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise GraphError(f"{LIMIT_VARIABLE}={text!r}: expected a number of bytes, e.g. {DEFAULT_MAX_BYTES}")
    return int(text)


def size_problem(nodes: int, arcs: int, max_bytes: int) -> str | None:
    """Why a graph of this size is refused, or None; asked before any memory is taken."""
    if nodes > MAX_NODES:
        return f"{nodes} nodes; node IDs are 4 bytes, so at most {MAX_NODES} fit"
    needed = 8 * (nodes + 1) + 4 * arcs
    if needed > max_bytes:
        return f"{nodes} nodes and {arcs} arcs need {needed} bytes, over the limit of {max_bytes} {HOW_TO_RAISE}"
    return None
