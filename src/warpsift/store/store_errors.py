"""What SQLite says, in words that tell a user what to do."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from warpsift.errors import WarpsiftError

_SMALL_BYTES = 1 << 20  # less free space than this, and a failed write is taken for a full disk


class StoreError(WarpsiftError):
    """A store that cannot be opened, read or written."""


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_message(path, error)) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot read, byte for byte
        raise StoreError(f"{path} is damaged: restore a copy, or start a new store with --store") from error


def _message(path: Path, error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and _is_full(path)):
        return f"the disk that holds {path} is full: finished runs are kept; free some space and start the sweep again"
    if name == "SQLITE_NOTADB":
        return f"{path} is not a store of warpsift; give another name with --store"
    if name.startswith("SQLITE_READONLY"):
        return f"{path} cannot be written: the file or its directory is read-only; give another place with --store"
    if name.startswith("SQLITE_CANTOPEN"):
        if _is_full(path):
            return f"the disk that should hold {path} is full: free some space and start the sweep again"
        return f"{path} cannot be opened: check that its directory can be written, or give another with --store"
    if name.startswith("SQLITE_CORRUPT"):
        return f"{path} is damaged ({error}): restore a copy, or start a new store with --store"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} stayed locked by another program; end that program and start the sweep again"
    return f"{path}: {error}"


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _SMALL_BYTES
    except OSError:
        return False
