"""The papers' real graphs: found in the user's data folder by name, else a stand-in that says where to get them."""

import os

import pytest

from warpsift.graph import list_graphs, load_graph
from warpsift.graph.presets import presets
from warpsift.graph.real_files import DATA_DIR, find_real, how_to_get

# Three nodes in place of cond-mat-2005.
TINY = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "newman").mkdir()
    (tmp_path / "newman" / "cond-mat-2005.mtx").write_text(TINY)
    (tmp_path / "cond-mat-2005.md5sums").write_text("no graph")
    monkeypatch.setenv(DATA_DIR, os.pathsep.join(["/nowhere", str(tmp_path)]))
    return tmp_path


def test_a_whole_preset_is_the_real_graph_where_its_file_is_found(folder):
    graph = load_graph("cond")
    assert (graph.name, graph.nodes, graph.edges, graph.stand_in_for) == ("cond", 3, 4, None)
    assert graph.provenance["path"] == str(folder / "newman" / "cond-mat-2005.mtx")


@pytest.mark.parametrize("name", ["cond@1/32", "cond@1/64"])
def test_parts_are_generated(folder, name):
    assert "cond-mat-2005" in load_graph(name).stand_in_for


def test_the_stand_in_at_full_size_can_be_had(folder):
    assert load_graph("cond@1").nodes == presets()["cond"].nodes


def test_without_its_file_a_preset_is_a_stand_in(monkeypatch):
    monkeypatch.delenv(DATA_DIR, raising=False)
    assert find_real("cond") is None
    assert load_graph("cond").stand_in_for


def test_graphs_of_other_names_have_no_file(folder):
    assert find_real("kron-14") is None and find_real("ca") is None and how_to_get("kron-14") == ""


def test_the_list_says_which_is_which(folder):
    rows = {row["name"]: row for row in list_graphs()}
    assert rows["cond"]["stand_in_for"] is None and rows["cond"]["real_graph"].endswith("cond-mat-2005.mtx")
    assert rows["ca"]["stand_in_for"] and rows["ca"]["real_graph"].startswith("https://")


def test_a_stand_in_says_where_the_real_one_is():
    expected = "get dblp-2010 from https://law.di.unimi.it/webdata/dblp-2010/ and set WARPSIFT_DATA_DIR to its folder"
    assert expected in how_to_get("dblp-2010@1/8")
