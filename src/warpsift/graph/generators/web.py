"""Web and link graphs by the copying model: locality and a power law of in-degrees (cnr, amazon, dewiki).

Kumar et al., "Stochastic models for the web graph", FOCS 2000: pages copy links instead of inventing them. A link of
a page is one of three: copied from a page just before it (pages are numbered by URL, so neighbours belong to one
site and have similar lists, which WebGraph's references exploit: Boldi, Vigna, WWW 2004); or copied from any earlier
link of the whole web, which makes popular pages more popular; or new, to a page of the same site, seldom to any page
(in Kumar's model every new link does). Copies of copies are resolved for all links at once by pointer jumping.

The few links to any page make the small world: copies from earlier links lead back to early pages only, so without
them a search would creep from site to site through the later ones (3,042 levels on amazon-2008 instead of 22 to 24).
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.trim import directed_graph

WEB_DEGREE = 9.88  # of cnr-2000 (3,216,152 arcs / 325,557 nodes)

# Shares of links; what is left is new. They are choices, made by looking at the in-degrees that come out: these fall
# with an exponent of about 3.6 over the upper 1 % (Hill's estimator, web-50000-10). That is a lighter tail than the
# web's own 2.1 (Broder et al., "Graph structure in the web", WWW 2000); more far copies would cost locality.
NEAR_COPIES = 0.5
FAR_COPIES = 0.28
# Share of new links that lead to any page. A choice, made by looking at distances: docs/graphs.md has what comes out.
ELSEWHERE = 0.001
_OUT_EXPONENT = 2.72  # of out-degrees, Broder et al.
_PROTOTYPE_PAGES = 4.0  # mean distance back to the page copied from: BV's window of 7 reaches most
_SITE_PAGES = 64.0  # mean pages of a site and mean distance of a new link: some tens


def web(
    nodes: int,
    degree: float = WEB_DEGREE,
    seed: int = 1,
    most_links: int | None = None,
    far_copies: float = FAR_COPIES,
    elsewhere: float = ELSEWHERE,
) -> CsrGraph:
    """A directed graph of about nodes * degree arcs; `most_links` bounds the links of a page."""
    rng = np.random.default_rng(seed)
    wanted = min(round(nodes * degree), nodes * (nodes - 1))
    if wanted <= 0:
        return CsrGraph.from_edges(np.empty(0, np.int32), np.empty(0, np.int32), nodes=nodes)
    most = nodes - 1 if most_links is None else most_links
    surplus = 1.15
    for _ in range(8):  # links that coincide are lost: draw more until enough are left
        out = _out_degrees(nodes, degree * surplus, most, rng)
        sources, targets = _links(out, far_copies, elsewhere, rng)
        graph = directed_graph(sources, targets, nodes, wanted, rng)
        if graph.edges >= wanted:
            break
        surplus *= 1.05 * wanted / max(graph.edges, 1)
    return graph


def _out_degrees(nodes: int, degree: float, most: int, rng: np.random.Generator) -> np.ndarray:
    """Power-law degrees of this mean, none above `most`; the pages of a site have similar ones (a template)."""
    pages = rng.geometric(1 / _SITE_PAGES, 2 + int(3 * nodes / _SITE_PAGES))
    site = np.searchsorted(np.cumsum(pages), np.arange(nodes), side="right")
    level = rng.pareto(_OUT_EXPONENT - 1, pages.size + 1) + 0.2  # poor sites still have a fifth of the mean or so
    raw = level[site] * rng.uniform(0.5, 1.5, nodes)
    raw *= degree / raw.mean()
    for _ in range(8):  # what the bound cuts off is spread over the others
        raw = np.minimum(raw * (degree / np.minimum(raw, most).mean()), most)
    return np.minimum(np.floor(raw + rng.random(nodes)), most).astype(np.int64)


def _links(
    out: np.ndarray, far_copies: float, elsewhere: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    nodes, links = out.size, int(out.sum())
    index = np.int32 if links < 2**31 else np.int64
    first = (np.cumsum(out) - out).astype(index)
    sources = np.repeat(np.arange(nodes, dtype=np.int32), out)
    origin = np.arange(links, dtype=index)
    kind = rng.random(links, dtype=np.float32)
    back = np.ceil(rng.exponential(_PROTOTYPE_PAGES, nodes)).astype(np.int32)
    prototype = np.arange(nodes, dtype=np.int32) - back
    near = np.flatnonzero(kind < NEAR_COPIES)
    page = prototype[sources[near]]
    position = origin[near] - first[sources[near]]
    has_it = (page >= 0) & (position < out[np.maximum(page, 0)])  # a shorter list has nothing at this position
    origin[near[has_it]] = first[page[has_it]] + position[has_it]
    del near, page, position, has_it
    far = np.flatnonzero((kind >= NEAR_COPIES) & (kind < NEAR_COPIES + far_copies))
    origin[far] = (rng.random(far.size) * far).astype(index)  # any earlier link
    del far, kind
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    return sources, _new_targets(sources, nodes, elsewhere, rng)[origin]


def _new_targets(sources: np.ndarray, nodes: int, elsewhere: float, rng: np.random.Generator) -> np.ndarray:
    """A target for every link, as if none were copied: in the same site (sites end at the ends of the numbering)
    or, for the share `elsewhere`, any page."""
    distance = rng.standard_exponential(sources.size, dtype=np.float32)
    distance *= np.float32(_SITE_PAGES)
    distance[rng.random(sources.size, dtype=np.float32) < 0.5] *= -1
    targets = sources + np.rint(distance).astype(np.int32)
    targets = np.abs((nodes - 1) - np.abs((nodes - 1) - targets)) % nodes
    leave = np.flatnonzero(rng.random(sources.size, dtype=np.float32) < elsewhere)
    targets[leave] = rng.integers(0, nodes, leave.size, dtype=np.int32)
    return targets
