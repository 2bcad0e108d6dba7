"""The timing engine: a cycle-level model of a GPU's memory system, compiled with Numba.

Importing `Engine` compiles the engine, or loads it from the cache; `docs/engine.md` shows how it is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpsift.engine.counters import Counters
    from warpsift.engine.engine import Engine, LaunchResult
    from warpsift.engine.engine_error import EngineError

__all__ = ["Counters", "Engine", "EngineError", "LaunchResult"]


def __getattr__(name: str) -> Any:
    if name == "Counters":
        from warpsift.engine.counters import Counters

        return Counters
    if name in __all__:
        from warpsift.engine import engine

        return getattr(engine, name)
    raise AttributeError(f"module 'warpsift.engine' has no attribute {name!r}")
