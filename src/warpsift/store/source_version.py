"""Which sources made a result: part of every run's key, so that an edit never meets a stale result."""

from __future__ import annotations

import functools
import hashlib
import platform
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
# Everything between a request and a finished result. A loaded graph is in the key by its content, but what a run makes
# of it (random weights, reversed edges) is not.
ROOMS = ("algorithms", "costs", "engine", "graph", "machines", "run", "simt", "units")


@functools.cache
def source_version() -> str:
    """The engine's fingerprint (its sources, Numba, NumPy, Python) and the other sources, as one hash."""
    from warpsift.engine.core.compiled_code import fingerprint

    digest = hashlib.blake2b(fingerprint().encode(), digest_size=8)
    for room in ROOMS:
        for path in sorted(p for p in (_PACKAGE / room).rglob("*") if p.suffix in (".py", ".toml", ".csv")):
            digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """What a report prints."""
    import numba
    import numpy

    from warpsift import __version__

    return {
        "warpsift": __version__,
        "sources": source_version(),
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "Numba": numba.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }
