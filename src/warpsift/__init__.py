"""warpsift: a design lab for graph processing on GPUs with special hardware units."""

__version__ = "0.1.0"
