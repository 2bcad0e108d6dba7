"""Which sources made a result: part of every run's key, so that an edit never meets a stale result.

Every source of the package counts, but for the rooms that only show or check results. Sources of units that other
packages add count too, whether a run uses the unit or not.
"""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_SUFFIXES = (".py", ".toml", ".csv")
# They read results and machines, and no run reads them. (`tests/test_house.py` holds that nothing below imports them.)
SHOWING = ("cli", "report", "search", "studies", "traces", "validation", "hdl")


def sources(package: Path = _PACKAGE) -> list[Path]:
    """Every file of the package whose text can change a result."""
    found = (path for path in package.rglob("*") if path.suffix in _SUFFIXES)
    return sorted(path for path in found if path.relative_to(package).parts[0] not in SHOWING)


def hash_of(package: Path, others: Iterable[Path] = (), start: str = "") -> str:
    """The package's sources and those of `others`, folders or files, as one hash; `start` is hashed before them."""
    digest = hashlib.blake2b(start.encode(), digest_size=8)
    for root, paths in [(package, sources(package)), *((other.parent, _all(other)) for other in others)]:
        for path in paths:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _all(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*") if path.suffix in _SUFFIXES) if place.is_dir() else [place]


def _other_packages() -> Iterator[Path]:
    """Where the units of other packages come from: the folder of the module that declares them, or its file."""
    from warpsift.units.registry import outside_modules

    for module in outside_modules():
        spec = find_spec(module)
        if spec is not None and spec.submodule_search_locations:
            yield from map(Path, spec.submodule_search_locations)
        elif spec is not None and spec.origin:
            yield Path(spec.origin)


@functools.cache
def source_version() -> str:
    """The engine's fingerprint (its sources, Numba, NumPy, Python) and the other sources, as one hash."""
    from warpsift.engine.core.compiled_code import fingerprint

    return hash_of(_PACKAGE, _other_packages(), fingerprint())


def versions() -> dict[str, str]:
    """What a report prints."""
    import numba
    import numpy

    from warpsift.version import __version__

    return {
        "warpsift": __version__,
        "sources": source_version(),
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "Numba": numba.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }
