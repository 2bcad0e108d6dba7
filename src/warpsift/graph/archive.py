"""Graph files as bytes: plain, gzip, bzip2 or xz, alone or inside a tar archive, never more than a limit.

Compression is recognised by the first bytes, not by the name. Expansion happens piece by piece and stops at the
limit, so a small file that expands without end costs no more than the limit. An archive's own headers are bounded too.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Protocol

from warpsift.graph.graph_errors import FileError
from warpsift.graph.limits import HOW_TO_RAISE, Limits

_OPENERS = ((b"\x1f\x8b", "gzip", gzip.open), (b"BZh", "bzip2", bz2.open), (b"\xfd7zXZ\x00", "xz", lzma.open))
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
MEMBER_SEPARATOR = "::"  # archive.tar.gz::folder/graph.mtx
_PIECE_BYTES = 1 << 20
_SHOWN_NAMES = 10
_MOST_MEMBERS = 10_000  # SuiteSparse's archives hold some ten
_LONGEST_HEADER = 1 << 13  # of names and times that do not fit tar's fixed fields; parsing is quadratic in its length


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_bytes(path: Path, max_bytes: int) -> bytearray:
    """The content of the file, expanded if it is compressed."""
    try:
        with path.open("rb") as file:
            head = file.read(6)
            file.seek(0)
            if head.startswith(_ZSTANDARD):
                raise FileError(path, f"is compressed with Zstandard, which Python does not read: zstd -d {path.name}")
            for magic, kind, opener in _OPENERS:
                if head.startswith(magic):
                    with opener(file) as stream:
                        return _expand(stream, path, kind, max_bytes)
            size = path.stat().st_size
            if size > max_bytes:
                raise FileError(path, f"{size} bytes, over the limit of {max_bytes} {HOW_TO_RAISE}")
            content = bytearray(size)
            del content[file.readinto(content) :]
            return content
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error


def _expand(stream: _Readable, path: Path, kind: str, max_bytes: int) -> bytearray:
    content = bytearray()
    try:
        while piece := stream.read(_PIECE_BYTES):
            content += piece
            if len(content) > max_bytes:
                reason = f"expands to more than the limit of {max_bytes} bytes {HOW_TO_RAISE}"
                raise FileError(path, reason)
    except MemoryError:  # an .xz file may ask for a dictionary of gigabytes
        raise FileError(path, f"the {kind} data cannot be expanded in this machine's memory") from None
    except EOFError:
        raise FileError(path, f"the {kind} data is cut short after {len(content)} expanded bytes") from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        raise FileError(path, f"the {kind} data is damaged: {error}") from error
    return content


def is_tar(content: bytearray) -> bool:
    return content[257:262] == b"ustar"


class _BoundedInfo(tarfile.TarInfo):
    """A member whose extended header, if it has one, is short; the methods are those `tarfile` reads them with."""

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self._refuse_long_header()
        return super()._proc_pax(archive)  # type: ignore[misc]

    def _proc_gnulong(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self._refuse_long_header()
        return super()._proc_gnulong(archive)  # type: ignore[misc]

    def _refuse_long_header(self) -> None:
        if self.size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {self.size} bytes")


def _members(archive: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
    """The regular files by name."""
    files: dict[str, tarfile.TarInfo] = {}
    for number, entry in enumerate(archive):
        if number >= _MOST_MEMBERS:
            raise tarfile.ReadError(f"more than {_MOST_MEMBERS} members")
        if entry.isfile():
            files[entry.name.removeprefix("./")] = entry
    return files


def tar_member(
    content: bytearray, member: str | None, path: Path, suffixes: tuple[str, ...], limits: Limits
) -> tuple[str, bytes]:
    """Name and bytes of the wanted member, or of the only graph in the archive."""
    problem = limits.loading_problem(4 * len(content))  # the archive, its copy in the stream, the member twice
    if problem:
        raise FileError(path, problem)
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:", tarinfo=_BoundedInfo) as archive:
            files = _members(archive)
            name = member if member is not None else _only_graph(files, path, suffixes)
            if name not in files:
                raise FileError(path, f"the archive has no member {name!r}; it has {_listed(files)}")
            if files[name].size > len(content):  # a sparse member expands to any size
                raise FileError(path, f"member {name!r} promises {files[name].size} bytes, more than the archive")
            stream = archive.extractfile(files[name])
            assert stream is not None  # regular files always open
            return name, stream.read()
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise FileError(path, f"the tar archive is damaged: {error}") from error


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN_NAMES]) or "nothing"
    return shown if len(names) <= _SHOWN_NAMES else f"{shown} and {len(names) - _SHOWN_NAMES} more"


def _only_graph(files: dict[str, tarfile.TarInfo], path: Path, suffixes: tuple[str, ...]) -> str:
    """SuiteSparse archives hold name/name.mtx beside right-hand sides: that one counts as the only graph."""
    graphs = [name for name in files if PurePosixPath(name).suffix in suffixes]
    named = [name for name in graphs if PurePosixPath(name).stem == PurePosixPath(name).parent.name]
    for found in (graphs, named):
        if len(found) == 1:
            return found[0]
    raise FileError(
        path, f"the archive holds {_listed(graphs or files)}; choose one, e.g. {path.name}{MEMBER_SEPARATOR}NAME"
    )


def plain_name(name: str) -> str:
    """The name without a suffix of compression."""
    for suffix in COMPRESSED_SUFFIXES:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name
