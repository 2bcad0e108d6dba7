"""`load_graph`: a file if there is one of that name, else a generated graph."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from warpsift.graph.csr import CsrGraph
from warpsift.graph.errors import GraphError
from warpsift.graph.generators.names import generate, usages
from warpsift.graph.limits import byte_limit


@dataclass(frozen=True)
class Changes:
    """What is done to the arcs after reading, in this order."""

    symmetrise: bool = False
    drop_self_loops: bool = False
    merge_duplicates: bool = False

    def apply(self, graph: CsrGraph) -> CsrGraph:
        if self.symmetrise:
            graph = graph.symmetrised()
        if self.drop_self_loops or (self.merge_duplicates and not self.symmetrise):
            graph = graph.simplified(
                drop_self_loops=self.drop_self_loops, merge_duplicates=self.merge_duplicates
            )
        return graph


def load_graph(
    spec: str | os.PathLike[str],
    *,
    symmetrise: bool = False,
    drop_self_loops: bool = False,
    merge_duplicates: bool = False,
    seed: int = 1,
    max_bytes: int | None = None,
    cache: bool = True,
) -> CsrGraph:
    """The graph in file `spec`, or the generated graph of that name (see `warpsift list graphs`).

    `symmetrise` adds the reverse of every arc (and merges duplicates), `drop_self_loops` and `merge_duplicates` do
    what they say (of parallel arcs the lightest stays). `seed` is for generated graphs. `max_bytes` bounds both
    what a file may expand to and the graph's arrays. `cache` keeps parsed graphs in the user's cache directory.
    """
    limit = byte_limit(max_bytes)
    changes = Changes(symmetrise, drop_self_loops, merge_duplicates)
    graph = generate(str(spec), seed, limit)
    if graph is None:
        raise GraphError(_unknown(str(spec)))
    graph = replace(graph, name=str(spec), provenance={"format": "generated", "seed": seed})
    return changes.apply(graph)


def _unknown(name: str) -> str:
    kinds = ", ".join(usage for usage, _ in usages())
    return f"no file and no graph is called {name!r}; write a path or one of {kinds}"
