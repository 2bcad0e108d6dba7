"""Named stand-ins for the papers' graphs, at full size (`human`) or any part of it (`human@1/32`).

A part has that share of the nodes and, where the kind allows it, the same mean degree; Delaunay and Kronecker graphs
take the nearest power of two; a gene network is never denser than a quarter of all pairs.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import resources

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.collab import collab
from warpsift.graph.generators.delaunay import delaunay
from warpsift.graph.generators.gene import gene
from warpsift.graph.generators.mesh3d import mesh3d
from warpsift.graph.generators.rmat import kron
from warpsift.graph.generators.road import road
from warpsift.graph.generators.sites import sites
from warpsift.graph.generators.web import FAR_COPIES, web
from warpsift.graph.graph_errors import GraphError
from warpsift.graph.limits import size_problem

_DENSEST = 0.25  # share of all pairs that a part of a gene network may join
_NAME = re.compile(r"(?P<preset>[a-z0-9-]+)(?:@(?P<part>\d+/\d+|\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class Preset:
    """One entry of datasets.toml."""

    name: str
    kind: str
    nodes: int
    arcs: int
    paper: str
    original: str
    files: tuple[str, ...]  # names of the original's file, up to the first dot
    source: str  # where it is distributed
    edge_factor: int = 0  # kron
    unknowns: int = 0  # mesh3d
    most_links: int = 0  # web, 0 for no bound
    far_copies: float = FAR_COPIES  # web
    scattered: float = 0.0  # collab

    @property
    def degree(self) -> float:
        return self.arcs / self.nodes

    def sized(self, part: Fraction) -> Preset:
        """The same kind with this share of the nodes."""
        nodes = max(round(self.nodes * part), 1)
        if self.kind in ("delaunay", "kron"):
            nodes = 1 << round(math.log2(nodes))
        degree = min(self.degree, nodes * _DENSEST) if self.kind == "gene" else self.degree
        return replace(self, nodes=nodes, arcs=round(nodes * degree))

    def make(self, seed: int) -> CsrGraph:
        scale = self.nodes.bit_length() - 1
        if self.kind == "delaunay":
            return delaunay(scale, seed)
        if self.kind == "kron":
            return kron(scale, self.edge_factor, seed)
        if self.kind == "mesh3d":
            return mesh3d(self.nodes, self.unknowns, seed)
        if self.kind == "web":
            return web(self.nodes, self.degree, seed, self.most_links or None, self.far_copies)
        if self.kind == "collab":
            return collab(self.nodes, self.degree, seed, self.scattered)
        makers = {"road": road, "gene": gene, "sites": sites}
        return makers[self.kind](self.nodes, self.degree, seed)


@functools.cache
def presets() -> Mapping[str, Preset]:
    """All entries of datasets.toml by name."""
    text = resources.files("warpsift.graph").joinpath("datasets.toml").read_text("utf-8")
    entries = tomllib.loads(text).items()
    return {name: Preset(name, **{**entry, "files": tuple(entry["files"])}) for name, entry in entries}


def generate_preset(name: str, seed: int, max_bytes: int) -> CsrGraph | None:
    """The stand-in of this name, or None if there is none; a wrong part raises."""
    match = _NAME.fullmatch(name)
    preset = presets().get(match["preset"] if match else name.partition("@")[0])
    if preset is None:
        return None
    part = _part(name, match["part"] if match else None, "@" in name)
    sized = preset.sized(part) if part != 1 else preset
    problem = size_problem(sized.nodes, sized.arcs, max_bytes)
    if problem:
        raise GraphError(f"graph {name!r}: {problem}")
    return replace(sized.make(seed), stand_in_for=preset.original)


def _part(name: str, text: str | None, given: bool) -> Fraction:
    if not given:
        return Fraction(1)
    try:
        part = Fraction(text or "")
    except (ValueError, ZeroDivisionError):
        part = Fraction(0)
    if not 0 < part <= 1:
        raise GraphError(f"graph {name!r}: write the part as NAME@1/32 or NAME@0.25, above 0 and at most 1")
    return part
