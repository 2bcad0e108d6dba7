"""Units on a GPU of today: areas at its process, speeds over the best software."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from support.command_line import call, complaints
from warpsift.costs.scaling import AREA
from warpsift.errors import WarpsiftError
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.studies import modern_gpu
from warpsift.studies.which_unit_map import Cell
from warpsift.units import unit_named


def test_areas_are_scaled_to_the_gpus_process():
    system = next(s for s in modern_gpu.systems("bfs") if s.name == "SCU")
    at_32 = unit_named("scu").area(load_machine("a100")).total_mm2
    assert modern_gpu.area_mm2("a100", system) == pytest.approx(at_32 * AREA[7] / AREA[32])
    wide = next(s for s in modern_gpu.systems("bfs") if s.name == "SCU, 16 wide")
    assert modern_gpu.area_mm2("a100", wide) > 3 * modern_gpu.area_mm2("a100", system)
    assert modern_gpu.area_mm2("a100", next(modern_gpu.systems("bfs"))) == 0


def test_speeds_are_over_the_best_software(monkeypatch):
    seconds = {"frontier": 4.0, "vertex": 2.0, "direction": 3.0}

    def simulate(name, graph, **choices):
        return SimpleNamespace(timing={"seconds": seconds.get(choices.get("style"), 1.0)})

    monkeypatch.setattr(modern_gpu, "simulate", simulate)
    rows = {row["system"]: row for row in modern_gpu.study(load_graph("grid-4x4"), ["bfs"], "a100")}
    assert rows["plain, vertex"]["speedup"] == 1 and rows["plain, frontier"]["speedup"] == 0.5
    assert rows["MFF"]["speedup"] == 2 and rows["MFF"]["die_percent"] == pytest.approx(rows["MFF"]["mm2"] / 8.26)


def test_a_gpu_without_a_known_die_is_refused():
    with pytest.raises(WarpsiftError, match="the die of 'tx1' is not known here; write one of a100, v100, gtx980"):
        modern_gpu.study(load_graph("grid-4x4"), ["bfs"], "tx1")


def test_stored_runs_of_many_graphs_are_summed_up():
    cells = [
        Cell("a100", "bfs", "kron", {"frontier": 4.0, "vertex": 2.0, "MFF": 1.0}),
        Cell("a100", "bfs", "ca", {"frontier": 4.0, "vertex": 8.0, "MFF": 8.0, "SCU": 16.0}),
        Cell("gtx980", "bfs", "ca", {"frontier": 4.0, "MFF": 1.0}),
    ]
    rows = {row["system"]: row for row in modern_gpu.over_graphs(cells, "a100")}
    assert (rows["MFF"]["median"], rows["MFF"]["ahead"]) == (1.25, 1) and (
        rows["MFF"]["least"],
        rows["MFF"]["most"],
    ) == (0.5, 2.0)
    assert (rows["SCU"]["graphs"], rows["SCU"]["ahead"], rows["SCU"]["median"]) == (1, 0, 0.25)
    assert rows["plain, best style"]["mm2"] == 0 and 0 < rows["MFF"]["die_percent"] < 1


def test_a_graph_or_a_store():
    done = call("study", "modern")
    assert done.returncode == 2 and "write either --graph GRAPH" in " ".join(complaints(done.stderr))
