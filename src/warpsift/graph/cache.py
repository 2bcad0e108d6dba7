"""Parsed and generated graphs, kept in the user's cache directory.

An entry's name is a hash of everything it depends on (the file's bytes, options, versions), so entries never go
stale. It is written under another name and then renamed: a crash leaves no half entry, and two processes that write
the same entry both succeed. An entry begins with a digest of its name and of every byte that follows, so that one which
is damaged anywhere, cut or renamed is removed and made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import IO

import platformdirs

from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import GraphError
from warpsift.graph.readers.npz import trusted_graph, write_graph
from warpsift.printable import one_line

_DIGEST_BYTES = 32
DIRECTORY_VARIABLE = "WARPSIFT_CACHE_DIR"
MAX_CACHE_BYTES = 8 << 30  # the oldest entries go when the cache grows beyond: some 50 graphs of the papers' size


def cache_directory() -> Path:
    """Where entries live: $WARPSIFT_CACHE_DIR/graphs, or the system's cache directory of the user."""
    base = os.environ.get(DIRECTORY_VARIABLE) or platformdirs.user_cache_dir("warpsift")
    return Path(base) / "graphs"


def key_of(parts: Iterable[str], files: Iterable[Path] = ()) -> str:
    """The name of an entry that depends on these words and on the content of these files."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(f"{len(part)}:{part};".encode("utf-8", "surrogateescape"))  # a file's name need not be UTF-8
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=20)).digest())
    return digest.hexdigest()


def fetch(key: str) -> CsrGraph | None:
    """The entry, or None if there is none that is whole."""
    path = _entry(key)
    try:
        with path.open("rb") as file:
            if file.read(_DIGEST_BYTES) != _digest(key, file):
                raise GraphError(f"{path} is damaged")
            file.seek(0)
            graph = trusted_graph(file, path)
    except FileNotFoundError:
        return None
    except (OSError, GraphError):
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the age that `prune` looks at
    return graph


def keep(key: str, graph: CsrGraph) -> None:
    """Store the entry; a cache that cannot be written is no reason to fail, and one line says so."""
    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write(key, graph)
        prune(directory)
    except OSError as error:
        _tell_once(directory, error.strerror or str(error))


@cache
def _tell_once(directory: Path, why: str) -> None:
    sys.stderr.write(one_line(f"warpsift: {directory} cannot be written: {why}; graphs read now are not kept") + "\n")


def _entry(key: str) -> Path:
    return cache_directory() / f"{key}.npz"


def _digest(key: str, file: IO[bytes]) -> bytes:
    """Of the key and of all bytes after the digest itself; leaves the file there."""
    file.seek(_DIGEST_BYTES)
    content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).digest()  # type: ignore[arg-type]
    return hashlib.blake2b(key.encode() + content, digest_size=_DIGEST_BYTES).digest()


def _write(key: str, graph: CsrGraph) -> None:
    handle, temporary = tempfile.mkstemp(dir=cache_directory(), prefix=f".{key}.", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as file:
            file.write(bytes(_DIGEST_BYTES))
            write_graph(graph, file)  # places in the archive count from the file's beginning
            digest = _digest(key, file)
            file.seek(0)
            file.write(digest)
        os.replace(temporary, _entry(key))
    except BaseException:
        os.unlink(temporary)
        raise


def prune(directory: Path, max_bytes: int = MAX_CACHE_BYTES) -> None:
    """Remove the entries used longest ago until the rest fits."""
    entries = []
    for path in directory.iterdir():
        with contextlib.suppress(OSError):  # another process may have removed it
            state = path.stat()
            entries.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= max_bytes:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
