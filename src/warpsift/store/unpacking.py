"""The bytes of a packed store, never more than a limit: a small file may expand without end."""

from __future__ import annotations

import lzma
from pathlib import Path

from warpsift.store.store_errors import StoreError

PACKED = ".xz"
MOST_BYTES = 4 << 30  # of a store in memory: some 100,000 runs


def unpacked(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    try:
        with lzma.open(path, "rb") as stream:
            content = stream.read(most_bytes + 1)
    except MemoryError:
        raise StoreError(f"{path} cannot be unpacked in this machine's memory") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise StoreError(f"{path} is damaged or no packed store ({error}): 'warpsift pack' makes them") from error
    if len(content) > most_bytes:
        raise StoreError(f"{path} unpacks to more than {most_bytes} bytes: unpack it yourself (xz -dk {path.name})")
    return content
