"""The studies around the fast-forward unit: temporal window, larger caches, ratios."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from warpsift.cli import application
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.run.execute import simulate
from warpsift.studies import cache_study, window_study
from warpsift.studies.mff import mff_measurements as fast_forward
from warpsift.units.mff import mff_floor


def test_traffic_falls_with_the_window(tmp_path):
    rows = window_study.study(load_graph("rmat-12"), windows=(1, 4, 16))
    requests = [row["requests_relative"] for row in rows]
    assert requests[0] == 1 and requests[0] > requests[1] > requests[2]
    assert rows[2]["after_l1_relative"] < 1
    window_study.plot(rows, tmp_path / "window.png")
    assert (tmp_path / "window.png").stat().st_size > 1000


def test_cache_study(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_study, "FACTORS", (1, 16))
    rows = cache_study.study(load_graph("rmat-11"))
    by_place = {(row["instead"], row["factor"]): row for row in rows}
    assert set(by_place) == {("mff", 1), ("l1", 1), ("l1", 16), ("l2", 1), ("l2", 16)}
    assert by_place["l1", 1]["speedup"] == by_place["l2", 1]["speedup"] == 1
    assert by_place["mff", 1]["share_of_mff"] == 1
    assert by_place["l1", 16]["speedup"] > 1
    cache_study.plot(rows, tmp_path / "caches.png")
    assert (tmp_path / "caches.png").stat().st_size > 1000


def test_the_price_of_a_16_times_larger_l1_is_near_the_papers():
    price = cache_study.price_of_l1()
    paper = cache_study.PAPER
    assert price["static_power"] == pytest.approx(paper["static_power"], rel=0.1)
    assert price["latency"] == pytest.approx(paper["latency"], rel=0.35)
    assert 2 < price["active_power"] < paper["active_power"]


def test_ratios_against_the_plain_gpu():
    rows = fast_forward.study([load_graph("rmat-10")], algorithms=["bfs"])
    ratios = {row["variant"]: row for row in fast_forward.compare(rows)}
    assert ratios["plain"]["speedup"] == 1
    assert ratios["mff"]["speedup"] > 1
    assert ratios["mff"]["flit_reduction"] > 0.3
    assert ratios["mff"]["energy_reduction"] > 0


def test_the_command_line_takes_several_algorithms(monkeypatch):
    monkeypatch.setattr(cache_study, "FACTORS", (1, 2))
    arguments = ["study", "caches", "--graph", "rmat-8", "--algorithms", "pagerank,bfs", "--max-iterations", "2"]
    done = CliRunner().invoke(application(), [*arguments, "--set", "mff.work_registers=64", "--json"])
    rows = json.loads(done.stdout)
    assert [(r["algorithm"], r["instead"], r["factor"]) for r in rows] == [
        (name, *place)
        for name in ("pagerank", "bfs")
        for place in (("mff", 1), ("l1", 1), ("l1", 2), ("l2", 1), ("l2", 2))
    ]


def test_the_floor_of_the_unit_is_below_what_it_takes():
    machine = load_machine("gtx480")
    counts = {"mff_words": 1200, "mff_jobs": 1, "mff_tag_searches": 600, "mff_words_sent": 0}
    counts |= {"mff_completion_messages": 0, "reply_flits_sent": 12, "request_flits_sent": 15}
    counts |= {"dram_reads": 0, "dram_writes": 0}
    assert mff_floor.bounds(machine, counts)["updates"] == 200  # 2400 updates in 12 memory units, one per clock
    assert mff_floor.floor_cycles(machine, [counts, counts | {"mff_jobs": 0}])["cycles"] == 200
    result = simulate("bfs", "rmat-12", gpu="gtx480", unit="mff")
    floor = mff_floor.floor_cycles(machine, [launch.counters for launch in result.engine.launches])
    assert 0.1 * result.timing["cycles"] < floor["cycles"] < result.timing["cycles"]


@pytest.mark.parametrize("gpu", ["gtx480", "gtx980", "tx1"])
def test_the_unit_runs_on_every_gpu(gpu):
    for algorithm in ("bfs", "sssp"):
        row = fast_forward.measure(load_graph("rmat-8"), algorithm, "mff", {"gpu": gpu}, all_phases=False)
        assert row["cycles"] > 0 and row["other_phases_cycles"] == 0
        assert row["counters"]["mff_words"] > 0
