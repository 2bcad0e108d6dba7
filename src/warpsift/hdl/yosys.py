"""Yosys as a library (`pyosys`, from PyPI), or a clear word that it is missing."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType

from warpsift.errors import WarpsiftError


class HdlToolError(WarpsiftError):
    """A tool of the optional extra is missing, or refused its input."""


def amaranth() -> None:
    """Raise if Amaranth is not installed."""
    try:
        import amaranth.hdl  # noqa: F401
    except ImportError:
        raise HdlToolError(
            "the hardware description needs Amaranth; install it with: pip install 'warpsift[hdl]'"
        ) from None


def library() -> ModuleType:
    try:
        from pyosys import libyosys
    except ImportError:
        raise HdlToolError("Verilog and synthesis need Yosys; install it with: pip install 'warpsift[hdl]'") from None
    return libyosys


def run(*commands: str) -> None:
    """Run Yosys commands on a new design, silently."""
    ys = library()
    design = ys.Design()
    with _quiet():
        for command in commands:
            ys.run_pass(f"tee -q {command}", design)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Yosys announces every command on the process's standard output; send that to nowhere."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
