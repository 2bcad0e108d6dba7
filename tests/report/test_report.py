"""Reports: the data behind figures, escaping, files beside the page, and the page in a real browser."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from warpsift.report.figures import Chart, Figure, FigureError, PaperValue, Provenance, Report
from warpsift.report.html import write_report
from warpsift.report.numbers import shown
from warpsift.report.provenance import command_of
from warpsift.run.request import Request, make_request

EVIL = '</script><script>document.title="owned"</script><img src=x onerror="document.title=1">$a^$ & \'"'


def speedups(graphs=("ca", "kron", "mean")) -> Figure:
    rows = [
        {"graph": g, "algorithm": a, "speedup": s + 0.1 * k, "error": 0.05, "command": f"warpsift run {a} --graph {g}"}
        for k, g in enumerate(graphs)
        for a, s in (("bfs", 1.2), ("sssp", 1.5))
    ]
    return Figure(
        "Speedup with the unit",
        Chart("bars", "graph", "speedup", series="algorithm", error="error", reference=1.0, y_label="speedup"),
        rows,
        paper_reference="SCU paper, Fig. 10",
        paper_values=[
            PaperValue("BFS, mean", 1.41, {"graph": graphs[-1], "algorithm": "bfs"}),
            PaperValue("all, mean", 1.37, ours=1.3, source="section 6.2"),
            PaperValue("energy", 2.0),
        ],
        notes=["One source per graph."],
        commands=["warpsift reproduce scu"],
    )


def hit_rates() -> Figure:
    rows = [
        {"size": 98304 << k, "rate": 0.4 + 0.1 * k, "algorithm": a, "graph": g}
        for k in range(4)
        for a in ("bfs", "sssp")
        for g in ("ca", "road")
    ]
    chart = Chart("lines", "size", "rate", "algorithm", "graph", x_format="bytes", y_format="percent", log_x=True)
    return Figure("Hit rate", chart, rows, paper_values=[PaperValue("road, any size", 0.5, {"graph": "road"})])


def shares(names=("issue", "memory")) -> Figure:
    rows = [{"run": r, "what": w, "share": 1 / len(names)} for r in ("one", "two") for w in names]
    return Figure("Scheduler cycles", Chart("stacked", "run", "share", "what", y_format="percent"), rows)


def scattered() -> Figure:
    rows = [{"area": a, "time": 10 / a, "design": d} for a, d in ((1.0, "none"), (2.0, "scu"), (4.0, "mff"))]
    return Figure("Designs", Chart("scatter", "area", "time", "design", log_y=True), rows)


def report(**changes) -> Report:
    about = Provenance(
        graphs=[{"graph": "ca", "origin": "stand-in for ca2010", "nodes": 10, "arcs": 20}],
        machines={"gtx980": {"l2.ways": 16, "sm.count": 16}},
        versions={"warpsift": "0.1.0", "sources": "abc"},
        runs=12,
    )
    figures = [speedups(), hit_rates(), shares(), scattered()]
    return Report(**{"title": "Test page", "figures": figures, "provenance": about} | changes)


def test_ours_comes_from_the_row_that_the_paper_value_names():
    rows = speedups().comparison()
    assert [row["claim"] for row in rows] == ["BFS, mean", "all, mean", "energy"]
    assert rows[0]["ours"] == pytest.approx(1.4) and rows[0]["ratio"] == pytest.approx(1.4 / 1.41)
    assert rows[0]["source"] == "SCU paper, Fig. 10" and rows[1]["source"] == "section 6.2"
    assert rows[1]["ratio"] == pytest.approx(1.3 / 1.37)
    assert rows[2]["ours"] is None and rows[2]["ratio"] is None


def test_a_chart_must_fit_its_rows():
    with pytest.raises(FigureError) as problem:
        Figure("F", Chart("bars", "graph", "speed"), [{"graph": "ca", "speedup": 1.0}])
    assert str(problem.value) == "figure 'F': row 0 has no column 'speed', which the chart uses"


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        (None, "number", "–"),
        (float("nan"), "number", "–"),
        (0.0, "number", "0"),
        (1234567, "number", "1\u202f234\u202f567"),
        (1.41421, "number", "1.414"),
        (0.27456, "percent", "27.5 %"),
        (98304, "bytes", "96 KiB"),
        (2 << 20, "bytes", "2 MiB"),
        (1.5e-7, "number", "1.500e-07"),
        ("text", "bytes", "text"),
    ],
)
def test_numbers_as_text(value, how, text):
    assert shown(value, how) == text


def test_files_beside_the_page(tmp_path):
    page = write_report(tmp_path / "out", report())
    assert page == tmp_path / "out" / "index.html"
    text = page.read_text()
    assert len(text) < 300_000
    names = ["speedup-with-the-unit", "hit-rate", "scheduler-cycles", "designs"]
    for name in names:
        assert (tmp_path / "out" / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        ElementTree.parse(tmp_path / "out" / "figures" / f"{name}.svg")
        for kind in ("csv", "parquet"):
            assert (tmp_path / "out" / "data" / f"{name}.{kind}").exists()
            assert f'href="data/{name}.{kind}"' in text
    with (tmp_path / "out" / "data" / "speedup-with-the-unit.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "graph": "ca",
        "algorithm": "bfs",
        "speedup": "1.2",
        "error": "0.05",
        "command": "warpsift run bfs --graph ca",
    }
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(tmp_path / "out" / "data" / "speedup-with-the-unit.parquet")
    assert table.column("speedup").to_pylist() == [float(row["speedup"]) for row in rows]


def test_a_page_of_its_own_name_has_its_files_beside_it(tmp_path):
    page = write_report(tmp_path / "night.html", report(figures=[shares(), shares()]))
    assert page.name == "night.html"
    assert (tmp_path / "night-files" / "figures" / "scheduler-cycles-2.svg").exists()
    assert 'href="night-files/figures/scheduler-cycles-2.svg"' in page.read_text()


def test_pictures_are_the_same_bytes_for_the_same_numbers(tmp_path):
    for name in ("a", "b"):
        write_report(tmp_path / name, report())
    for file in (tmp_path / "a" / "figures").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / "figures" / file.name).read_bytes()


def test_the_page_loads_nothing(tmp_path):
    text = write_report(tmp_path / "out", report()).read_text()
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert "default-src 'none'" in text


def test_names_from_files_are_escaped(tmp_path):
    figure = speedups((EVIL, EVIL + "2", "mean"))
    about = Provenance(graphs=[{"graph": EVIL, "origin": EVIL}], machines={EVIL: {EVIL: EVIL}}, versions={EVIL: EVIL})
    page = write_report(tmp_path / "out", report(title=EVIL, figures=[figure], provenance=about, command=EVIL))
    text = page.read_text()
    assert "<script>document" not in text and "<img" not in text
    data = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', text, re.DOTALL)
    assert data and json.loads(data[1])["figures"][0]["rows"][0]["graph"] == EVIL
    svg = (tmp_path / "out" / "figures" / f"{figure.slug}.svg").read_text()
    assert "<script" not in svg and "<img" not in svg


def test_a_report_without_room_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="cannot write"):
        write_report(tmp_path / "file" / "out", report())


def test_a_figure_shows_itself_in_a_notebook():
    text = speedups()._repr_html_()
    assert text.count("<svg") == 1 and "BFS, mean" in text and "Speedup with the unit" in text


@pytest.mark.parametrize(
    ("request_", "command"),
    [
        (Request("bfs", "kron-12"), "warpsift run bfs --graph kron-12"),
        (
            make_request(
                "sssp", "my graph.mtx", {"gpu": "titanx", "overrides": {"l2.ways": 8}, "source": 3, "delta": 2.5}
            ),
            "warpsift run sssp --graph 'my graph.mtx' --gpu titanx --set l2.ways=8 --source 3 --delta 2.5",
        ),
        (make_request("bfs", "kron-7", {"warp_culling": False}), "warpsift run bfs --graph kron-7 --no-warp-culling"),
        (
            make_request("wcc", "web.txt", {"symmetrise": True, "graph_seed": 3, "graph_format": "edges"}),
            "warpsift run wcc --graph web.txt --symmetrise --graph-seed 3 --graph-format edges",
        ),
    ],
)
def test_the_command_that_runs_a_cell_again(request_, command):
    assert command_of(request_) == command
    assert command_of(request_.as_dict()) == command


def test_every_option_has_a_flag():
    command = command_of(make_request("pagerank", "kron-7", {"dangling": True}))
    assert command == "warpsift run pagerank --graph kron-7 --dangling"


def test_page_in_a_browser(chromium, tmp_path):
    """Opens without a complaint or a request, draws every chart, and the filter leaves what was asked for."""
    page = write_report(tmp_path / "out", report())
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.open(page)
    assert chromium.value("document.documentElement.dataset.drawn") == "yes"
    assert chromium.requests == [page.resolve().as_uri()] or all(r.startswith("data:") for r in chromium.requests[1:])
    marks = "[...document.querySelectorAll('section.figure')].map(s => s.querySelectorAll('.bar, .dot').length)"
    assert chromium.value(marks) == [6, 16, 4, 3]
    for side in ("height", "width"):
        assert chromium.value(f"[...document.querySelectorAll('.bar')].every(b => +b.getAttribute('{side}') > 0)")
    assert chromium.value("document.querySelectorAll('.paper-mark').length") == 1
    assert chromium.value("document.querySelectorAll('.paper-line').length") == 1  # in the panel of 'road' alone
    assert chromium.value("document.querySelector('table.comparison tbody tr').innerText").split("\t")[:3] == [
        "BFS, mean",
        "1.4",
        "1.41",
    ]

    filter_by(chromium, "road bfs")
    assert chromium.value("[...document.querySelectorAll('section.figure')].map(s => s.hidden)") == [
        True,
        False,
        True,
        True,
    ]
    assert chromium.value("document.querySelectorAll('#hit-rate .dot').length") == 4
    assert chromium.value("document.querySelectorAll('#hit-rate tr[data-row]:not([hidden])').length") == 4
    assert chromium.value("document.getElementById('found').value") == "1 of 4 figures, 4 rows"
    filter_by(chromium, "nothing like it")
    assert chromium.value("[...document.querySelectorAll('section.figure')].every(s => s.hidden)")
    filter_by(chromium, "")
    assert chromium.value(marks) == [6, 16, 4, 3]
    assert chromium.complaints == []


def test_legend_and_sorting_in_a_browser(chromium, tmp_path):
    chromium.complaints.clear()
    chromium.open(write_report(tmp_path / "out", report()))
    chromium.value("document.querySelector('#speedup-with-the-unit .legend button').click()")
    assert chromium.value("document.querySelectorAll('#speedup-with-the-unit .bar').length") == 3
    first = "document.querySelector('#speedup-with-the-unit table.data tbody tr').innerText.split('\\t')[2]"
    head = (
        "[...document.querySelectorAll('#speedup-with-the-unit table.data th')].find(t => t.textContent == 'speedup')"
    )
    chromium.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    chromium.value(f"{head}.click(); {head}.click()")
    assert chromium.value(first) == "1.7"  # largest first after two clicks
    assert chromium.complaints == []


def test_names_from_files_do_nothing_in_a_browser(chromium, tmp_path):
    chromium.complaints.clear()
    chromium.open(write_report(tmp_path / "out", report(figures=[speedups((EVIL, "b", "mean"))])))
    assert chromium.value("document.title") == "Test page"
    assert chromium.value("document.images.length") == 0
    assert EVIL[:20] in chromium.value("document.querySelector('.panels').textContent")
    assert EVIL in chromium.value("document.querySelector('table.data').textContent")
    assert chromium.complaints == []


def filter_by(chromium, words: str) -> None:
    box = "document.getElementById('filter')"
    chromium.value(f"{box}.value = {json.dumps(words)}; {box}.dispatchEvent(new Event('input'))")
