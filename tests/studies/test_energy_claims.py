"""The papers' energy figures from stored runs: three ways to count waiting SMs, and ceilings that hold for any unit."""

from __future__ import annotations

import json

import pytest

from support.command_line import call
from warpsift.costs.ceilings import least_joules
from warpsift.costs.coefficients import gpu_table
from warpsift.costs.energy import GPU_IDLE, RETENTION
from warpsift.store.store import Store
from warpsift.studies.energy_claims import FIGURES, Savings, energy_figures, verdict, write_energy_csv
from warpsift.studies.mff import mff_claims
from warpsift.studies.scu import scu_claims
from warpsift.studies.stored_runs import StoredRuns
from warpsift.sweep import SweepOptions, run_sweep

SMALL_SCU, SMALL_MFF = "cond@1/32", "dblp-2010@1/32"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two readings of BFS with the SCU on one GPU, and of the MFF's PageRank, on small graphs."""
    path = tmp_path_factory.mktemp("claims") / "claims.db"
    wanted = []
    for reading in ("authors", "hardware"):
        empty = StoredRuns([], reading)
        wanted += scu_claims.pair(empty, "bfs", "tx1", "scu")(SMALL_SCU, 1)
        wanted += mff_claims.pair(empty, "pagerank")(SMALL_MFF, 1)
    run_sweep(wanted, path, SweepOptions(workers=1, quiet=True))
    return path


def runs_of(store, reading):
    with Store(store, readonly=True) as ledger:
        return StoredRuns(ledger.records(("done",)), reading)


def of(store, name, reading="hardware"):
    return next(figure for figure in FIGURES if figure.name == name).measure(runs_of(store, reading))


@pytest.mark.parametrize("reading", ["authors", "hardware"])
def test_three_ways_to_count_waiting_sms(store, reading):
    runs = runs_of(store, reading)
    plain, unit = (runs.record(r).result for r in scu_claims.pair(runs, "bfs", "tx1", "scu")(SMALL_SCU, 1))
    found = of(store, "bfs, tx1", reading)
    assert found.speedup == pytest.approx(plain["seconds"] / unit["seconds"])
    for mode in GPU_IDLE:
        assert found.saved[mode] == pytest.approx(plain["energy_joules"] / unit["energy_by_gpu_idle"][mode], rel=1e-3)
    assert found.saved["none"] < found.saved["clock_gate"] < found.saved["power_gate"]
    assert found.static_share == pytest.approx(plain["static_joules"] / plain["energy_joules"], rel=1e-3)
    events = [run["energy_joules"] - run["static_joules"] for run in (plain, unit)]
    assert found.events == pytest.approx(events[0] / events[1], rel=1e-3)


def test_a_gpu_that_waits_takes_what_its_table_says():
    prices = {name: price.value for name, price in gpu_table("gtx980").coefficients.items()}
    rest = sum(prices[name] for name in ("board", "l2_leakage", "uncore_leakage", "memory_interface"))
    rest += 8 * prices["dram_background_power_down"]
    sms = {
        "none": prices["sm_leakage"] + prices["sm_idle"],
        "clock_gate": prices["sm_leakage"],
        "power_gate": RETENTION * prices["sm_leakage"],
    }
    for mode in GPU_IDLE:
        assert least_joules(gpu_table("gtx980"), 2.0, None, mode) == pytest.approx(2 * (rest + sms[mode]))


def test_no_run_takes_less_than_a_gpu_that_waits(store):
    """So no saving of ours passes the ceiling at our own speedup, whatever the unit."""
    for name in ("bfs, tx1", "pagerank"):
        found = of(store, name)
        paper = next(figure for figure in FIGURES if figure.name == name)
        for mode in GPU_IDLE:
            assert found.saved[mode] < found.ceiling[mode] * found.speedup / paper.speedup


def test_no_sm_waits_for_the_mff(store):
    found = of(store, "pagerank")
    assert len(set(found.saved.values())) == 1
    runs = runs_of(store, "hardware")
    plain, unit = (runs.record(r).result for r in mff_claims.pair(runs, "pagerank")(SMALL_MFF, 1))
    compute = [sum(p["energy_joules"] for p in run["phases"] if p["phase"] == "compute") for run in (plain, unit)]
    assert found.saved["none"] == pytest.approx(compute[0] / compute[1], rel=1e-6)
    assert found.saved["none"] != pytest.approx(plain["energy_joules"] / unit["energy_joules"], rel=1e-3)


def test_power_by_part_is_the_compute_stage(store):
    """Vertex scheduling, which the MFF paper does not measure, has other powers."""
    runs = runs_of(store, "hardware")
    wanted = mff_claims.pair(runs, "pagerank")
    _, [(plain, unit)] = runs.pairs("dblp-2010", wanted)
    watts = []
    for run in (plain, unit):
        phases = [phase for phase in run["phases"] if phase["phase"] == "compute"]
        joules = sum(value for p in phases for part, value in p["energy_by_component"].items() if part == "noc")
        watts.append(joules / sum(p["seconds"] for p in phases))
    assert mff_claims.power("noc", runs).value == pytest.approx(watts[1] / watts[0])
    whole = [run["energy_by_component"]["noc"] / run["seconds"] for run in (plain, unit)]
    assert mff_claims.power("noc", runs).value != pytest.approx(whole[1] / whole[0], rel=1e-3)


def test_averages_need_all_their_parts(store):
    assert of(store, "average, tx1") is None and of(store, "bfs, gtx980") is None
    assert of(store, "all four").saved["none"] == pytest.approx(of(store, "pagerank").saved["none"])


def test_what_the_paper_needs_is_arithmetic():
    bfs = next(figure for figure in FIGURES if figure.name == "bfs, gtx980")
    assert (bfs.stated, bfs.speedup) == (12.3, 1.41)
    board = Savings(1.0, dict.fromkeys(GPU_IDLE, 1.0), dict.fromkeys(GPU_IDLE, 12.2), 0.9, 1.0, ("cond",))
    assert bfs.possible(board) is False and bfs.near(board) is False
    other = Savings(1.0, dict.fromkeys(GPU_IDLE, 9.3), dict.fromkeys(GPU_IDLE, 12.4), 0.1, 9.3, ("cond",))
    assert bfs.possible(other) is True and bfs.near(other) is True


def test_command_line_and_files(store, tmp_path):
    shown = call("claims", "--energy", "--store", str(store), "--csv", str(tmp_path / "e.csv")).stdout
    assert "savings lie within 25 % of the paper's" in shown and "idle / clock-gated / power-gated" in shown
    page = tmp_path / "page.md"
    page.write_text("<!-- energy claims -->\nold\n<!-- /energy claims -->\n")
    call("claims", "--energy", "--store", str(store), "--page", str(page))
    assert "old" not in page.read_text() and page.read_text().count("\n| ") == len(FIGURES) + 1
    found = energy_figures([runs_of(store, name) for name in ("authors", "hardware")], ("scu", "mff"))
    lines = (tmp_path / "e.csv").read_text().splitlines()
    assert lines[0] == f"# {verdict(found)}" and len(lines) == len(FIGURES) + 2
    write_energy_csv(tmp_path / "again.csv", found)
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "e.csv").read_text()
    data = json.loads(call("claims", "--energy", "--paper", "scu", "--store", str(store), "--json").stdout)
    bfs = next(row for row in data["figures"] if row["figure"] == "bfs, tx1")
    assert bfs["static at most"] == pytest.approx(3.83 / 5.35) and set(bfs["authors"]["saved"]) == set(GPU_IDLE)
    assert all(row["paper"] == "scu" for row in data["figures"])
