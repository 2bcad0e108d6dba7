"""The graph algorithms. To add one, write its folder and name it here; docs/algorithms.md describes those there are.

A folder's `__init__.py` states the problem and declares an `Algorithm`, named as the folder is, in capitals.
"""

from importlib import import_module

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict, Work
from warpsift.algorithms.options import OptionError, Options

FOLDERS = (
    "bfs",
    "sssp",
    "pagerank",
    "wcc",
    "bc",
    "tc",
)
ALGORITHMS: dict[str, Algorithm] = {
    name: getattr(import_module(f"{__name__}.{name}"), name.upper()) for name in FOLDERS
}

__all__ = ["ALGORITHMS", "Algorithm", "OptionError", "Options", "Outcome", "Verdict", "Work"]
