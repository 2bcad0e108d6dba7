"""The claims' table: verdicts, which runs it takes from a store, and that the example sweeps hold what it needs."""

import pytest

from support.places import ROOT
from warpsift.run.execute import run_request
from warpsift.store.canonical_json import from_json, to_json
from warpsift.store.store import Record
from warpsift.studies.claim import MET, MISSING, OPPOSITE, SAME, Claim, judge, summary
from warpsift.studies.claims_table import ClaimsError, claims_of, judged_claims, write_csv, write_page
from warpsift.studies.marked_page import PageError
from warpsift.studies.mff import mff_claims
from warpsift.studies.scu import scu_claims
from warpsift.studies.stored_runs import FULL_SIZE, Measured, StoredRuns
from warpsift.sweep import read_sweep


def claim(value, **choices):
    return Claim("scu", "a claim", "Fig. 0", value, lambda runs: None, **choices)


@pytest.mark.parametrize(
    ("value", "ours", "verdict"),
    [
        (2.0, 1.5, MET),
        (2.0, 1.49, SAME),
        (2.0, 2.5, MET),
        (2.0, 2.6, SAME),
        (2.0, 0.99, OPPOSITE),
        (2.0, None, MISSING),
    ],
)
def test_verdicts_of_numbers(value, ours, verdict):
    assert claim(value).verdict(None if ours is None else Measured(ours, {})) == verdict


def test_verdicts_of_ranges_and_directions():
    span = claim(0.25, upper=0.55, neutral=0.0)
    assert [span.verdict(Measured(v, {})) for v in (0.25, 0.55, 0.56)] == [MET, MET, SAME]
    rises = claim(1.1, only_direction=True)
    assert [rises.verdict(Measured(v, {})) for v in (1.01, 0.99)] == [MET, OPPOSITE]
    assert rises.stated == "rises" and claim(0.9, only_direction=True).stated == "falls"


def record(request, graph):
    """A finished run as a store has it."""
    result = from_json(to_json(run_request(request, graph).as_dict()))
    said = from_json(to_json(request.as_dict()))
    about = {**result["graph"], "generated": True}
    return Record("k", "done", "v", "p", said, about, None, result, None, None, 1.0, "h", 1.0)


@pytest.fixture(scope="module")
def runs():
    """BFS of one small graph under one reading."""
    empty = StoredRuns([], "hardware")
    wanted = scu_claims.requests(empty, "cond@1/32", "tx1", "bfs", 1)
    graph = wanted[0].load()
    return StoredRuns([record(request, graph) for request in wanted], "hardware")


def test_claims_are_measured_from_stored_runs(runs):
    judged = {each.claim.name: each for each in judge(scu_claims.CLAIMS, [runs])}
    speedup = judged["speedup, bfs on tx1"].ours["hardware"]
    assert speedup is not None and list(speedup.by_graph) == ["cond@1/32"]
    plain, unit = (runs.record(r).result["seconds"] for r in scu_claims.pair(runs, "bfs", "tx1", "scu")("cond@1/32", 1))
    assert speedup.value == pytest.approx(plain / unit)
    assert speedup.bound > speedup.value and speedup.cause in ("width", "probes", "in_flight", "ports", "dram")
    assert judged["speedup, bfs on gtx980"].verdict == MISSING
    assert 0 < judged["share of time in compaction"].ours["hardware"].value < 1
    assert "energy" not in judged["speedup, bfs on tx1"].helped
    assert judged["area on tx1, mm2"].helped == ("hardware",)


def test_only_full_size_leaves_parts_out(runs):
    whole = StoredRuns(runs._found.values(), "hardware", FULL_SIZE)
    judged = {each.claim.name: each.verdict for each in judge(scu_claims.CLAIMS, [whole])}
    assert judged["speedup, bfs on tx1"] == MISSING


def test_misses_come_first_and_the_summary_counts(runs):
    judged = judge(scu_claims.CLAIMS, [runs])
    order = [OPPOSITE, SAME, MET, MISSING]
    places = [order.index(each.verdict) for each in judged]
    assert places == sorted(places)
    met = places.count(order.index(MET))
    assert f"{met} are met within 25 %" in summary(judged)


def test_a_csv_begins_with_the_verdict(runs, tmp_path):
    judged = judge(scu_claims.CLAIMS, [runs])
    write_csv(tmp_path / "c.csv", judged)
    lines = (tmp_path / "c.csv").read_text().splitlines()
    assert lines[0] == f"# {summary(judged)}" and len(lines) == len(judged) + 2


def asked(request):
    said = request.as_dict()
    return to_json(said | {"overrides": {k: str(v).lower() for k, v in said["overrides"].items()}})


def test_the_example_sweeps_hold_what_the_claims_need():
    planned = {asked(r) for name in ("scu", "mff") for r in read_sweep(ROOT / "examples" / f"claims_{name}.toml")}
    for reading in ("authors", "hardware"):
        empty = StoredRuns([], reading)
        for algorithm in mff_claims.ALGORITHMS:
            for request in mff_claims.requests(empty, "dblp-2010", algorithm, 1):
                assert asked(request) in planned, request
        for gpu in scu_claims.GPUS:
            for algorithm in scu_claims.ALGORITHMS:
                for request in scu_claims.requests(empty, "cond", gpu, algorithm, 1):
                    assert asked(request) in planned, request


def test_wrong_questions(tmp_path):
    with pytest.raises(ClaimsError, match="unknown paper 'skew'"):
        claims_of("skew")
    with pytest.raises(ClaimsError, match="reading 'authors-2048' says nothing of the mff paper"):
        judged_claims(tmp_path / "x.db", ["authors-2048"])


def test_the_spread_is_over_graphs_and_sources():
    measured = Measured(1.5, {"a": 1.25, "b": 1.75}, each=(1.0, 1.5, 1.75), sources=2)
    (judged,) = judge([Claim("scu", "a claim", "Fig. 0", 2.0, lambda runs: measured)], [StoredRuns([], "authors")])
    assert "1.00 to 1.75" in judged.cells() and judged.as_dict()["readings"]["authors"]["sources"] == 2
    (alone,) = judge(
        [Claim("scu", "a claim", "Fig. 0", 2.0, lambda runs: Measured(2, {}))], [StoredRuns([], "authors")]
    )
    assert not any(" to " in cell for cell in alone.cells())


def test_the_table_goes_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    judged = judge([claim(2.0), claim(3.0)], [StoredRuns([], "authors")])
    page.write_text("before\n<!-- claims -->\nold\n<!-- /claims -->\nafter\n")
    for _ in range(2):  # again gives the same
        write_page(page, judged)
        text = page.read_text()
        assert text.startswith("before\n<!-- claims -->\n- authors: of 0 claims") and text.endswith("-->\nafter\n")
        assert "old" not in text and text.count("| a claim (Fig. 0) |") == 2
    page.write_text("<!-- /claims -->\n<!-- claims -->\n")
    with pytest.raises(PageError, match=r"write the lines <!-- claims --> and <!-- /claims --> where"):
        write_page(page, judged)
