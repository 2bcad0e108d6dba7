"""Inputs of several parts as one text, so that what is inside an archive is mutated and not only its wrapping.

--part NAME
content
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile

MOST_MEMBERS = 11_000  # more than are read; packing them is slower than reading
_MARK = re.compile(rb"(?:^|\n)--part ([^\n]*)\n")


def joined(parts: dict[str, bytes]) -> bytes:
    return b"\n".join(b"--part " + name.encode() + b"\n" + content for name, content in parts.items())


def split(data: bytes) -> list[tuple[str, bytes]]:
    pieces = _MARK.split(data)
    names = [name.decode("latin-1") for name in pieces[1::2]]
    return list(zip(names, pieces[2::2], strict=True))


def as_zip(data: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in {name.partition("\0")[0][:1000] or "x": part for name, part in split(data)}.items():
            archive.writestr(name, part)
    return content.getvalue()


def as_tar(data: bytes) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, part in split(data)[:MOST_MEMBERS]:
            entry = tarfile.TarInfo(name)
            entry.size = len(part)
            archive.addfile(entry, io.BytesIO(part))
    return content.getvalue()


def packed(data: bytes) -> bytes:
    return gzip.compress(data, 1)
