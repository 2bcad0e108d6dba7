"""Reads a machine file as TOML: whatever is wrong with the file itself becomes one line that names it."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any

from warpsift.machines.ranges import shown
from warpsift.machines.spec import MachineError

MOST_BYTES = 1 << 20  # the stock machines have under 10 kB


def is_there(path: Path) -> bool:
    """Whether a path leads to something; a name that cannot be a path leads to nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def read_toml(path: Path) -> dict[str, Any]:
    """The tree of a file that exists."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
            raise MachineError(f"machine file {path.name} is {kind}; give the path of a .toml file")
        if found.st_size > MOST_BYTES:
            raise MachineError(f"machine file {path.name} has {found.st_size} bytes; at most {MOST_BYTES} are read")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MachineError(f"machine file {path.name}: {error}") from error
    except UnicodeDecodeError as error:
        raise MachineError(f"machine file {path.name}: byte {error.start} is not UTF-8; save it as UTF-8") from error
    except RecursionError as error:
        raise MachineError(f"machine file {path.name}: brackets are nested too deeply") from error
    except OSError as error:
        raise MachineError(f"machine file {path.name}: {error.strerror}") from error
    except ValueError as error:  # a number of thousands of digits
        raise MachineError(f"machine file {path.name}: {shown(str(error))}; write a shorter number") from error
