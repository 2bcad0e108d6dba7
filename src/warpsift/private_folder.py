"""A folder for compiled code, which is loaded by unpickling: who can write there can run anything as the user.

So a folder that others can write to is not used, nor one that we cannot write; a private one in the system's folder for
temporary files takes its place until the command ends, and one line says so. Processes that it starts use the same one.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

from warpsift.printable import one_line

# Set for child processes when the folder in the user's cache is refused.
REPLACEMENT = "WARPSIFT_PRIVATE_CODE_DIR"
NUMBA_FOLDER = "NUMBA_CACHE_DIR"


def code_folder(wanted: Path) -> Path:
    """The folder, made if it is missing; or one below the private replacement."""
    given = os.environ.get(REPLACEMENT)
    if given and problem_of(Path(given)) is None:
        return _made(Path(given) / wanted.name)
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = problem_of(wanted)
    except OSError as error:
        problem = f"cannot be made: {error.strerror or error}"
    if problem is None:
        return wanted
    private = Path(tempfile.mkdtemp(prefix="warpsift-code-"))
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    os.environ[REPLACEMENT] = str(private)
    sys.stderr.write(one_line(f"warpsift: {wanted} {problem}; code compiled now is not kept") + "\n")
    return _made(private / wanted.name)


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def problem_of(folder: Path) -> str | None:
    """Why code must not be kept there, or None."""
    if not folder.is_dir():
        return "is not a folder"
    if hasattr(os, "getuid"):
        state = folder.stat()
        if state.st_uid not in (os.getuid(), 0) or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return "can be written by other users"
        for above in folder.resolve().parents:  # where one could rename it; /tmp's sticky bit forbids that
            mode = above.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                return f"lies in {above}, which can be written by other users"
    return None if os.access(folder, os.W_OK | os.X_OK) else "cannot be written"


def guard_numba(environment: dict[str, str] | os._Environ[str]) -> None:
    """Keep Numba's own folder, if one is set, from being another's; a file in the working directory cannot set it."""
    given = environment.get(NUMBA_FOLDER)
    if given:
        folder = Path(given)
        problem = problem_of(folder) if folder.exists() else None
        if problem is not None:
            sys.stderr.write(one_line(f"warpsift: {NUMBA_FOLDER}={given} {problem}; it is not used") + "\n")
            given = None
    environment[NUMBA_FOLDER] = given or ""  # an empty value wins over .numba_config.yaml
