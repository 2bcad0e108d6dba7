"""Search files: what they mean, and what is said of those that cannot be used."""

import pytest

from support.places import ROOT
from warpsift.search.search_file import SearchError, read_search, search_spec

GOOD = {
    "common": {"gpu": "gtx980", "unit": "scu"},
    "workload": [{"algorithm": ["bfs", "sssp"], "graph": "kron-8"}],
    "design": {"scu": {"width": [1, 2, 4]}, "sm": {"count": {"from": 4, "to": 16, "step": 4}}},
}


def test_a_design_is_a_machine_for_every_workload():
    spec = search_spec(GOOD)
    assert [axis.name for axis in spec.axes] == ["scu.width", "sm.count"] and spec.size == 12
    assert spec.choices((1, 3)) == {"scu.width": 2, "sm.count": 16}
    requests = spec.requests((1, 3))
    assert [r.algorithm for r in requests] == ["bfs", "sssp"]
    assert all(r.overrides == {"scu.width": 2, "sm.count": 16} and r.unit == "scu" for r in requests)
    assert len(set(spec.grid())) == 12


def test_ranges():
    def values(said):
        (axis,) = search_spec({**GOOD, "design": {"l2.size_bytes": said}}).axes
        return [value["l2.size_bytes"] for value in axis.values]

    assert values({"from": 524288, "to": 2097152, "times": 2}) == [524288, 1048576, 2097152]
    assert values({"from": 524288, "to": 2000000, "times": 2}) == [524288, 1048576]
    with pytest.raises(SearchError, match=r"l2.size_bytes: write \{ from = 4, to = 32, step = 4 \}"):
        values({"from": 1, "to": 8})
    with pytest.raises(SearchError, match="times = 'x' is not a number"):
        values({"from": 1, "to": 8, "times": "x"})
    with pytest.raises(SearchError, match="unknown key of the range"):
        values({"from": 1, "to": 8, "by": 2})


def test_keys_that_change_together_are_no_ordered_axis():
    both = [{"unit": "scu", "scu.width": 2}, {"unit": "scu-basic"}]
    spec = search_spec({**GOOD, "common": {"gpu": "gtx980"}, "design": {"system": both, "sm.count": [4, 8]}})
    assert [axis.ordered for axis in spec.axes] == [False, True]
    assert [r.unit for r in spec.requests((1, 0))] == ["scu-basic"] * 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"design": {}}, "nothing to choose"),
        ({"workload": []}, "no workload"),
        ({"workload": [{"algorithm": "bfs"}]}, "every point needs 'graph'"),
        ({"common": {"unit": "scu"}}, "no gpu"),
        ({"desgin": {}}, "unknown section 'desgin': did you mean 'design'"),
        ({"search": {"designs": 0}}, "designs = 0: write a whole number above 0"),
        ({"search": {"goal": 1}}, "unknown key of .search. 'goal'"),
        ({"search": {"objectives": ["time", "time"]}}, "a name twice"),
        ({"constraints": {"area": "small"}}, "constraint area = 'small': write a number"),
        ({"design": {"scu.widht": [1, 2]}}, "unknown machine parameter 'scu.widht'"),
        ({"design": {"scu.width": 4}}, "scu.width = 4: write a list"),
        ({"design": {"a": [1, {"unit": "scu"}]}}, "mixes tables and values"),
    ],
)
def test_refusals(changes, words):
    with pytest.raises(Exception, match=words):
        search_spec({**GOOD, **changes})


def test_files(tmp_path):
    with pytest.raises(SearchError, match="no such file"):
        read_search(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[search\n")
    with pytest.raises(SearchError, match=r"bad.toml: "):
        read_search(tmp_path / "bad.toml")
    shipped = read_search(ROOT / "examples" / "search_scu.toml")
    assert shipped.size == 320 and shipped.designs <= 0.1 * shipped.size
