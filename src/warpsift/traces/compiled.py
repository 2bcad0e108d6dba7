"""Compiled functions of this package, cached so that an edit in any file they are made of is never ignored.

Numba's cache looks only at the file of the function itself, but a trace is converted by functions of several files
(the coalescing rules are `simt/coalesce.py`'s). So the cache lies in a folder named by the hash of all of them.
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

_HERE = Path(__file__).parent
_SOURCES = (*sorted(_HERE.glob("*.py")), _HERE.parent / "simt" / "coalesce.py", _HERE.parent / "simt" / "stream.py")


def _directory() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in _SOURCES:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    root = Path(os.environ.get("WARPSIFT_CACHE_DIR") or platformdirs.user_cache_dir("warpsift"))
    return str(root / "traces" / digest.hexdigest()[:16])


DIRECTORY = _directory()


def compiled(function: Callable[..., Any]) -> Any:
    """`numba.njit` with the cache folder above."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = DIRECTORY
    try:
        return numba.njit(cache=True)(function)
    finally:
        numba.config.CACHE_DIR = before
