"""Compiled functions of this package, cached so that an edit in any file they are made of is never ignored.

Numba's cache looks only at the file of the function itself, but a trace is converted by functions of several files
(the coalescing rules are `simt/coalesce.py`'s). So the cache lies in a folder named by the hash of all of them.
Signatures are given, so that no function is compiled twice for a literal argument.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import types

from warpsift.private_folder import code_folder
from warpsift.simt.stream import OP

_HERE = Path(__file__).parent
_OTHERS = ("hardware.py", "simt/coalesce.py", "simt/stream.py")
_SOURCES = (*sorted(_HERE.glob("*.py")), *(_HERE.parent / name for name in _OTHERS))


def _directory() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in _SOURCES:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    root = Path(os.environ.get("WARPSIFT_CACHE_DIR") or platformdirs.user_cache_dir("warpsift"))
    return str(code_folder(root / "traces") / digest.hexdigest()[:16])


DIRECTORY = _directory()
_announced = False


def _announce() -> None:
    """Say on stderr, once, that code is being compiled and not loaded."""
    global _announced
    if not _announced:
        print("warpsift: compiling the code for kernel traces (once, about 10 s)", file=sys.stderr, flush=True)
    _announced = True


i64, void = types.int64, types.void
BYTES = types.uint8[::1]
INTS = types.int64[::1]
TABLE = types.int64[:, ::1]
PAIR = types.UniTuple(types.int64, 2)
TABLES = types.Tuple((INTS, TABLE, TABLE))  # convert.py: warp, registers, slots
BUFFERS = types.Tuple((types.int32[::1], TABLE, INTS, INTS))  # buffers.py
OPS = numba.from_dtype(OP)[::1]
ONE_OP = numba.from_dtype(OP)


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` for one signature, with the cache folder above."""

    def compile_it(function: Callable[..., Any]) -> Any:
        settings: Any = numba.config
        before, settings.CACHE_DIR = settings.CACHE_DIR, DIRECTORY
        try:
            result = numba.njit(signature, cache=True, error_model="numpy")(function)
            if getattr(result, "stats", None) and result.stats.cache_misses:
                _announce()
            return result
        finally:
            settings.CACHE_DIR = before

    return compile_it
