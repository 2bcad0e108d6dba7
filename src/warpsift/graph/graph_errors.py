"""Errors about graphs: files, names, sizes and weights."""

from __future__ import annotations

from pathlib import Path

from warpsift.errors import WarpsiftError


class GraphError(WarpsiftError):
    """A graph could not be read, made or used; the message says what, where and what was expected."""


class FileError(GraphError):
    """A graph file is bad: `path`, the `line` (counted from 1, None for binary formats) and the `reason`."""

    def __init__(self, path: str | Path, reason: str, line: int | None = None) -> None:
        self.path = str(path)
        self.line = line
        self.reason = reason
        where = f"{self.path}, line {line}" if line is not None else self.path
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple[type[FileError], tuple[str, str, int | None]]:
        return FileError, (self.path, self.reason, self.line)  # so that it can come back from another process
