"""Where compiled engine code is kept, and why an edit is never ignored.

Numba's own cache looks only at the file of the compiled function: an edit in a function that it calls, in another file,
would silently run old code. So the engine's code goes into a directory named by the hash of everything that it
is made of: all engine sources, the stream's and the machines' constants, and the versions of Numba and NumPy.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs

_ENGINE = Path(__file__).parent
_PACKAGE = _ENGINE.parent
_KEEP = 4  # directories of earlier versions that stay

_compiled = 0
_started = 0.0


def sources() -> list[Path]:
    """Every file whose text can change the compiled code."""
    return [
        *sorted(_ENGINE.glob("*.py")),
        _PACKAGE / "simt" / "stream.py",
        _PACKAGE / "units" / "scu_trace.py",
        *sorted((_PACKAGE / "machines").glob("*.py")),
    ]


def fingerprint() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def root() -> Path:
    """The folder of all versions: WARPSIFT_CACHE_DIR, or the user's cache folder."""
    return Path(os.environ.get("WARPSIFT_CACHE_DIR") or platformdirs.user_cache_dir("warpsift")) / "engine"


def _prepare() -> str:
    folder = root() / fingerprint()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        versions = sorted(root().iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in versions[_KEEP:]:
            shutil.rmtree(old, ignore_errors=True)
    return str(folder)


DIRECTORY = _prepare()


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Compile, or load, under the engine's own cache directory."""
    global _started
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = DIRECTORY
    _started = _started or time.perf_counter()
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def note(function: Any) -> None:
    """Say on stderr, once, that code is being compiled and not loaded; on a terminal, count."""
    global _compiled
    if not function.stats.cache_misses:
        return
    _compiled += 1
    if _compiled == 1:
        print("warpsift: compiling the timing engine (once, about 20 s)", end="", file=sys.stderr, flush=True)
    elif _compiled % 10 == 0:
        print(".", end="", file=sys.stderr, flush=True)


def compiled_all() -> None:
    """End the progress line."""
    global _compiled
    if _compiled:
        seconds = time.perf_counter() - _started
        print(f" {_compiled} functions in {seconds:.0f} s", file=sys.stderr, flush=True)
    _compiled = 0
