"""Figures by which a stand-in is held against its original, on graphs whose figures are known; and the stand-ins'."""

import networkx
import numpy as np
import pytest

from warpsift.graph import CsrGraph, load_graph
from warpsift.graph.likeness import clustering, degree_spread, far_share, likeness, lines_per_warp, longest_per_warp


def test_clustering_is_networkxs():
    known = networkx.connected_watts_strogatz_graph(200, 6, 0.1, seed=1)
    assert clustering(CsrGraph.from_networkx(known)) == pytest.approx(networkx.average_clustering(known))
    assert clustering(load_graph("grid-9x9")) == 0


def test_lines_per_warp_counts_what_32_arcs_lead_to():
    same = CsrGraph.from_edges(list(range(1, 33)), [0] * 32, nodes=2000)
    assert lines_per_warp(same) == 1
    apart = CsrGraph.from_edges([0] * 32, [32 * k + 1 for k in range(32)], nodes=2000)
    assert lines_per_warp(apart) == 32


def test_longest_per_warp_is_the_mean_of_the_longest_lists():
    lists = CsrGraph.from_edges([0, 0, 0, 5, 40, 40], [1, 2, 3, 1, 2, 3], nodes=64)
    assert longest_per_warp(lists) == (3 + 2) / 2


def test_far_arcs_are_counted_by_the_length_of_their_list():
    lists = CsrGraph.from_edges([0, 0, 5, 5, 5], [1001, 1, 4, 6, 1500], nodes=2000)
    assert far_share(lists, 2, 2) == 1 / 2
    assert far_share(lists, 3, 9) == 1 / 3
    assert far_share(lists, 7, 9) == 0


def test_degree_spread_is_of_512_nodes_in_a_row():
    halves = CsrGraph.from_edges(list(range(512)) * 3 + list(range(512, 1024)), [1500] * 2048, nodes=1024 + 512)
    assert degree_spread(halves) == pytest.approx(np.std([3, 1, 0]) / np.mean([3, 1, 0]))


def test_an_empty_graph_has_figures_too():
    assert likeness(CsrGraph.from_edges([], [], nodes=0))["clustering"] == 0


# Of the originals, by `warpsift study stand-ins`: within these bounds at an eighth of the size too.
@pytest.mark.parametrize(
    ("name", "hubs", "clusters"),
    [
        ("cnr-2000@1/8", (0.35, 0.75), (0.5, 0.8)),
        ("dblp-2010@1/8", (0.07, 0.2), (0.55, 0.85)),
        ("cond", (0.07, 0.2), (0.6, 0.85)),
    ],
)
def test_stand_ins_have_the_hubs_and_clusters_of_their_originals(name, hubs, clusters, monkeypatch):
    monkeypatch.delenv("WARPSIFT_DATA_DIR", raising=False)
    found = likeness(load_graph(name))
    assert hubs[0] < found["arcs to the top 1 %"] < hubs[1]
    assert clusters[0] < found["clustering"] < clusters[1]
