"""The machine's compiled functions as Python calls them, compiled once and kept."""

from __future__ import annotations

import sys
from pathlib import Path

from numba import njit

from warpsift.simt.cells import cells
from warpsift.simt.kept_code import folder_of, kept_in
from warpsift.simt.vector_machine import execute_code, run_records

_HERE = Path(__file__).parent
_OTHERS = ("alu_classes.py", "coalesce.py", "stream.py", "threads.py", "cells.py", "../hardware.py")
FOLDER = folder_of("recording", (*sorted(_HERE.glob("*.py")), *(_HERE.parent / name for name in _OTHERS)))
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}


def _announce() -> None:
    """Say on stderr that code is being compiled and not loaded."""
    if not any(Path(FOLDER).rglob("*.nbi")):
        print("warpsift: compiling the recording of kernels (once, about 20 s)", file=sys.stderr, flush=True)


_announce()


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
