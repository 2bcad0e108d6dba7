"""Names of generated graphs: `KIND-SIZE` or `KIND-SIZE-DEGREE`, e.g. `kron-16`, `kron-16-8`, `grid-64x64`.

SIZE is the logarithm of the number of nodes for the kinds that come in powers of two (delaunay, kron, rmat,
uniform), the sides for grid, and the number of nodes for all others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from warpsift.graph.csr import CsrGraph
from warpsift.graph.errors import GraphError
from warpsift.graph.generators.delaunay import delaunay
from warpsift.graph.generators.grid import grid
from warpsift.graph.generators.rmat import EDGE_FACTOR, KRON_EDGE_FACTOR, kron, rmat, uniform
from warpsift.graph.limits import size_problem

# Raised when a generator's results change, so that cached graphs of older versions are not used.
GENERATOR_VERSION = 1


@dataclass(frozen=True)
class Kind:
    """One kind of generated graph."""

    usage: str
    about: str
    make: Callable[[int, float, int], CsrGraph]  # size, degree, seed
    degree: float | None  # default of DEGREE; None where it is not settable
    power_of_two: bool = False
    arcs_per_degree: int = 1  # 2 where DEGREE counts undirected edges per node
    planar_degree: float = 0  # mean degree where it is not settable

    def nodes(self, size: int) -> int:
        return 1 << min(size, 64) if self.power_of_two else size

    def arcs(self, size: int, degree: float | None) -> int:
        """An upper estimate, to refuse what does not fit."""
        per_node = self.planar_degree if degree is None else degree * self.arcs_per_degree
        return int(self.nodes(size) * per_node)


KINDS: dict[str, Kind] = {
    "delaunay": Kind(
        usage="delaunay-N",
        about="triangulation of 2^N random points, undirected",
        make=lambda size, degree, seed: delaunay(size, seed),
        degree=None,
        power_of_two=True,
        planar_degree=6,
    ),
    "kron": Kind(
        usage="kron-N[-EDGEFACTOR]",
        about=f"Graph 500 Kronecker graph of 2^N nodes, undirected (edge factor {KRON_EDGE_FACTOR})",
        make=lambda size, degree, seed: kron(size, int(degree), seed),
        degree=KRON_EDGE_FACTOR,
        power_of_two=True,
        arcs_per_degree=2,
    ),
    "rmat": Kind(
        usage="rmat-N[-EDGEFACTOR]",
        about=f"R-MAT graph of 2^N nodes, directed (edge factor {EDGE_FACTOR})",
        make=lambda size, degree, seed: rmat(size, int(degree), seed),
        degree=EDGE_FACTOR,
        power_of_two=True,
    ),
    "uniform": Kind(
        usage="uniform-N[-EDGEFACTOR]",
        about=f"uniform random graph of 2^N nodes, undirected (edge factor {EDGE_FACTOR})",
        make=lambda size, degree, seed: uniform(size, int(degree), seed),
        degree=EDGE_FACTOR,
        power_of_two=True,
        arcs_per_degree=2,
    ),
}
GRID_USAGE = "grid-AxB[xC]"
GRID_ABOUT = "regular grid of two or three dimensions, undirected"

_NAME = re.compile(r"(?P<kind>[a-z][a-z0-9]*)-(?P<size>\d+(?:x\d+)*)(?:-(?P<degree>\d+(?:\.\d+)?))?")


def usages() -> list[tuple[str, str]]:
    """(how to write it, what it is) of every kind."""
    return [*((kind.usage, kind.about) for kind in KINDS.values()), (GRID_USAGE, GRID_ABOUT)]


def generate(name: str, seed: int, max_bytes: int) -> CsrGraph | None:
    """The graph of this name, or None if the name is not of the form; a wrong size or degree raises."""
    match = _NAME.fullmatch(name)
    if match is None or match["kind"] not in {*KINDS, "grid"}:
        return None
    if match["kind"] == "grid":
        return _grid(name, match["size"], match["degree"], max_bytes)
    kind = KINDS[match["kind"]]
    if "x" in match["size"]:
        raise GraphError(f"graph {name!r}: size {match['size']!r} is for grids; write {kind.usage}")
    if match["degree"] is not None and kind.degree is None:
        raise GraphError(f"graph {name!r}: this kind has no settable degree; write {kind.usage}")
    degree = float(match["degree"]) if match["degree"] is not None else kind.degree
    size = int(match["size"])
    problem = size_problem(kind.nodes(size), kind.arcs(size, degree), max_bytes)
    if problem:
        raise GraphError(f"graph {name!r}: {problem}")
    return kind.make(size, degree if degree is not None else 0, seed)


def _grid(name: str, size: str, degree: str | None, max_bytes: int) -> CsrGraph:
    sides = [int(side) for side in size.split("x")]
    if len(sides) not in (2, 3) or degree is not None:
        raise GraphError(f"graph {name!r}: write {GRID_USAGE}, e.g. grid-64x64")
    nodes = math.prod(sides)
    problem = size_problem(nodes, 2 * len(sides) * nodes, max_bytes)
    if problem:
        raise GraphError(f"graph {name!r}: {problem}")
    return grid(sides)
