"""Graphs: the immutable `CsrGraph`, readers of the common file formats, and seeded generators."""

from warpsift.graph.csr import CsrGraph
from warpsift.graph.describe import describe, list_graphs
from warpsift.graph.graph_errors import FileError, GraphError
from warpsift.graph.loading import load_graph
from warpsift.graph.readers.npz import save_graph
from warpsift.graph.weights import require_nonnegative_weights

__all__ = [
    "CsrGraph",
    "FileError",
    "GraphError",
    "describe",
    "list_graphs",
    "load_graph",
    "require_nonnegative_weights",
    "save_graph",
]
