"""Kernel traces of Accel-Sim: reading those that others made from CUDA programs, writing ours for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warpsift.traces.trace_errors import TraceError

# Compiled code is loaded when it is asked for: who writes traces does not wait for the reader.
_HOMES = {
    "Header": "header",
    "TraceWriter": "writer",
    "list_kernels": "header",
    "replay": "reader",
    "time_trace": "trace_timing",
}

__all__ = ["TraceError", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
