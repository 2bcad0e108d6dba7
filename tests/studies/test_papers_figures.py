"""The papers' figures built from real runs on tiny graphs, and the pages around them."""

from __future__ import annotations

import csv
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from warpsift.report.figures import Chart, Claims, Figure, PaperValue, Report
from warpsift.report.html import page_text
from warpsift.report.verdict import verdict_html
from warpsift.run.request import make_request
from warpsift.studies import mff, scu, which_unit, which_unit_why
from warpsift.studies import reproduce as reproducing
from warpsift.studies.reproduce import summary_of
from warpsift.studies.scale import FULL, QUICK, Scale, ScaleError, real_files
from warpsift.studies.scu import scu_runs
from warpsift.studies.stored_runs import StoredRuns
from warpsift.studies.waterfall import Step, cumulative
from warpsift.sweep import SweepOptions, run_sweep

TINY = Scale("tiny", 512, (1, 2), 1)


@pytest.mark.parametrize("paper", [scu, mff, which_unit], ids=["scu", "mff", "which-unit"])
def test_figures_of_a_paper(paper, tmp_path, monkeypatch):
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name.startswith("warpsift.studies.") and isinstance(getattr(module, "GRAPHS", None), tuple):
            monkeypatch.setattr(module, "GRAPHS", ("cond",) if ".scu" in name else ("dblp-2010",))
        if name in ("warpsift.studies.scu.scu_ladder", "warpsift.studies.mff.mff_ladder"):
            monkeypatch.setattr(module, "RUNGS", dict(list(module.RUNGS.items())[:2]))
        if name == "warpsift.studies.mff.mff_caches":
            monkeypatch.setattr(module, "GRAPH", "dblp-2010")
    requests = [r for experiment in paper.EXPERIMENTS for r in experiment.matrix(TINY)]
    results = run_sweep(requests, tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))
    assert not results.failed
    for experiment in paper.EXPERIMENTS:
        figure = experiment.figure(results, TINY)
        assert figure.rows, figure.title
        for row in figure.comparison():
            about_another_graph = "amazon-2008" in row["claim"]
            assert about_another_graph or row["ours"] > 0, (figure.title, row["claim"])


def test_rank_correlation_finds_the_counter_that_goes_with_the_speedup():
    rows = [
        {name: float(k % 3) for name in which_unit_why.COUNTERS} | {"L2 hit rate": -k * k, "speedup": 2.0**k}
        for k in range(9)
    ]
    found = which_unit_why.correlations(rows)
    assert found["L2 hit rate"] == pytest.approx(-1.0)
    assert max(found, key=lambda name: abs(found[name])) == "L2 hit rate"


def test_real_files_are_found_by_their_usual_names(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "delaunay_n19.mtx.gz").touch()
    found = real_files(tmp_path, ["delaunay", "kron"])
    assert found == {"delaunay": str(tmp_path / "suite" / "delaunay_n19.mtx.gz")}
    with pytest.raises(ScaleError, match="none of the papers' graphs is there; file names begin with kron_g500-logn18"):
        real_files(tmp_path, ["kron"])


def test_a_report_begins_with_what_was_met():
    claims = [PaperValue("near", 2.0, ours=1.6), PaperValue("far", 2.0, ours=1.4), PaperValue("unknown", 2.0)]
    figure = Figure("t", Chart("bars", x="a", y="b"), [{"a": 1, "b": 2}], paper_values=claims)
    assert summary_of([figure], TINY)[0] == (
        "Met within 25 %: 1 of 2 values that the paper states: near (1.6, paper 2)."
    )
    assert summary_of([figure], TINY)[-1].startswith("All graphs are generated")
    real = replace(TINY, files={"cond": "cond-mat-2005.mtx"})
    assert summary_of([], real, real_graphs=["cond"])[0].startswith("Read from files: cond. The others")
    assert summary_of([], real) == [
        "Read from files: cond. The others are generated: same nodes, arcs and kind of degree distribution, not the "
        "same graph."
    ]


def test_a_figure_whose_run_failed_is_left_out_and_the_page_says_why(tmp_path, monkeypatch):
    good = make_request("bfs", "grid-5x5", {"seed": 1})
    bad = make_request("bfs", "grid-5x5", {"source": 99})

    class Experiment:
        def __init__(self, name, wanted):
            self.name, self.wanted = name, wanted

        def matrix(self, scale):
            return [self.wanted]

        def figure(self, results, scale):
            checked = results[self.wanted].result["check"]
            return Figure(self.name, Chart("bars", x="a", y="b"), [{"a": checked, "b": 1}])

    paper = SimpleNamespace(TITLE="T", GRAPHS=(), EXPERIMENTS=(Experiment("one", good), Experiment("two", bad)))
    monkeypatch.setattr(reproducing, "_module", lambda name: paper)
    plan = reproducing.Plan("scu", TINY, tmp_path, SweepOptions(workers=1, quiet=True))
    page, figures = reproducing.reproduce(plan)
    assert [figure.title for figure in figures] == ["one"]
    assert "Left out: two; bfs on grid-5x5 failed: source 99 is not a node" in page.read_text()


def test_sizes_of_graphs():
    assert QUICK.graph("kron") == "kron@1/32" and QUICK.graph("dewiki-2013") == "dewiki-2013@1/128"
    assert QUICK.size(["kron"]) == "1/32 of the paper's size"
    assert QUICK.size(["kron", "dewiki-2013"]) == "1/32 of the paper's size (dewiki-2013 1/128)"
    assert FULL.graph("dewiki-2013") == "dewiki-2013" and FULL.size([]) == "the paper's size"
    assert replace(QUICK, files={"kron": "k.mtx"}).graph("kron") == "k.mtx"


def test_a_quick_page_says_so_first_and_concludes_nothing():
    claims = [PaperValue("near", 2.0, ours=1.6)]
    figure = Figure("t", Chart("bars", x="a", y="b"), [{"a": 1, "b": 2}], paper_values=claims)
    lines = summary_of([figure], QUICK)
    assert len(lines) == 1 and lines[0].startswith("A quick look: graphs at 1/32") and "concludes nothing" in lines[0]
    assert verdict_html(Report("p", [figure], conclusive=False), ["t"]) == ""
    assert "is met" in verdict_html(Report("p", [figure]), ["t"])


def test_steps_of_a_waterfall_keep_what_the_steps_before_changed():
    steps = [Step("a"), Step("b", {"x": 1}), Step("c", {"y": 2}, reading="authors"), Step("d", {"x": 3}, ideal=True)]
    found = cumulative(steps)
    assert [dict(step.unit) for step in found] == [{}, {"x": 1}, {"x": 1, "y": 2}, {"x": 3, "y": 2}]
    assert [step.reading for step in found] == [None, None, "authors", "authors"]
    assert [step.ideal for step in found] == [False, False, False, True]


def test_every_run_of_a_scale_has_its_reading():
    tiny = replace(TINY, reading="hardware")
    for module in (scu, mff):
        requests = [r for e in module.EXPERIMENTS for r in e.matrix(tiny) if "waterfall" not in e.__name__]
        assert {r.reading for r in requests} == {"hardware"}


def test_a_page_has_a_column_for_each_reading_that_its_folder_has_runs_of(tmp_path, monkeypatch):
    """One figure, one table, then the rest; the same command under another reading adds a column."""
    pairs = {}
    for reading in ("hardware", "authors"):
        tiny = replace(TINY, reading=reading)
        pairs[reading] = [
            scu_runs.request("bfs", "cond", gpu, unit, tiny, seed=1)
            for gpu in scu_runs.GPUS
            for unit in ("none", "scu")
        ]
    paper = SimpleNamespace(TITLE="T", GRAPHS=(), EXPERIMENTS=(), claim_requests=lambda scale: pairs[scale.reading])
    monkeypatch.setattr(reproducing, "_module", lambda name: paper)
    for reading in pairs:
        plan = reproducing.Plan("scu", replace(TINY, reading=reading), tmp_path, SweepOptions(workers=1, quiet=True))
        page, _ = reproducing.reproduce(plan)
    heads = re.findall(r'<th class="[^"]*" scope="col">([^<]*)</th>', page.read_text().split('id="claims"')[1])
    assert heads[:4] == ["claim", "paper", "authors", "hardware"]
    table = (tmp_path / "report-files" / "data" / "claims.csv").read_text().splitlines()
    row = next(line for line in csv.reader(table[1:]) if line[1].startswith("speedup, bfs on tx1"))
    assert float(row[3]) > 0 and float(row[4]) > 0 and row[-1] == "cond@1/512"


def test_a_study_of_our_own_has_no_claims_whatever_its_reading(tmp_path):
    plan = reproducing.Plan("which-unit", replace(TINY, reading="hardware"), tmp_path)
    assert reproducing._claims(plan, "which-unit") is None


def test_large_graphs_are_searched_from_one_source():
    assert FULL.sources("cond") == (1, 2, 3) and FULL.sources("kron") == (1,)
    assert replace(FULL, denominator=32).sources("kron") == (1, 2, 3)


def test_full_size_is_sampled_unless_said_otherwise():
    def chosen(name, paper="scu", sample=None, reading=None):
        found = reproducing.scale_named(name, paper, None, reading, sample)
        return found.sample, found.reading

    assert chosen("full") == (20, "authors") and chosen("full", sample=0) == (0, "authors")
    assert chosen("quick") == (0, "authors") and chosen("full", reading="hardware") == (20, "hardware")
    assert chosen("full", "which-unit") == (0, None)


@pytest.mark.parametrize("reading", ["authors", "hardware"])
def test_area_figures_are_of_the_reading_and_agree_with_the_claims(reading):
    """On one page stood 0.83 mm2 in the table of claims, of the authors' reading, and 1.38 in the figure, of none."""
    from warpsift.studies.mff import mff_area_figure, mff_claims
    from warpsift.studies.scu import scu_area_figure, scu_claims

    runs, scale = StoredRuns([], reading), replace(QUICK, reading=reading)
    (found,) = mff_area_figure.figure(None, scale).paper_values
    assert found.ours == mff_claims.area(runs).value
    found = {claim.ours for claim in scu_area_figure.figure(None, scale).paper_values}
    assert found == {scu_claims.area(gpu, runs).value for gpu in ("gtx980", "tx1")}


def test_the_contents_of_a_page_are_in_its_order():
    """The first figure, the claims, the other figures."""
    figures = [Figure(title, Chart("bars", x="x", y="y"), [{"x": "a", "y": 1.0}]) for title in ("First", "Second")]
    page = page_text(Report(title="T", figures=figures, claims=Claims("met", ("claim",), [("speedup",)], "")))
    contents, body = page.split('<nav class="contents"')[1].split("</nav>", 1)
    listed = re.findall(r'href="#([^"]+)"', contents)
    assert listed == re.findall(r'<(?:section|figure|article)[^>]* id="([^"]+)"', body)
    assert listed.index("claims") == 1
