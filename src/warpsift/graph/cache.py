"""Parsed and generated graphs, kept in the user's cache directory.

An entry's name is a hash of everything it depends on (the file's bytes, options, versions), so entries never go
stale. It is written under another name and then renamed: a crash leaves no half entry, and two processes that write
the same entry both succeed. A damaged entry (the archive holds checksums) is removed and made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from warpsift.graph.csr import CsrGraph
from warpsift.graph.graph_errors import GraphError
from warpsift.graph.readers.npz import load_trusted, save_graph

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
        digest.update(f"{len(part)}:{part};".encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=20)).digest())
    return digest.hexdigest()


def fetch(key: str) -> CsrGraph | None:
    """The entry, or None if there is none that can be read."""
    path = cache_directory() / f"{key}.npz"
    try:
        graph = load_trusted(path)
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
    """Store the entry; a cache that cannot be written is no reason to fail."""
    directory = cache_directory()
    with contextlib.suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        save_graph(graph, directory / f"{key}.npz")
        prune(directory)


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
