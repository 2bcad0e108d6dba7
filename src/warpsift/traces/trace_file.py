"""Trace files as blocks of whole lines: plain, .xz or .gz, never more than a block in memory."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import numpy as np

from warpsift.paths import is_file
from warpsift.traces.trace_errors import TraceError

BLOCK_BYTES = 1 << 18
LONGEST_LINE = 1 << 14  # an instruction with 32 addresses takes under 1 KB
LONGEST_HEADER = 1 << 16
PADDING = 64  # so that a reader may take eight bytes at a time

_DAMAGED = (lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError, OSError, MemoryError)


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast(IO[bytes], lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


class TraceFile:
    """Reads a trace: first `header_lines`, then `blocks` of the rest. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rest = b""
        if not is_file(path):
            raise TraceError(f"{path}: cannot be read: no such file, or not a regular one")
        try:
            self._file = _open(path)
        except OSError as error:
            raise TraceError(f"{path}: cannot be read: {error.strerror or error}") from None

    def __enter__(self) -> TraceFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _read(self) -> bytes:
        try:
            return self._file.read(BLOCK_BYTES)
        except _DAMAGED as error:
            raise TraceError(f"{self.path}: cannot be read: {error}") from None

    def header_lines(self) -> list[str]:
        """The lines before the first that begins with '#'; that one and all others are left for `blocks`."""
        text = self._read()
        while b"\n#" not in text and len(text) < LONGEST_HEADER:
            more = self._read()
            if not more:
                break
            text += more
        end = text.find(b"\n#")
        if end < 0 and not text.startswith(b"#"):
            raise TraceError(f"{self.path}: no line begins with '#' after the header; is this a .traceg file?")
        self._rest = text[end + 1 :]
        return text[: end + 1].decode("utf-8", "replace").splitlines()

    def blocks(self) -> Iterator[tuple[np.ndarray, int]]:
        """The bytes after the header, cut at line ends, and how many they are; behind them lie PADDING others."""
        while True:
            more = self._read() if len(self._rest) < BLOCK_BYTES else b""
            text = self._rest + more
            if not text:
                return
            cut = text.rfind(b"\n") + 1
            if cut == 0 and not more:
                text, cut = text + b"\n", len(text) + 1  # the last line need not end in a newline
            if len(text) - cut > LONGEST_LINE:
                raise TraceError(f"{self.path}: a line is longer than {LONGEST_LINE} bytes; is this a .traceg file?")
            self._rest = text[cut:]
            if cut:
                block = np.zeros(cut + PADDING, np.uint8)
                block[:cut] = np.frombuffer(text, np.uint8, cut)
                yield block, cut
