"""A web crawl of sites: menus make hubs, directories make clusters, URLs make locality (cnr-2000).

Pages are numbered by URL, so a site is a stretch of numbers and a directory a stretch of that. Every page links to the
pages of its site's menu (the first ones), to the same few pages of its directory as its neighbours do, and to pages
near it. Menu pages lead to the directories, and the first page of a directory lists all its pages. Menus of large sites
are the hubs, and since menu pages link to the menu too, neighbours of a page are neighbours of each other. Some pages
have no links: they were seen, not fetched. Few links lead to the front page of another site.

The numbers are choices, looked at beside cnr-2000 (`warpsift study stand-ins`, docs/graphs.md): its hubs, its degrees'
extremes, its clustering, its lines per warp.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph
from warpsift.graph.generators.trim import directed_graph

SITES_DEGREE = 9.88  # of cnr-2000 (3,216,152 arcs / 325,557 nodes)
_UNFETCHED = 0.24  # share of pages without links, as in cnr-2000
_SITE_EXPONENT = 0.9  # of site sizes; the largest is bounded
_LEAST_SITE = 24
_LARGEST_SITE = 0.07  # of all pages: cnr-2000's most linked page has 5.6 % of them as sources
_MENU = 9
_IN_MENU = 0.85  # share of a site's pages that have an entry of the menu
_DIRECTORY = 30.0  # mean pages
_LARGE_DIRECTORY = 0.004  # share of directories that are 25 times as large: listings with thousands of links
_SHARED = 4  # pages of a directory that all its pages link to
_NEAR = 22.0  # mean distance of a page's own links
_ELSEWHERE = 0.01  # links to other sites, of a page's own


def sites(nodes: int, degree: float = SITES_DEGREE, seed: int = 1) -> CsrGraph:
    """A directed graph of about nodes * degree arcs."""
    rng = np.random.default_rng(seed)
    wanted = min(round(nodes * degree), nodes * (nodes - 1))
    if wanted <= 0 or nodes < 2:
        return CsrGraph.from_edges(np.empty(0, np.int32), np.empty(0, np.int32), nodes=nodes)
    site, site_first = _stretches(_site_sizes(nodes, rng), nodes)
    directory_first = _stretches(_directory_sizes(nodes, rng), nodes)[1]
    directory_first = np.maximum(directory_first, site_first)  # a directory lies in one site
    fetched = rng.random(nodes) >= _UNFETCHED
    fetched[site_first] = fetched[directory_first] = True
    pages = np.arange(nodes, dtype=np.int64)
    fixed = [(directory_first, pages)]  # the listing
    starts = np.flatnonzero(directory_first == pages)  # a menu page leads to every directory: no page is far
    fixed.append((np.minimum(site_first[starts] + np.arange(starts.size) % _MENU, starts), starts))
    fixed += [_chosen(pages, site_first + k, fetched, _IN_MENU, rng) for k in range(_MENU)]
    fixed += [_chosen(pages, directory_first + k, fetched, 0.9, rng) for k in range(_SHARED)]
    sources, targets = (np.concatenate(ends) for ends in zip(*fixed, strict=True))
    same = site[np.minimum(targets, nodes - 1)] == site[sources]
    sources, targets = sources[same & (targets < nodes)], targets[same & (targets < nodes)]
    missing = wanted
    for _ in range(12):  # own links until there are enough arcs
        graph = directed_graph(sources.astype(np.int32), targets.astype(np.int32), nodes, wanted, rng)
        missing = wanted - graph.edges
        if missing <= 0:
            break
        own = _own_links(round(1.3 * missing) + 16, np.flatnonzero(fetched), site_first, rng)
        sources, targets = np.append(sources, own[0]), np.append(targets, own[1])
    return graph


def _site_sizes(nodes: int, rng: np.random.Generator) -> np.ndarray:
    most = max(_LEAST_SITE, _LARGEST_SITE * nodes)
    draws = max(16, int(4 * nodes / _LEAST_SITE))
    return np.minimum((1 + rng.pareto(_SITE_EXPONENT, draws)) * _LEAST_SITE, most).astype(np.int64)


def _directory_sizes(nodes: int, rng: np.random.Generator) -> np.ndarray:
    draws = max(16, int(4 * nodes / _DIRECTORY))
    sizes = rng.geometric(1 / _DIRECTORY, draws)
    return np.where(rng.random(draws) < _LARGE_DIRECTORY, 25 * sizes, sizes)


def _stretches(sizes: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The stretch that each page lies in, and the stretch's first page."""
    ends = np.cumsum(sizes)
    which = np.searchsorted(ends, np.arange(nodes), side="right")
    first = np.append(0, ends)[which]
    return which, first


def _chosen(
    pages: np.ndarray, targets: np.ndarray, fetched: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Links of a share of the fetched pages."""
    kept = fetched & (rng.random(pages.size) < share)
    return pages[kept], targets[kept]


def _own_links(
    count: int, fetched: np.ndarray, site_first: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Links that a page has alone: to pages near it, seldom to the front page of another site."""
    nodes = site_first.size
    sources = fetched[rng.integers(0, fetched.size, count)]
    distance = np.ceil(rng.exponential(_NEAR, count)).astype(np.int64) * rng.choice((-1, 1), count)
    targets = np.abs((nodes - 1) - np.abs((nodes - 1) - (sources + distance))) % nodes
    leave = rng.random(count) < _ELSEWHERE
    targets[leave] = site_first[rng.integers(0, nodes, int(leave.sum()))]
    return sources, targets
