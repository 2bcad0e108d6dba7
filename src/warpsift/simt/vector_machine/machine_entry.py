"""The machine's compiled functions as Python calls them, compiled once and kept."""

from __future__ import annotations

import sys
from pathlib import Path

from numba import njit

from warpsift.simt.kept_code import folder_of, kept_in
from warpsift.simt.unowned import unowned
from warpsift.simt.vector_machine import execute_code, run_records

_HERE = Path(__file__).parent
_OTHERS = ("alu_classes.py", "coalesce.py", "stream.py", "threads.py", "unowned.py", "../hardware.py")
FOLDER = folder_of("recording", (*sorted(_HERE.glob("*.py")), *(_HERE.parent / name for name in _OTHERS)))
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}


def _announce() -> None:
    """Say on stderr that code is being compiled and not loaded."""
    if not any(Path(FOLDER).rglob("*.nbi")):
        print("warpsift: compiling the recording of kernels (once, about 20 s)", file=sys.stderr, flush=True)


_announce()


def _execute(code, w, run, log, programs, values, memory, shared, tables, batch, generator):
    """Go on with the batch that `w` stands in; gives DONE or why it stops."""
    rows, scopes, log_index, elements, pool = log
    words, starts, table = programs
    v0, v1, v2, v3, v4, v5 = values
    m0, m1, m2, m3, m4, m5 = memory
    s0, s1, s2, s3, s4, s5 = shared
    classes, arrays, shared_arrays, first, held = tables
    return execute_code.execute(
        unowned(code),
        unowned(w),
        unowned(run),
        (unowned(rows), unowned(scopes), unowned(log_index), unowned(elements), unowned(pool)),
        (unowned(words), unowned(starts), unowned(table)),
        (unowned(v0), unowned(v1), unowned(v2), unowned(v3), unowned(v4), unowned(v5)),
        (unowned(m0), unowned(m1), unowned(m2), unowned(m3), unowned(m4), unowned(m5)),
        (unowned(s0), unowned(s1), unowned(s2), unowned(s3), unowned(s4), unowned(s5)),
        (unowned(classes), unowned(arrays), unowned(shared_arrays), unowned(first), unowned(held)),
        batch,
        generator,
    )


def _begin_batch(w, registers, size, warps_begin):
    run_records.begin_batch(w, registers, size, warps_begin)


def _know_program(w, run, programs, program):
    run_records.know_program(w, run, programs, program)


with kept_in(FOLDER):
    execute = njit(**_OPTIONS)(_execute)
    begin_batch = njit(**_OPTIONS)(_begin_batch)
    know_program = njit(**_OPTIONS)(_know_program)
