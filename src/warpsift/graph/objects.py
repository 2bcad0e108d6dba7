"""Graphs of other libraries as `CsrGraph`: of networkx, and SciPy's sparse matrices; anything else is refused.

Neither library is imported here: whoever hands over one of their objects has imported it.
"""

from __future__ import annotations

import sys
from typing import Any

from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import GraphError

ACCEPTED = "a file's path, a name such as 'kron-14', a CsrGraph, a networkx graph or a SciPy sparse matrix"


def graph_of(value: Any) -> CsrGraph:
    """The graph that an object means."""
    if isinstance(value, CsrGraph):
        return value
    networkx, sparse = sys.modules.get("networkx"), sys.modules.get("scipy.sparse")
    if networkx is not None and isinstance(value, networkx.Graph):
        return CsrGraph.from_networkx(value, name=str(value.name) or "networkx", provenance={"format": "networkx"})
    if sparse is not None and sparse.issparse(value):
        return CsrGraph.from_scipy(value, name="scipy", provenance={"format": "scipy"})
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    hint = ""
    if getattr(value, "ndim", 0) == 2 and hasattr(value, "dtype"):
        hint = "; for an adjacency matrix write scipy.sparse.csr_array(matrix)"
    elif isinstance(value, (list, tuple)) or hasattr(value, "columns"):
        hint = "; for arcs write CsrGraph.from_edges(sources, targets)"
    raise GraphError(f"a {kind} is not a graph: give {ACCEPTED}{hint}")
