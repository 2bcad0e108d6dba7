"""warpsift: a design lab for graph processing on GPUs with special hardware units."""

__version__ = "0.1.0"

from warpsift.errors import WarpsiftError

__all__ = ["Gpu", "WarpsiftError", "kernel", "load_graph", "simulate", "time_trace"]


def __getattr__(name: str):
    """Import the public names when they are first used: the command line answers --help at once."""
    if name == "simulate":
        from warpsift.api import simulate

        return simulate
    if name == "time_trace":
        from warpsift.traces.run import time_trace

        return time_trace
    if name == "load_graph":
        from warpsift.graph import load_graph

        return load_graph
    if name in ("Gpu", "kernel"):
        from warpsift import simt

        return getattr(simt, name)
    raise AttributeError(f"module 'warpsift' has no attribute {name!r}")
