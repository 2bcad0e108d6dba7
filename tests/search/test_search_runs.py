"""Searches: what they try, that they can be stopped, what they leave behind, and that they beat chance."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace

import pytest

from support.command_line import call
from warpsift.machines import load_machine, machine_parameters
from warpsift.run.set_up import machine_of
from warpsift.search import search
from warpsift.search.design_file import write_designs
from warpsift.search.front_page import sentence, write_page
from warpsift.search.hypervolume import beats
from warpsift.search.search_file import SearchError, search_spec
from warpsift.search.search_run import Runs, propose_and_try
from warpsift.search.share_of_grid import Grid, drawn, searched
from warpsift.search.tried import Tried
from warpsift.sweep import SweepOptions

pytest.importorskip("optuna")
ONE = SweepOptions(workers=1, quiet=True)
TREE = {
    "search": {"designs": 6, "batch": 3},
    "common": {"gpu": "tx1", "unit": "scu"},
    "workload": [{"algorithm": "bfs", "graph": ["grid-8x8", "kron-6"]}],
    "design": {"scu": {"width": [1, 2, 4]}, "sm": {"count": [1, 2, 4]}},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("search") / "runs.db"


@pytest.fixture(scope="module")
def found(store):
    return search(search_spec(TREE), store, ONE)


def test_what_is_tried_and_what_is_best(found):
    assert len(found.tried) == 6 and len({tried.design for tried in found.tried}) == 6
    assert [tried.design for tried in found.tried][:2] == [(0, 0), (2, 2)], "smallest and largest first"
    assert found.ran == 12 == len(found.records)
    costs = {t.design: [t.costs[name] for name in ("time", "energy", "area")] for t in found.tried}
    best = {tried.design for tried in found.front}
    for design, mine in costs.items():
        assert (design in best) == (not any(beats(other, mine) for other in costs.values()))
    assert found.tried[0].costs["area"] < found.tried[1].costs["area"]


def test_costs_are_geometric_means_over_workloads(found):
    spec, first = found.spec, found.tried[0]
    by_asked = {(r.request["algorithm"], r.graph["name"], str(r.request["overrides"])): r for r in found.records}
    runs = [by_asked[q.algorithm, q.graph, str(dict(q.overrides))] for q in spec.requests(first.design)]
    product = runs[0].result["seconds"] * runs[1].result["seconds"]
    assert first.costs["time"] == pytest.approx(product**0.5)


def test_a_stopped_search_goes_on_where_it_was(found, store):
    again = search(search_spec(TREE), store, ONE)
    assert again.ran == 0 and again.tried == found.tried
    more = search(replace(search_spec(TREE), designs=8), store, ONE)
    assert more.tried[:6] == found.tried and 0 < more.ran <= 4


def test_every_design_is_tried_once_and_then_there_are_no_more(store):
    everything = search(replace(search_spec(TREE), designs=50), store, ONE)
    assert len(everything.tried) == 9 == len({tried.design for tried in everything.tried})


def test_bounds(store):
    everything = search(replace(search_spec(TREE), designs=9), store, ONE)
    areas = {tried.choices["scu.width"]: tried.costs["area"] for tried in everything.tried}
    assert areas[1] < areas[2] < areas[4]
    spec = search_spec({**TREE, "constraints": {"area": areas[2]}})
    held = search(replace(spec, designs=9), store, ONE)
    assert len(held.tried) == 6
    assert {t.choices["scu.width"] for t in held.tried} == {1, 2}, "what breaks the bound on area is never run"
    least = min(t.costs["energy"] for t in held.tried)
    tight = search(replace(search_spec({**TREE, "constraints": {"energy": 1.1 * least}}), designs=9), store, ONE)
    assert any(not t.allowed for t in tight.tried)
    assert all(t.costs["energy"] <= 1.1 * least for t in tight.front) and tight.front
    with pytest.raises(SearchError, match="no design can be built within the constraints"):
        search(search_spec({**TREE, "constraints": {"area": 0.001}}), store, ONE)


def test_impossible_machines_are_left_out(store):
    spec = search_spec({**TREE, "design": {"noc": {"unit_ports": [1, 2]}, "scu": {"width": [1, 2]}}})
    tried = search(replace(spec, designs=9), store, ONE).tried
    assert {t.choices["noc.unit_ports"] for t in tried} == {2}


def test_found_designs_are_machine_files(found, tmp_path):
    written = write_designs(found, tmp_path / "designs", "warpsift search find.toml")
    assert len(written) == len(found.front)
    for path, tried in zip(written, found.front, strict=True):
        mine, theirs = (
            machine_parameters(machine)
            for machine in (load_machine(str(path)), machine_of(found.spec.requests(tried.design)[0]))
        )
        assert {k: v for k, v in mine.items() if k not in ("name", "prices")} == {
            k: v for k, v in theirs.items() if k not in ("name", "prices")
        }
        assert "# Found by: warpsift search find.toml" in path.read_text()


def test_the_page_needs_no_network(found, tmp_path):
    page = write_page(found, tmp_path / "front.html", "warpsift search find.toml").read_text()
    assert sentence(found) in page and "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    assert "energy against area" in page and "warpsift run bfs" in page
    assert "sm.count does not change it" in page


def test_command_line(store, tmp_path):
    text = (
        '[search]\ndesigns = 6\nbatch = 3\n[common]\ngpu = "tx1"\nunit = "scu"\n[[workload]]\nalgorithm = "bfs"\n'
        'graph = ["grid-8x8", "kron-6"]\n[design]\nscu.width = [1, 2, 4]\nsm.count = [1, 2, 4]\n'
    )
    (tmp_path / "find.toml").write_text(text)
    words = ["search", str(tmp_path / "find.toml"), "--store", str(store), "--workers", "1"]
    shown = call(*words, "--csv", str(tmp_path / "t.csv"), "--write", str(tmp_path / "d")).stdout
    assert "6 of 9 designs tried" in shown and "mm2" in shown and (tmp_path / "d" / "design-01.toml").exists()
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 7
    data = json.loads(call(*words, "--json").stdout)
    assert data["new_runs"] == 0 and len(data["tried"]) == 6 and data["designs_in_all"] == 9


def valley(design):
    """Costs of a made-up space: time falls with each size, area rises, energy has a valley."""
    a, b, c = design
    time = 1 / (1 + a) + 1 / (1 + b) + 0.3 / (1 + c)
    return {"time": time, "energy": time * (1 + 0.1 * a + 0.05 * b * c), "area": 1 + a * a + b + 2 * c}


@pytest.fixture(scope="module")
def grid():
    sizes = {
        "scu.width": [1, 2, 4, 8, 16],
        "scu.inflight_requests": [1, 2, 4, 8, 16, 32, 64, 128],
        "sm.count": [*range(1, 9)],
    }
    spec = search_spec({**TREE, "design": sizes})
    return Grid(spec, {d: Tried(d, spec.choices(d), valley(d), {}) for d in spec.grid()})


def test_a_tenth_of_a_grid_beats_chance(grid):
    """Medians over five seeds, in a space whose costs are known: 32 of 320 designs."""
    both = [
        statistics.median(grid.shares(choose(grid, seed, 32))[1] for seed in range(1, 6))
        for choose in (searched, drawn)
    ]
    assert both[0] > both[1]
    assert grid.shares(list(grid.tried)) == (pytest.approx(1.0), pytest.approx(1.0))


def test_the_same_seed_goes_the_same_way(grid):
    assert searched(grid, 3, 20) == searched(grid, 3, 20) != searched(grid, 4, 20)


def test_a_run_that_fails_ends_no_search(store):
    """A design without costs is not proposed again, and the rest goes on."""

    def evaluate(batch):
        return [
            Tried(d, {}, {}, {}, "failed") if d == (0, 0) else Tried(d, {}, {"time": 1.0 + sum(d)}, {}) for d in batch
        ]

    spec = search_spec({**TREE, "search": {"objectives": ["time"], "designs": 9}})
    tried = propose_and_try(spec, evaluate)
    assert len(tried) == 9 and [t.design for t in tried if t.problem] == [(0, 0)]


def test_an_objective_that_is_no_column_is_refused(store):
    with (
        Runs(search_spec({**TREE, "search": {"objectives": ["cylces"]}}), store, ONE) as runs,
        pytest.raises(Exception, match=r"cylces.*did you mean"),
    ):
        runs.evaluate([(0, 0)])
