"""Units side by side: each against the plain GPU in its own style."""

from __future__ import annotations

import json

import pytest

from support.command_line import call, complaints
from warpsift.graph import load_graph
from warpsift.run.comparison import compare
from warpsift.run.request import RequestError
from warpsift.units import UnitError


def test_each_unit_has_the_baseline_of_its_own_style():
    found = compare("bfs", load_graph("kron-8"), ["none", "scu", "mff"], gpu="gtx980").as_dict()
    entries = [(e["unit"], e["style"]) for e in found["units"]]
    assert entries == [("none", "frontier"), ("none", "vertex"), ("scu", "frontier"), ("mff", "vertex")]
    for entry in found["units"]:
        assert entry["check"] == "pass"
        assert entry["gpu_seconds"] + entry["unit_seconds"] == pytest.approx(entry["seconds"])
        assert (entry["unit_seconds"] > 0) == (entry["unit"] == "scu")
        assert (entry["speedup"] == 1) == (entry["unit"] == "none")
        works_in = {"none": 0, "scu": entry["unit_seconds"], "mff": entry["measured_seconds"]}[entry["unit"]]
        assert 0 <= entry["unit_floor_seconds"] <= works_in
        assert (entry["unit_floor_seconds"] > 0) == (entry["unit"] != "none")
        assert entry["speedup_at_floor"] >= entry["speedup"] - 1e-9
        assert entry["energy_joules"] > 0


def test_flits_and_interconnect_stalls_that_a_unit_saves():
    plain, unit = compare("bfs", load_graph("kron-10"), ["none", "mff"], gpu="gtx480").as_dict()["units"]
    assert plain["flits_saved"] == 0
    assert unit["flits_saved"] == 1 - unit["flits"] / plain["flits"] > 0.3
    done = call("compare", "bfs", "--graph", "kron-8", "--gpu", "gtx480", "--units", "none,mff")
    assert "interconnect flits" in done.stdout and "interconnect stall cycles" in done.stdout


def test_the_baseline_at_the_occupancy_that_targets_leave():
    words = ("compare", "pagerank", "--graph", "kron-10", "--gpu", "gtx480", "--units", "none,mff", "--json")
    many, few = (
        json.loads(call(*words, "--max-iterations", "1", *more).stdout)["units"]
        for more in ((), ("--occupancy", "target"))
    )
    assert few[0]["measured_seconds"] != many[0]["measured_seconds"]
    assert few[1]["measured_seconds"] == many[1]["measured_seconds"]


def test_command_line_json_and_bars(tmp_path):
    words = ("compare", "sssp", "--graph", "delaunay-8", "--gpu", "tx1", "--units", "none,scu-basic,scu", "--json")
    done = call(*words, "--plot", str(tmp_path / "bars.png"))
    assert done.returncode == 0
    entries = json.loads(done.stdout)["units"]
    assert [e["unit"] for e in entries] == ["none", "scu-basic", "scu"]
    wanted = {
        "speedup", "gpu_seconds", "unit_seconds", "gpu_warp_instructions", "frontier_elements",
        "transactions_per_memory_instruction", "bandwidth_utilisation",
    }  # fmt: skip
    assert all(wanted <= set(e) for e in entries)
    assert (
        entries[2]["gpu_warp_instructions"] < entries[1]["gpu_warp_instructions"] < entries[0]["gpu_warp_instructions"]
    )
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_wrong_requests():
    graph = load_graph("grid-4x4")
    with pytest.raises(UnitError, match=r"^unknown unit 'scuu': did you mean 'scu'\? choose one of none, scu, "):
        compare("bfs", graph, ["none", "scuu"], gpu="tx1")
    with pytest.raises(RequestError, match="compare needs a GPU to time on"):
        compare("bfs", graph, ["none", "scu"])
    for words in (("run", "bfs", "--unit", "scu+scu-basic"), ("compare", "bfs", "--units", "none,scu+scu-basic")):
        done = call(*words, "--graph", "grid-4x4", "--gpu", "tx1")
        assert done.returncode == 2
        assert complaints(done.stderr) == [
            "error: unit 'scu+scu-basic': these do not combine (scu: frontier, scu-basic: frontier): one must schedule "
            "vertices and another do the compute stage of the vertex style, such as scu+mff; to see units side by "
            "side, compare --units none,scu,scu-basic"
        ]
