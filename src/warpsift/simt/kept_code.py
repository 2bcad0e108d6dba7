"""Compiled code that is kept between runs, in a folder named by all that it is made of.

Numba's own cache looks only at the file of the compiled function: an edit in a function that it calls, in another file,
would silently run old code. So a part of the project names the files that its code is made of, and their hash names the
folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs

from warpsift.private_folder import code_folder

KEEP_SECONDS = 14 * 86400  # code of other versions that nobody has used for so long is removed


def folder_of(part: str, sources: Iterable[Path]) -> str:
    """The folder of a part's compiled code: WARPSIFT_CACHE_DIR, or below the user's cache folder."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    root = Path(os.environ.get("WARPSIFT_CACHE_DIR") or platformdirs.user_cache_dir("warpsift"))
    every = code_folder(root / part)
    folder = every / digest.hexdigest()[:16]
    with contextlib.suppress(OSError):
        if folder.exists():
            os.utime(folder)
        for old in every.iterdir():
            if time.time() - old.stat().st_mtime > KEEP_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
    return str(folder)


@contextlib.contextmanager
def kept_in(folder: str) -> Iterator[None]:
    """Functions that are declared inside with `cache=True` are kept in this folder."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, folder
    try:
        yield
    finally:
        settings.CACHE_DIR = before
