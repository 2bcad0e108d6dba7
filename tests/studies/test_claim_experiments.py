"""Missed claims with one choice changed: the numbers, and that the example sweeps make every run they need."""

from __future__ import annotations

import csv
import json
from importlib import import_module
from pathlib import Path

import pytest

from support.command_line import call
from warpsift.store.store import Store
from warpsift.studies import claim_experiments as module
from warpsift.studies.claim_experiments import (
    EXPERIMENTS,
    READING,
    Experiment,
    Repricing,
    Side,
    outcomes,
    write_experiments,
)
from warpsift.studies.claims_table import claims_of
from warpsift.studies.scu.scu_claims import speedup
from warpsift.studies.stored_runs import StoredRuns, asked_of
from warpsift.sweep import SweepOptions, run_sweep
from warpsift.sweep.sweep_file import read_sweep

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("paper", EXPERIMENTS)
def test_the_example_sweeps_make_every_run(paper):
    files = (EXAMPLES / f"claims_{paper}.toml", EXAMPLES / f"{paper}_misses.toml")
    made = {asked_of(request.as_dict()) for file in files for request in read_sweep(file)}
    named = {claim.name for claim in claims_of(paper)}
    for each in import_module(EXPERIMENTS[paper]).EXPERIMENTS:
        assert each.claim in named
        for reading, sides in ((READING, each.sides), (each.reading, each.changed)):
            for request in each.requests(StoredRuns([], reading), sides):
                assert asked_of(request.as_dict()) in made, f"{each.claim}, {each.change}: {request}"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("experiments") / "claims.db"
    wanted = [r for sides in (SMALL.sides, SMALL.changed) for r in SMALL.requests(StoredRuns([], READING), sides)]
    run_sweep(wanted, path, SweepOptions(workers=1, quiet=True))
    return path


FAST = {"overrides": {"scu.ideal_hash": True}}
SMALL = Experiment(
    "speedup, bfs on tx1", ("bfs", "tx1", "cond@1/32"), "the hash answers at once", speedup,
    (Side("none"), Side("scu")), (Side("none"), Side("scu", FAST)),
)  # fmt: skip
COUNTED = Experiment(
    "speedup, bfs on tx1", SMALL.case, "half is counted", speedup, SMALL.sides, SMALL.sides,
    lambda plain, unit: speedup(plain, unit) / 2,
)  # fmt: skip
AREA = Repricing("area on tx1, mm2", "half of it", lambda runs: 1.5)
NOT_RUN = Experiment("speedup, sssp on tx1", ("sssp", "tx1", "cond@1/32"), "nothing", speedup, SMALL.sides, SMALL.sides)


def test_numbers_are_those_of_the_runs(store, tmp_path, monkeypatch):
    folder = type("Room", (), {"EXPERIMENTS": (SMALL, COUNTED, NOT_RUN), "REPRICINGS": (AREA,)})
    monkeypatch.setattr(module, "import_module", lambda name: folder)
    with Store(store, readonly=True) as ledger:
        runs = StoredRuns(ledger.records(("done",)), READING)
    changed, counted, area = outcomes("scu", claims_of("scu"), lambda reading: runs)  # what was not run is left out
    plain, unit, fast = (
        runs.record(request).result["seconds"]
        for request in [*SMALL.requests(runs, SMALL.sides), SMALL.requests(runs, SMALL.changed)[1]]
    )
    assert changed.before == pytest.approx(plain / unit) and changed.after == pytest.approx(plain / fast)
    assert fast < unit and counted.after == pytest.approx(counted.before / 2)
    assert area.before == pytest.approx(5.16, abs=0.01) and area.after == 1.5
    page, file = tmp_path / "page.md", tmp_path / "e.csv"
    page.write_text("<!-- experiments -->\n<!-- /experiments -->\n")
    write_experiments([changed, counted], file, page)
    assert page.read_text().count("| the hash answers at once |") == 1
    assert len(list(csv.reader(file.open()))) == 3


def test_command_line(store):
    """None of the small store's runs is one of the paper's graphs: what needs no run is left."""
    found = json.loads(call("claims", "--experiments", "--store", str(store), "--json").stdout)["experiments"]
    assert [row["graph"] for row in found] == ["", "", ""]
    assert {row["claim"]: row["changed"] for row in found}["area on gtx980, mm2"] == pytest.approx(13.56, abs=0.01)
    assert "what is changed" in call("claims", "--experiments", "--store", str(store)).stdout
