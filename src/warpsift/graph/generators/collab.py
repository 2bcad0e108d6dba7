"""Collaboration networks: authors joined when they wrote a paper together (cond, dblp).

An affiliation model: every team has written together and is a clique. Authors stand in a line by field; a team is some
neighbours in that line, who mostly write with each other, and leaders, who write with many teams, most of them near.
Hence the clustering of the real networks (0.7: a young author's co-authors know each other), their tail of degrees (a
leader of forty teams) and the numbering by communities in which LAW distributes such graphs: the piece that holds most
authors first, then the small ones, which have short lists. Some authors wrote alone.

`scattered` numbers a share of the authors at random, as in collections that number them by name.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.trim import undirected_graph

COLLAB_DEGREE = 4.95  # of dblp-2010 (1,615,400 arcs / 326,186 nodes)
# Newman, "The structure of scientific collaboration networks", PNAS 98 (2001): papers per author and authors per
# paper fall off as power laws with a cut-off. The numbers are choices within that shape, looked at beside dblp-2010
# and cond-mat-2005 (`warpsift study stand-ins`; docs/graphs.md has the comparison).
_PRODUCTIVITY_EXPONENT = 1.7
_MOST_PRODUCTIVE = 4000.0  # the cut-off, in units of the least productive author
_TEAM_EXPONENT = 3.0
_MOST_AUTHORS = 40  # longer lists are rare enough to leave out, and one of 100 authors adds 9900 arcs
_TEAM = 0.25  # least members of a team, of the mean degree
_ALONE = 0.04
_LEADERS = 0.26  # mean leaders of a team, beside its own members, of the mean degree
_FAR = 0.4  # share of leaders from anywhere in the line: most of the network is in one piece


def collab(nodes: int, degree: float = COLLAB_DEGREE, seed: int = 1, scattered: float = 0.0) -> CsrGraph:
    """An undirected graph of nodes * degree arcs; a few authors stay alone, as in the real ones."""
    rng = np.random.default_rng(seed)
    wanted = round(nodes * degree / 2)
    if nodes < 2 or wanted == 0:
        return CsrGraph.from_edges(np.empty(0, np.int32), np.empty(0, np.int32), nodes=nodes)
    productivity = np.minimum(rng.pareto(_PRODUCTIVITY_EXPONENT - 1, nodes) + 1, _MOST_PRODUCTIVE)
    shares = np.cumsum(productivity) / productivity.sum()
    everybody = writes = np.flatnonzero(rng.random(nodes) >= _ALONE)
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(40):  # teams along the whole line, then along parts of it, until there are enough edges
        drawn.append(_team_edges(writes, shares, degree, rng))
        one, other = (np.concatenate(ends) for ends in zip(*drawn, strict=True))
        graph = undirected_graph(one, other, nodes, wanted, rng)
        if graph.edges >= 2 * wanted:
            break
        part = int(everybody.size * min(1.0, 1.1 * (1 - graph.edges / (2 * wanted)))) + 2
        begin = int(rng.integers(0, everybody.size))
        writes = np.sort(np.roll(everybody, -begin)[:part])
    return _scattered(_largest_first(graph), scattered, rng)


def _team_edges(
    writes: np.ndarray, shares: np.ndarray, degree: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the cliques of teams that follow one another along the line."""
    nodes = shares.size
    raw = (1 + rng.pareto(_TEAM_EXPONENT - 1, writes.size)) * max(1.0, _TEAM * degree)
    sizes = np.clip(np.floor(raw + rng.random(raw.size)), 1, _MOST_AUTHORS).astype(np.int64)
    ends = np.cumsum(sizes)
    sizes = sizes[: int(np.searchsorted(ends, writes.size)) + 1]
    first = np.cumsum(sizes) - sizes
    leaders = rng.poisson(min(_LEADERS * degree, 4.0), sizes.size)
    leaders[sizes + leaders < 2] += 1
    one, other = [], []
    for size, extra in np.unique(np.stack((sizes, leaders)), axis=1).T:
        begin = first[(sizes == size) & (leaders == extra)]
        members = writes[np.minimum(begin[:, None] + np.arange(size), writes.size - 1)]
        team = np.concatenate((members, _leaders(members[:, 0], int(extra), shares, nodes, rng)), axis=1)
        left, right = np.triu_indices(int(size + extra), 1)
        one.append(team[:, left].ravel().astype(np.int32))
        other.append(team[:, right].ravel().astype(np.int32))
    return np.concatenate(one), np.concatenate(other)


def _leaders(beside: np.ndarray, count: int, shares: np.ndarray, nodes: int, rng: np.random.Generator) -> np.ndarray:
    """Productive authors for each team: of those at some distance along the line, or of all."""
    width = np.minimum(np.ceil(4 * (rng.pareto(0.7, (beside.size, count)) + 1)), nodes).astype(np.int64)
    low = np.maximum(beside[:, None] - width, 0)
    high = np.minimum(beside[:, None] + width, nodes - 1)
    far = rng.random((beside.size, count)) < _FAR
    low[far], high[far] = 0, nodes - 1
    begin = np.where(low > 0, shares[np.maximum(low - 1, 0)], 0.0)
    draw = begin + rng.random((beside.size, count)) * (shares[high] - begin)
    return np.minimum(np.searchsorted(shares, draw), nodes - 1)


def _largest_first(graph: CsrGraph) -> CsrGraph:
    """The same network, numbered by pieces: the largest, then the others, each in the order of its line."""
    _, piece = connected_components(graph.to_scipy_pattern(), directed=False)
    order = np.argsort(piece != np.bincount(piece).argmax(), kind="stable")
    return _renumbered(graph, np.argsort(order).astype(np.int32))


def _scattered(graph: CsrGraph, share: float, rng: np.random.Generator) -> CsrGraph:
    """A share of the nodes change places at random."""
    if share <= 0:
        return graph
    moved = np.flatnonzero(rng.random(graph.nodes) < share)
    place = np.arange(graph.nodes, dtype=np.int32)
    place[moved] = rng.permutation(moved).astype(np.int32)
    return _renumbered(graph, place)


def _renumbered(graph: CsrGraph, place: np.ndarray) -> CsrGraph:
    return CsrGraph.from_edges(place[graph.sources], place[graph.targets], nodes=graph.nodes)
