"""The machine's compiled functions as Python calls them, compiled once and kept."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba import njit

from warpsift.simt.cells import cells
from warpsift.simt.kept_code import folder_of, kept_in
from warpsift.simt.vector_machine import execute_code, run_records
from warpsift.watching import watcher

_HERE = Path(__file__).parent
_COMPILED = (
    "execute_code",
    "instruction_set",
    "memory_loops",
    "run_records",
    "thread_levels",
    "thread_values",
    "unrolled_loops",
    "warp_loops",
    "warp_order",
)
_OTHERS = ("alu_classes", "atomics", "cells", "coalesce", "stream", "threads", "unrolling", "../hardware")
_SOURCES = (
    Path(__file__),
    *(_HERE / f"{name}.py" for name in _COMPILED),
    *(_HERE / f"../{name}.py" for name in _OTHERS),
)
FOLDER = folder_of("recording", _SOURCES)
PART = "the recording of kernels"
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}


def _begin_batch(w, registers, size):
    run_records.begin_batch(cells(w), registers, size)


def _know_program(w, run, programs, program):
    words, starts, table = programs
    known = (cells(words), cells(starts), cells(table))
    run_records.know_program(cells(w), cells(run), known, cells(program), program.size)


with kept_in(FOLDER):
    execute = njit(**_OPTIONS)(execute_code.execute)
    begin_batch = njit(**_OPTIONS)(_begin_batch)
    know_program = njit(**_OPTIONS)(_know_program)
_MARK = Path(FOLDER) / "complete"


@functools.cache
def is_compiled() -> bool:
    """Whether the machine's code is there, from this run or an earlier one."""
    return _MARK.exists()


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Around the machine's first use: says that it takes a while, and notes that it is done."""
    watches = watcher()
    if watches is not None:
        watches.compiling(PART, 1)
    else:
        print(f"warpsift: compiling {PART} (once, about 20 s)", file=sys.stderr, flush=True)
    yield
    if watches is not None:
        watches.compiling(PART, 0)
    with contextlib.suppress(OSError):
        _MARK.touch()
    is_compiled.cache_clear()
