"""warpsift: a design lab for graph processing on GPUs with special hardware units."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpsift import units as _units  # noqa: F401 (machine files have the sections of the units that are registered)
from warpsift.errors import WarpsiftError
from warpsift.version import __version__

if TYPE_CHECKING:
    from warpsift.engine.engine import Engine
    from warpsift.graph import load_graph
    from warpsift.machines import load_machine
    from warpsift.run.comparison import compare
    from warpsift.run.execute import simulate
    from warpsift.simt import Gpu, kernel
    from warpsift.sweep import run_sweep
    from warpsift.traces.trace_timing import time_trace

__all__ = [
    "Engine",
    "Gpu",
    "WarpsiftError",
    "__version__",
    "compare",
    "kernel",
    "load_graph",
    "load_machine",
    "run_sweep",
    "simulate",
    "time_trace",
]
_HOMES = {
    "Engine": "warpsift.engine.engine",
    "Gpu": "warpsift.simt",
    "compare": "warpsift.run.comparison",
    "kernel": "warpsift.simt",
    "load_graph": "warpsift.graph",
    "load_machine": "warpsift.machines",
    "run_sweep": "warpsift.sweep",
    "simulate": "warpsift.run.execute",
    "time_trace": "warpsift.traces.trace_timing",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: the command line answers --help at once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'warpsift' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
