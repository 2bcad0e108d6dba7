"""Collaboration networks: authors joined when they wrote a paper together (cond, dblp).

An affiliation model: everybody who wrote a paper together knows each other. Authors stand in a line by field. Everybody
has a first paper, with neighbours in that line and sometimes somebody productive near them. All further papers are led
by productive authors, with others from nearby and mostly one productive author from anywhere. Fields, and groups within
them, differ in how much they publish, so that authors with long lists stand together. Hence the clustering of the real
networks (a young author's co-authors know each other), their tail of degrees, and that a productive author's links lead
far more often than a young one's. LAW numbers such graphs by communities: the piece that holds most authors first, then
the small ones, which have short lists. Some authors wrote alone.

`scattered` numbers a share of the authors at random, as in collections that number them by name.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse.csgraph import connected_components

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.trim import undirected_graph

Ends = tuple[np.ndarray, np.ndarray]

COLLAB_DEGREE = 4.95  # of dblp-2010 (1,615,400 arcs / 326,186 nodes)
# Newman, "The structure of scientific collaboration networks", PNAS 98 (2001): papers per author and authors per
# paper fall off as power laws with a cut-off. The numbers are choices within that shape, made by the statistics of
# dblp-2010 and cond-mat-2005 and not by any run's speed (docs/graphs.md has the comparison).
_PRODUCTIVITY_EXPONENT = 1.75
_MOST_PRODUCTIVE = 1000.0  # the cut-off, in units of the least productive author
_LEADS, _TRAVELS = 0.8, 0.5  # leading a paper, and writing with others far away, grow with these powers of productivity
_MOST_PAPERS = 60  # that one author leads, in units of the mean
_TEAM_EXPONENT = 3.5
_MOST_AUTHORS = 40  # longer lists are rare enough to leave out, and one of 100 authors adds 9900 arcs
_FIRST_TEAM = 0.25  # least members of a first paper, of the mean degree
_FIRST_LEADERS = 0.25  # productive authors beside them, in the mean
_OTHERS = 3.0  # authors of a further paper beside the one who leads it, in the mean
_FAR = 0.8  # share of further papers with an author from anywhere
_ALONE = 0.06
_REACH, _REACH_EXPONENT = 6.5, 0.72  # how far along the line "near" is: at least, and how its tail falls off
_FIELD, _GROUP = (1500, 0.5), (60, 0.75)  # mean number of authors, spread of the logarithm of how lively they are
_TEAM_BY_LIVELINESS = 0.6  # lively fields write longer first papers: by this power


def collab(nodes: int, degree: float = COLLAB_DEGREE, seed: int = 1, scattered: float = 0.0) -> CsrGraph:
    """An undirected graph of nodes * degree arcs; a few authors stay alone, as in the real ones."""
    rng = np.random.default_rng(seed)
    wanted = round(nodes * degree / 2)
    if nodes < 2 or wanted == 0:
        return CsrGraph.from_edges(np.empty(0, np.int32), np.empty(0, np.int32), nodes=nodes)
    lively = _liveliness(nodes, *_FIELD, rng) * _liveliness(nodes, *_GROUP, rng)
    productive = np.minimum(rng.pareto(_PRODUCTIVITY_EXPONENT - 1, nodes) + 1, _MOST_PRODUCTIVE)
    more = productive - 1 + 1e-3  # beyond the least
    leads, travels = more**_LEADS * lively, more**_TRAVELS * lively
    leads = np.minimum(leads, _MOST_PAPERS * leads.mean())
    chosen, leads, travels = (np.cumsum(each) / each.sum() for each in (productive, leads, travels))
    drawn = [_first_papers(chosen, lively, degree, rng)]
    graph = undirected_graph(*drawn[0], nodes, wanted, rng)
    for _ in range(40):  # further papers until there are enough edges
        if graph.edges >= 2 * wanted:
            break
        edges_of_a_paper = _OTHERS * (_OTHERS + 1) / 2
        papers = int(1.05 * (wanted - graph.edges // 2) / edges_of_a_paper) + 64
        drawn.append(_further_papers(papers, chosen, leads, travels, rng))
        one, other = (np.concatenate(ends) for ends in zip(*drawn, strict=True))
        graph = undirected_graph(one, other, nodes, wanted, rng)
    return _scattered(_largest_first(graph), scattered, rng)


def _liveliness(nodes: int, length: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """A factor for each author, 1 in the mean, the same along stretches of the line of about this length."""
    stretch = np.cumsum(rng.random(nodes) < 1 / length)
    factor = np.exp(spread * rng.standard_normal(int(stretch[-1]) + 1))[stretch]
    return factor / factor.mean()


def _first_papers(chosen: np.ndarray, lively: np.ndarray, degree: float, rng: np.random.Generator) -> Ends:
    """Edges of papers of neighbours that follow one another along the line."""
    writes = np.flatnonzero(rng.random(chosen.size) >= _ALONE)
    if writes.size == 0:
        return writes.astype(np.int32), writes.astype(np.int32)
    raw = (1 + rng.pareto(_TEAM_EXPONENT - 1, writes.size)) * max(1.0, _FIRST_TEAM * degree)
    about = np.minimum(np.cumsum(raw).astype(np.int64), writes.size - 1)  # where a team will begin, more or less
    raw *= lively[writes[about]] ** _TEAM_BY_LIVELINESS
    sizes = np.clip(np.floor(raw + rng.random(raw.size)), 1, _MOST_AUTHORS).astype(np.int64)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), writes.size)) + 1]
    first = np.cumsum(sizes) - sizes
    leaders = rng.poisson(_FIRST_LEADERS, sizes.size)
    leaders[sizes + leaders < 2] += 1
    teams = []
    for size, extra in np.unique(np.stack((sizes, leaders)), axis=1).T:
        begin = first[(sizes == size) & (leaders == extra)]
        members = writes[np.minimum(begin[:, None] + np.arange(size), writes.size - 1)]
        teams.append(np.concatenate((members, _near(members[:, :1], int(extra), chosen, rng)), axis=1))
    return _edges(teams)


def _further_papers(
    papers: int, chosen: np.ndarray, leads: np.ndarray, travels: np.ndarray, rng: np.random.Generator
) -> Ends:
    """Edges of papers that productive authors lead."""
    leader = _draw(leads, rng.random(papers))
    others = 1 + rng.poisson(_OTHERS - 1, papers)
    far = rng.random(papers) < _FAR
    teams = []
    for count in np.unique(others):
        mine = others == count
        team = np.concatenate((leader[mine, None], _near(leader[mine, None], int(count), chosen, rng)), axis=1)
        team[far[mine], -1] = _draw(travels, rng.random(int(far[mine].sum())))
        teams.append(team)
    return _edges(teams)


def _near(beside: np.ndarray, count: int, chosen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Authors at some distance along the line, productive ones more often."""
    nodes, shape = chosen.size, (len(beside), count)
    width = np.minimum(np.ceil(_REACH * (rng.pareto(_REACH_EXPONENT, shape) + 1)), nodes).astype(np.int64)
    low, high = np.maximum(beside - width, 0), np.minimum(beside + width, nodes - 1)
    begin = np.where(low > 0, chosen[np.maximum(low - 1, 0)], 0.0)
    return _draw(chosen, begin + rng.random(shape) * (chosen[high] - begin))


def _draw(shares: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.minimum(np.searchsorted(shares, at), shares.size - 1)


def _edges(teams: Iterable[np.ndarray]) -> Ends:
    """All pairs of every team; the teams of an array have one size."""
    one, other = [], []
    for team in teams:
        left, right = np.triu_indices(team.shape[1], 1)
        one.append(team[:, left].ravel().astype(np.int32))
        other.append(team[:, right].ravel().astype(np.int32))
    return np.concatenate(one), np.concatenate(other)


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
