"""Files that a user names: questions that never raise, and places to write that are checked before the work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from warpsift.errors import WarpsiftError


class PathError(WarpsiftError):
    """A place that cannot be written to."""


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a regular file; a name that no file can have (too long, with a NUL) is none."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder of this name."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def check_output(path: Path, option: str, suffixes: Sequence[str] = ()) -> None:
    """Raise unless a file can be written there under a name with one of these endings; ask before a long run."""
    if suffixes and path.suffix.lower() not in suffixes:
        others = ", ".join(suffixes[:-1])
        raise PathError(f"{option} {path}: name it something{f'{others} or ' if others else ''}{suffixes[-1]}")
    if not is_folder(path.parent):
        raise PathError(f"{option} {path}: there is no folder {path.parent}")
    if is_folder(path):
        raise PathError(f"{option} {path}: this is a folder; name a file")
    if not os.access(path.parent, os.W_OK):
        raise PathError(f"{option} {path}: the folder {path.parent} cannot be written")
