"""Where compiled engine code is kept, and why an edit is never ignored.

Numba's own cache looks only at the file of the compiled function: an edit in a function that it calls, in another file,
would silently run old code. So the engine's code goes into a directory named by the hash of everything that it is made
of: all engine sources (for a unit, its own too), constants of the hardware, the stream and the machines, the versions
of Numba and NumPy, and the processor. Only entry points are kept there (`jit.entry`, `jit.callback`), each as one
object (`one_object.py`).
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import platformdirs

from warpsift.private_folder import code_folder
from warpsift.watching import watcher

_ENGINE = Path(__file__).parents[1]
_PACKAGE = _ENGINE.parent
_KEEP_MACHINES = 64  # of an entry point: about 100 kB each
_KEEP_SECONDS = 14 * 86400  # code of other versions that nobody has used for so long is removed


def sources() -> list[Path]:
    """Every file whose text can change the engine's compiled code."""
    return [
        *sorted(_ENGINE.rglob("*.py")),
        _PACKAGE / "hardware.py",
        _PACKAGE / "simt" / "stream.py",
        _PACKAGE / "simt" / "native_code.py",
        *sorted((_PACKAGE / "machines").glob("*.py")),
    ]


@functools.cache
def fingerprint(own: tuple[Path, str] | None = None) -> str:
    """The engine's sources and what compiles them; `own`, a folder and a text: a unit's sources and its socket."""
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version} {processor}".encode())
    paths = sources()
    if own is not None:
        digest.update(own[1].encode() + b"\0")
        paths += sorted(own[0].rglob("*.py"))
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def root() -> Path:
    """The folder of all versions: WARPSIFT_CACHE_DIR, or the user's cache folder."""
    return Path(os.environ.get("WARPSIFT_CACHE_DIR") or platformdirs.user_cache_dir("warpsift")) / "engine"


@functools.cache
def _prepare(version: str) -> Path:
    every = code_folder(root())
    folder = every / version
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(folder)
        for old in every.iterdir():
            if time.time() - old.stat().st_mtime > _KEEP_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def keep_newest(where: Path, pattern: str) -> None:
    """Remove all files of a pattern but the newest: a sweep over machines would leave one for each."""
    files = sorted(where.glob(pattern), key=lambda path: path.stat().st_mtime)
    for path in files[:-_KEEP_MACHINES]:
        path.unlink(missing_ok=True)


def folder(own: tuple[Path, str] | None = None) -> Path:
    """Where entry points of this version are kept."""
    return _prepare(fingerprint(own))


@contextlib.contextmanager
def directory() -> Iterator[None]:
    """Numba keeps the code of functions that are declared inside in a directory of this version."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder())
    try:
        yield
    finally:
        config.CACHE_DIR = before


@contextlib.contextmanager
def compiling(part: str) -> Iterator[Callable[[], None]]:
    """A progress line on stderr; the function given is called for each compiled function.

    Whoever watches (`warpsift.watching`) has a line of its own and is told instead.
    """
    started = time.perf_counter()
    count = 0
    watches = watcher()

    def step() -> None:
        nonlocal count
        count += 1
        if watches is not None:
            watches.compiling(part, count)
        elif count % 10 == 0:
            print(".", end="", file=sys.stderr, flush=True)

    if watches is None:
        print(f"warpsift: compiling {part} (once) ", end="", file=sys.stderr, flush=True)
    collecting = gc.isenabled()
    gc.disable()  # the compiler makes many objects and little garbage: collecting is a tenth of its time
    try:
        yield step
    finally:
        if collecting:
            gc.enable()
        if watches is None:
            functions = f"{count} function{'s' * (count != 1)}"
            print(f" {functions}, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        else:
            watches.compiling(part, 0)
