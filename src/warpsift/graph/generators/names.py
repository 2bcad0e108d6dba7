"""Names of generated graphs: `KIND-SIZE` or `KIND-SIZE-DEGREE`, e.g. `kron-16`, `kron-16-8`, `grid-64x64`.

SIZE is the logarithm of the number of nodes for the kinds that come in powers of two (delaunay, rgg, kron, rmat,
uniform), the sides for grid, and the number of nodes for all others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.collab import COLLAB_DEGREE, collab
from warpsift.graph.generators.delaunay import delaunay
from warpsift.graph.generators.gene import GENE_DENSITY, gene
from warpsift.graph.generators.grid import grid
from warpsift.graph.generators.mesh3d import UNKNOWNS, mesh3d
from warpsift.graph.generators.rgg import RADIUS, rgg
from warpsift.graph.generators.rmat import EDGE_FACTOR, KRON_EDGE_FACTOR, kron, rmat, uniform
from warpsift.graph.generators.road import ROAD_DEGREE, road
from warpsift.graph.generators.sites import SITES_DEGREE, sites
from warpsift.graph.generators.web import WEB_DEGREE, web
from warpsift.graph.graph_errors import GraphError
from warpsift.graph.limits import size_problem

# Raised when a generator's results change, so that cached graphs of older versions are not used.
GENERATOR_VERSION = 10


Maker = Callable[[int, float | None, int], CsrGraph]  # size, degree or None for the default, seed


@dataclass(frozen=True)
class Kind:
    """One kind of generated graph."""

    usage: str
    about: str
    make: Maker
    arcs_per_node: Callable[[int, float | None], float]  # of nodes and DEGREE: an upper estimate
    power_of_two: bool = False
    has_degree: bool = True
    integer_degree: bool = False

    def nodes(self, size: int) -> int:
        return 1 << min(size, 64) if self.power_of_two else size


def _or(default: float, times: float = 1) -> Callable[[int, float | None], float]:
    return lambda nodes, degree: times * (default if degree is None else degree)


KINDS: dict[str, Kind] = {
    "delaunay": Kind(
        usage="delaunay-N",
        about="triangulation of 2^N random points, undirected",
        make=lambda size, degree, seed: delaunay(size, seed),
        arcs_per_node=lambda nodes, degree: 6,
        power_of_two=True,
        has_degree=False,
    ),
    "rgg": Kind(
        usage="rgg-N",
        about="2^N random points of the unit square, joined where they are near, undirected",
        make=lambda size, degree, seed: rgg(size, seed),
        arcs_per_node=lambda nodes, degree: 1.1 * math.pi * RADIUS**2 * math.log(max(nodes, 2)) + 4,
        power_of_two=True,
        has_degree=False,
    ),
    "kron": Kind(
        usage="kron-N[-EDGEFACTOR]",
        about=f"Graph 500 Kronecker graph of 2^N nodes, undirected (edge factor {KRON_EDGE_FACTOR})",
        make=lambda size, degree, seed: kron(size, int(degree or KRON_EDGE_FACTOR), seed),
        arcs_per_node=_or(KRON_EDGE_FACTOR, 2),
        power_of_two=True,
        integer_degree=True,
    ),
    "rmat": Kind(
        usage="rmat-N[-EDGEFACTOR]",
        about=f"R-MAT graph of 2^N nodes, directed (edge factor {EDGE_FACTOR})",
        make=lambda size, degree, seed: rmat(size, int(degree or EDGE_FACTOR), seed),
        arcs_per_node=_or(EDGE_FACTOR),
        power_of_two=True,
        integer_degree=True,
    ),
    "uniform": Kind(
        usage="uniform-N[-EDGEFACTOR]",
        about=f"uniform random graph of 2^N nodes, undirected (edge factor {EDGE_FACTOR})",
        make=lambda size, degree, seed: uniform(size, int(degree or EDGE_FACTOR), seed),
        arcs_per_node=_or(EDGE_FACTOR, 2),
        power_of_two=True,
        integer_degree=True,
    ),
    "road": Kind(
        usage="road-NODES[-DEGREE]",
        about=f"planar network, connected, undirected (degree {ROAD_DEGREE:g})",
        make=lambda size, degree, seed: road(size, degree or ROAD_DEGREE, seed),
        arcs_per_node=_or(ROAD_DEGREE),
    ),
    "collab": Kind(
        usage="collab-NODES[-DEGREE]",
        about=f"collaboration network: cliques of authors, undirected (degree {COLLAB_DEGREE:g})",
        make=lambda size, degree, seed: collab(size, degree or COLLAB_DEGREE, seed),
        arcs_per_node=_or(COLLAB_DEGREE),
    ),
    "mesh3d": Kind(
        usage="mesh3d-NODES[-UNKNOWNS]",
        about=f"tetrahedral mesh with several unknowns per mesh node ({UNKNOWNS}), undirected",
        make=lambda size, degree, seed: mesh3d(size, int(degree or UNKNOWNS), seed),
        arcs_per_node=_or(UNKNOWNS, 17),  # 15.5 neighbours in a random tetrahedral mesh, and itself
        integer_degree=True,
    ),
    "gene": Kind(
        usage="gene-NODES[-DEGREE]",
        about=f"dense correlation network, undirected (joins {GENE_DENSITY:.0%} of all pairs)",
        make=lambda size, degree, seed: gene(size, degree, seed),
        arcs_per_node=lambda nodes, degree: GENE_DENSITY * nodes if degree is None else degree,
    ),
    "sites": Kind(
        usage="sites-NODES[-DEGREE]",
        about=f"web crawl of sites with menus and directories, directed (degree {SITES_DEGREE:g})",
        make=lambda size, degree, seed: sites(size, degree or SITES_DEGREE, seed),
        arcs_per_node=_or(SITES_DEGREE),
    ),
    "web": Kind(
        usage="web-NODES[-DEGREE]",
        about=f"copying model: locality and a power law, directed (degree {WEB_DEGREE:g})",
        make=lambda size, degree, seed: web(size, degree or WEB_DEGREE, seed),
        arcs_per_node=_or(WEB_DEGREE),
    ),
}
_MOST_DIGITS = 18
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
    if max(map(len, re.split("[x.]", f"{match['size']}x{match['degree'] or ''}"))) > _MOST_DIGITS:
        raise GraphError(f"graph {name!r}: a number of more than {_MOST_DIGITS} digits; no such graph fits")
    if match["kind"] == "grid":
        return _grid(name, match["size"], match["degree"], max_bytes)
    kind = KINDS[match["kind"]]
    if "x" in match["size"]:
        raise GraphError(f"graph {name!r}: size {match['size']!r} is for grids; write {kind.usage}")
    degree = float(match["degree"]) if match["degree"] is not None else None
    if degree is not None:
        _check_degree(name, kind, degree)
    size = int(match["size"])
    nodes = kind.nodes(size)
    problem = size_problem(nodes, int(nodes * kind.arcs_per_node(nodes, degree)), max_bytes)
    if problem:
        raise GraphError(f"graph {name!r}: {problem}")
    return kind.make(size, degree, seed)


def _check_degree(name: str, kind: Kind, degree: float) -> None:
    if not kind.has_degree:
        raise GraphError(f"graph {name!r}: this kind has no settable degree; write {kind.usage}")
    if degree <= 0 or (kind.integer_degree and degree != int(degree)):
        what = "an integer from 1 up" if kind.integer_degree else "a number above 0"
        raise GraphError(f"graph {name!r}: expected {what} after the size; write {kind.usage}")


def _grid(name: str, size: str, degree: str | None, max_bytes: int) -> CsrGraph:
    sides = [int(side) for side in size.split("x")]
    if len(sides) not in (2, 3) or degree is not None:
        raise GraphError(f"graph {name!r}: write {GRID_USAGE}, e.g. grid-64x64")
    nodes = math.prod(sides)
    problem = size_problem(nodes, 2 * len(sides) * nodes, max_bytes)
    if problem:
        raise GraphError(f"graph {name!r}: {problem}")
    return grid(sides if nodes else [0] * len(sides))  # NumPy has no array of 2147483647 x 0 x 2147483649
