"""Where compiled engine code is kept, and why an edit is never ignored.

Numba's own cache looks only at the file of the compiled function: an edit in a function that it calls, in another file,
would silently run old code. So the engine's code goes into a directory named by the hash of everything that it
is made of: all engine sources, the stream's and the machines' constants, and the versions of Numba and NumPy.
"""

from __future__ import annotations

import contextlib
import gc
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
_KEEP_SECONDS = 14 * 86400  # code of other versions that nobody has used for so long is removed

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


def _prepare() -> Path:
    folder = root() / fingerprint()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for old in root().iterdir():
            if time.time() - old.stat().st_mtime > _KEEP_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
    return folder


_FOLDER = _prepare()
DIRECTORY = str(_FOLDER)
_MARK = _FOLDER / "complete"
COMPLETE = _MARK.exists()  # every function has been compiled and stored


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Compile, or load, under the engine's own cache directory."""
    global _started
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = DIRECTORY
    _started = _started or time.perf_counter()
    collecting = gc.isenabled()
    gc.disable()  # the compiler makes many objects and little garbage: collecting is a tenth of its time
    try:
        yield
    finally:
        config.CACHE_DIR = before
        if collecting:
            gc.enable()


def note(function: Any) -> None:
    """Say on stderr, once, that code is being compiled and not loaded; on a terminal, count."""
    global _compiled
    if not function.stats.cache_misses:
        return
    _compiled += 1
    if _compiled == 1:
        print("warpsift: compiling the timing engine (once, about half a minute)", end="", file=sys.stderr, flush=True)
    elif _compiled % 10 == 0:
        print(".", end="", file=sys.stderr, flush=True)


def compiled_all() -> None:
    """The engine is imported: end the progress line, and remember that the cache is complete."""
    global _compiled
    if not COMPLETE and not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        with contextlib.suppress(OSError):
            _MARK.touch()
    if _compiled:
        seconds = time.perf_counter() - _started
        print(f" {_compiled} functions in {seconds:.0f} s", file=sys.stderr, flush=True)
    _compiled = 0
