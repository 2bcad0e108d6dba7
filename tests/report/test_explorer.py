"""The explorer: what is stored for it, which runs it takes, and the page in a real browser."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest

import warpsift
from support.command_line import call
from warpsift.hardware import SECTOR_BYTES
from warpsift.report.explorer import card, cards_of_folder, cards_of_records, explorer_page, write_explorer
from warpsift.report.html import ReportError
from warpsift.run import launch_history
from warpsift.run.request import make_request
from warpsift.store.store import Store
from warpsift.sweep import SweepOptions, run_sweep

EVIL = '</script><script>document.title="owned"</script><img src=x onerror="document.title=1">$a^$ & \'"'


@pytest.fixture(scope="module")
def results() -> list:
    graph = warpsift.load_graph("kron-7")
    return [warpsift.simulate("bfs", graph, gpu="gtx480", unit=unit, source=0) for unit in ("none", "scu")]


@pytest.fixture(scope="module")
def cards(results) -> list:
    return [card(json.loads(json.dumps(result.as_dict(), default=lambda v: v.item()))) for result in results]


# ---- what is stored ---------------------------------------------------------------------------------------------


def test_the_timeline_holds_every_launch_and_operation(results):
    for result in results:
        line = result.timeline
        events = len(result.engine.launches) + len(result.engine.operations)
        assert not line["binned"] and len(line["start"]) == events
        assert sum(line["cycles"]) == result.cycles
        assert line["start"] == sorted(line["start"])
        assert all(0 <= share <= 1000 for share in line["bandwidth_per_mille"])
    assert results[1].timeline["phases"] == [
        (f"{p.unit}: " if p.unit else "") + p.name
        for p in sorted(results[1].phases, key=lambda p: first(results[1], p))
    ]


def first(result, phase) -> int:
    """The cycle at which a phase is first seen."""
    starts = [e.start_cycle for e in result.engine.launches if not phase.unit and e.launch.phase == phase.name]
    starts += [e.start_cycle for e in result.engine.operations if phase.unit and e.info.phase == phase.name]
    return min(starts)


def test_many_launches_become_slices_that_keep_time_and_bytes(results, monkeypatch):
    engine = results[0].engine
    whole = launch_history.timeline(engine)
    monkeypatch.setattr(launch_history, "MOST_EVENTS", 5)
    slices = launch_history.timeline(engine)
    assert slices["binned"] and len(slices["start"]) == 5
    assert sum(slices["cycles"]) == sum(whole["cycles"])
    moved = [np.dot(line["cycles"], line["bandwidth_per_mille"]) for line in (whole, slices)]
    assert moved[1] == pytest.approx(moved[0], rel=0.1, abs=5 * results[0].cycles)


def test_traffic_by_array_adds_up(results):
    result = results[0]
    columns = np.array(list(result.array_traffic.values())).sum(axis=0)
    named = dict(zip(launch_history.TRAFFIC, columns.tolist(), strict=True))
    assert named["l1_transactions"] == result.transactions
    assert 0 < named["dram_reads"] * SECTOR_BYTES <= result.dram_bytes
    assert {"offsets", "targets", "labels"} <= set(result.array_traffic)


def test_what_is_stored_stays_small(results):
    for result in results:
        assert len(json.dumps([result.timeline, result.array_traffic])) < 20_000


# ---- which runs -------------------------------------------------------------------------------------------------


def test_a_store_gives_cards_of_finished_runs(tmp_path):
    wanted = [make_request("bfs", "grid-4x4", {"unit": unit, "source": 0}) for unit in ("none", "scu")]
    wanted.append(make_request("bfs", "grid-4x4", {"source": 99}))  # fails
    run_sweep(wanted, tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))
    with Store(tmp_path / "runs.db", readonly=True) as ledger:
        found = cards_of_records(ledger.records())
    assert [c["unit"] for c in found] == ["none", "scu"]
    assert found[0]["gpu"] == "not timed" and found[0]["changed"] == {"source": "0"}
    assert found[1]["command"].startswith("warpsift run bfs --graph grid-4x4")
    done = call("explore", tmp_path / "runs.db", "-o", tmp_path / "page.html")
    assert done.returncode == 0 and "1 failed runs left out" in done.stdout
    assert f"2 runs in {tmp_path / 'page.html'}" in done.stdout


def test_a_folder_gives_cards_of_its_results(results, tmp_path):
    text = json.dumps(results[0].as_dict(), default=lambda v: v.item())
    (tmp_path / "one.json").write_text(text)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "two.json").write_text(f"[{text}, {text}]")
    (tmp_path / "other.json").write_text('{"something": "else"}')
    found = cards_of_folder(tmp_path)
    assert len(found) == 3 and found[0]["gpu"] == "gtx480" and found[0]["command"] == ""
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(ReportError, match=r"broken\.json: cannot be read as JSON"):
        cards_of_folder(tmp_path)


def test_a_result_that_is_none_is_named(tmp_path):
    (tmp_path / "odd.json").write_text('{"algorithm": 1, "graph": {}, "phases": []}')
    with pytest.raises(ReportError, match=r"odd\.json: not a result of 'warpsift run --json'"):
        cards_of_folder(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explore", "nowhere.db"), "error: no store at nowhere.db"),
        (("explore", "nowhere.db", "-o", "page.pdf"), "error: --output page.pdf: name a page, such as explorer.html"),
        (("explore", ".", "--where", "gpu=tx1"), "error: --where asks a store"),
    ],
)
def test_wrong_words_are_answered_in_one_line(words, said):
    done = call(*words)
    assert done.returncode == 2 and done.stderr.startswith(said) and done.stderr.count("\n") == 1


def test_an_empty_folder_says_how_to_fill_it(tmp_path):
    done = call("explore", tmp_path)
    assert done.returncode == 2 and "holds no finished runs: fill it with 'warpsift sweep'" in done.stderr


def test_the_page_needs_nothing_else(cards):
    page = explorer_page(cards, "Runs")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page


# ---- in a browser -----------------------------------------------------------------------------------------------


def opened(chromium, path, cards):
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.open(write_explorer(path / "explorer.html", cards, "Runs of a test"))
    assert chromium.value("document.documentElement.dataset.drawn") == "yes"


def choose(chromium, name: str, value: str) -> None:
    select = f"document.querySelector('select[data-filter={name}]')"
    chromium.value(f"{select}.value = {json.dumps(value)}; {select}.dispatchEvent(new Event('change'))")


def text(chromium, selector: str) -> str:
    return chromium.value(f"document.querySelector({json.dumps(selector)}).innerText")


def count(chromium, selector: str) -> int:
    return chromium.value(f"document.querySelectorAll({json.dumps(selector)}).length")


def test_two_runs_side_by_side(chromium, cards, tmp_path):
    opened(chromium, tmp_path, cards)
    assert text(chromium, ".side-head.A").startswith("A: bfs on kron-7, gtx480, plain GPU")
    assert text(chromium, ".side-head.B").startswith("B: bfs on kron-7, gtx480, scu")
    one, two = (c["numbers"]["microseconds"] for c in cards)
    said = text(chromium, ".verdict")
    assert said.startswith("B is " if one > two else "B takes ")
    titles = chromium.value("[...document.querySelectorAll('.panel-title')].map(t => t.childNodes[0].textContent)")
    assert titles == ["Time by phase", "What the schedulers did", "Traffic by array", "Energy by part, mJ", "Timeline"]
    blocks = [2 * len(c["timeline"]["start"]) for c in cards]
    counted = "[...document.querySelectorAll('svg.timeline')].map(s => s.querySelectorAll('rect').length)"
    assert chromium.value(counted) == blocks
    assert chromium.complaints == []
    assert chromium.requests == [(tmp_path / "explorer.html").resolve().as_uri()]


def test_shares_fill_their_bars(chromium, cards, tmp_path):
    opened(chromium, tmp_path, cards)
    inside = "[...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0) / bar.offsetWidth"
    shares = chromium.value(f"[...document.querySelectorAll('.stack')].map(bar => {inside})")
    assert len(shares) == 4 and all(0.99 < share < 1.01 for share in shares)


def test_choosing_narrows_the_runs(chromium, cards, tmp_path):
    many = [*cards, *({**copy.deepcopy(c), "algorithm": "sssp", "graph": "road"} for c in cards)]
    opened(chromium, tmp_path, many)
    assert text(chromium, "#found") == "4 of 4 runs"
    choose(chromium, "graph", "road")
    assert text(chromium, "#found") == "2 of 4 runs"
    assert text(chromium, ".side-head.A").startswith("A: sssp on road")
    choose(chromium, "unit", "scu")
    assert text(chromium, "#found") == "1 of 4 runs" and count(chromium, ".side-head") == 1
    chromium.value("[...document.querySelectorAll('#choose button')].at(-1).click()")
    assert text(chromium, "#found") == "4 of 4 runs"
    for run, side in ((0, 0), (3, 1)):
        chromium.value(f"document.querySelectorAll('tr[data-run=\"{run}\"] button.mark')[{side}].click()")
    assert "sssp on road" in text(chromium, ".side-head.B")
    assert "differ in" in text(chromium, ".verdict")
    assert chromium.complaints == []


def test_traffic_can_be_counted_otherwise(chromium, cards, tmp_path):
    opened(chromium, tmp_path, cards)
    before = text(chromium, "#sides")
    chromium.value("(s => { s.value = 2; s.dispatchEvent(new Event('change')); })(document.getElementById('traffic'))")
    assert text(chromium, "#sides") != before


def test_hundreds_of_runs_open_quickly(chromium, cards, tmp_path):
    many = [{**copy.deepcopy(cards[k % 2]), "graph": f"graph-{k // 2}"} for k in range(800)]
    opened(chromium, tmp_path, many)
    assert count(chromium, "#runs tbody tr") == 200 and text(chromium, "#more").startswith("600 more")
    took = chromium.value(
        "(() => { const t = performance.now(); const s = document.querySelector('select[data-filter=unit]');"
        " s.value = 'scu'; s.dispatchEvent(new Event('change')); return performance.now() - t; })()"
    )
    assert text(chromium, "#found") == "400 of 800 runs" and took < 3000


def test_names_from_files_do_nothing(chromium, cards, tmp_path):
    bad = copy.deepcopy(cards)
    for each in bad:
        each.update(graph=EVIL, gpu=EVIL, algorithm=EVIL, changed={EVIL: EVIL}, warning=EVIL, command=EVIL)
        each["arrays"] = {EVIL: [1, 2, 3, 4]}
        for phase in each["phases"]:
            phase["name"] = EVIL
    opened(chromium, tmp_path, bad)
    assert chromium.value("document.title") == "Runs of a test" and chromium.value("document.images.length") == 0
    assert EVIL in chromium.value("document.getElementById('sides').textContent")
    assert chromium.complaints == []


def test_old_and_untimed_runs_say_what_is_missing(chromium, cards, tmp_path):
    old = copy.deepcopy(cards[0])
    old.update(arrays=None, timeline=None, joules=None, energy=None, stalls=None)
    for phase in old["phases"]:
        phase["microseconds"] = None
    opened(chromium, tmp_path, [old])
    said = text(chromium, "#sides")
    assert "Not timed: these are warp instructions." in said and said.count("Not stored with this run") == 2
    assert chromium.complaints == []
