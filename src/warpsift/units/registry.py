"""How each unit runs each algorithm."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from warpsift.algorithms import ALGORITHMS
from warpsift.algorithms.bfs import scu as bfs_scu
from warpsift.algorithms.pagerank import scu as pagerank_scu
from warpsift.algorithms.sssp import scu as sssp_scu
from warpsift.algorithms.wcc import scu as wcc_scu

_SCU = {"bfs": bfs_scu.run, "sssp": sssp_scu.run, "pagerank": pagerank_scu.run, "wcc": wcc_scu.run}


def baseline(machine: Any) -> dict[str, Callable]:
    """No unit: the frontier style on the plain GPU, which is what the SCU is compared with."""
    return {name: algorithm.styles["frontier"] for name, algorithm in ALGORITHMS.items()}


def _scu(machine: Any, enhanced: bool) -> dict[str, Callable]:
    spec = getattr(machine, "scu", None)
    return {name: partial(run, spec=spec, enhanced=enhanced) for name, run in _SCU.items()}


def scu_enhanced(machine: Any) -> dict[str, Callable]:
    return _scu(machine, True)


def scu_basic(machine: Any) -> dict[str, Callable]:
    """Section 3 of the paper alone: no filtering, no grouping."""
    return _scu(machine, False)
