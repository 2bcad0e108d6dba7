"""What the readers of graphs say, and how tests ask for it."""

from __future__ import annotations

import pytest

from warpsift.errors import WarpsiftError
from warpsift.graph import GraphError, load_graph

MM = "%%MatrixMarket matrix coordinate"
LIST_FORMS = "`u v`, `u v w` or `id u v w`"
ANY_FORMAT = (
    "expected Matrix Market, an edge list (SNAP, `u v w`, `id u v w`, GAP .el/.wel), METIS, DIMACS or PACE .gr, "
    "WebGraph (.graph with .properties), Graphalytics (.v with .e), graph-tool's .gt or .npz"
)
HUGE = "1000000000000 nodes; node IDs are 4 bytes, so at most 2147483647 fit"
LARGE = (
    "1000000000 nodes and 0 arcs need 8000000008 bytes, over the limit of 4294967296 "
    "(raise it with max_bytes or WARPSIFT_MAX_GRAPH_BYTES)"
)


def message(spec, **options) -> str:
    with pytest.raises(GraphError) as caught:
        load_graph(spec, **options)
    assert isinstance(caught.value, WarpsiftError)
    return str(caught.value)
