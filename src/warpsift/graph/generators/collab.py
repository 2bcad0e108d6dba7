"""Collaboration networks: authors joined when they wrote a paper together (cond, dblp).

An affiliation model: every paper has a few authors and makes them a clique. Authors stand in a line by field; a
paper's lead is drawn by productivity (a power law), co-authors are drawn near the lead, seldom far. Hence cliques,
clustering, a power-law tail of degrees and the numbering by communities in which LAW distributes such graphs.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.trim import undirected_graph

COLLAB_DEGREE = 4.95  # of dblp-2010 (1,615,400 arcs / 326,186 nodes)
# Newman, "The structure of scientific collaboration networks", PNAS 98 (2001): papers per author and authors per
# paper fall off as power laws with a cut-off. The numbers are choices within that shape, looked at beside dblp-2010
# (docs/graphs.md has the comparison).
_PRODUCTIVITY_EXPONENT = 2.5
_MOST_PRODUCTIVE = 200.0  # the cut-off, in units of the least productive author
_AUTHORS_EXPONENT = 3.5
_MOST_AUTHORS = 24  # longer lists are rare enough to leave out, and one of 100 authors adds 9900 arcs
_FAR = 0.1  # share of co-authors from anywhere in the line: most of the network is in one piece


def collab(nodes: int, degree: float = COLLAB_DEGREE, seed: int = 1) -> CsrGraph:
    """An undirected graph of nodes * degree arcs; a few authors stay alone, as in the real ones."""
    rng = np.random.default_rng(seed)
    wanted = round(nodes * degree / 2)
    if nodes < 2 or wanted == 0:
        return CsrGraph.from_edges(np.empty(0, np.int32), np.empty(0, np.int32), nodes=nodes)
    productivity = np.minimum(rng.pareto(_PRODUCTIVITY_EXPONENT - 1, nodes) + 1, _MOST_PRODUCTIVE)
    shares = np.cumsum(productivity) / productivity.sum()
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    papers = wanted
    for _ in range(20):  # each round draws the papers that are missing; duplicates make a few rounds necessary
        drawn.append(_paper_edges(papers, shares, rng))
        one, other = (np.concatenate(ends) for ends in zip(*drawn, strict=True))
        graph = undirected_graph(one, other, nodes, wanted, rng)
        if graph.edges >= 2 * wanted:
            break
        papers = max(wanted // 8, 16)
    return graph


def _paper_edges(papers: int, shares: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the cliques of this many papers."""
    nodes = shares.size
    sizes = np.minimum(2 + np.floor(rng.pareto(_AUTHORS_EXPONENT - 1, papers) * 2), _MOST_AUTHORS).astype(np.int64)
    lead = np.minimum(np.searchsorted(shares, rng.random(papers)), nodes - 1)
    one, other = [], []
    for size in np.unique(sizes):
        leads = lead[sizes == size]
        # A co-author's distance from the lead along the line: 1 to a few, with a power-law tail.
        step = np.ceil(rng.pareto(1.0, (leads.size, size - 1)) + 0.5) * rng.choice((-1, 1), (leads.size, size - 1))
        authors = (leads[:, None] + np.clip(step, -nodes, nodes).astype(np.int64)) % nodes
        far = rng.random(authors.shape) < _FAR
        authors[far] = np.minimum(np.searchsorted(shares, rng.random(int(far.sum()))), nodes - 1)
        team = np.concatenate((leads[:, None], authors), axis=1).astype(np.int32)
        left, right = np.triu_indices(int(size), 1)
        one.append(team[:, left].ravel())
        other.append(team[:, right].ravel())
    return np.concatenate(one), np.concatenate(other)
