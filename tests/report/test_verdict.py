"""Pages open with what was met and what was not; opposite signs, axes, labels and bars say what they show."""

from __future__ import annotations

import re

import matplotlib.pyplot as pyplot
import pytest

import warpsift
from support import browser
from warpsift.report.bars import draw
from warpsift.report.figures import Chart, Figure, PaperValue, Report
from warpsift.report.html import page_text, write_report
from warpsift.report.html_parts import comparison_table, opposite_words
from warpsift.report.verdict import findings, verdict_words
from warpsift.run.comparison import compare


def figure(values: dict[str, tuple[float, float]], **chart) -> Figure:
    """Bars by name; each has (ours, the paper's)."""
    rows = [{"graph": name, "value": ours} for name, (ours, _) in values.items()]
    paper = [PaperValue(f"speedup on {name}", said, {"graph": name}) for name, (_, said) in values.items()]
    how = {"y_label": "speedup", "reference": 1, "better": "higher", **chart}
    return Figure("Speedups", Chart("bars", x="graph", y="value", **how), rows, "Fig. 1", paper)


MIXED = {"near": (1.9, 2.0), "off": (1.4, 2.0), "far": (8.0, 2.0), "against": (0.8, 1.5), "at the line": (0.99, 1.5)}


def test_the_verdict_counts_what_is_met_close_and_opposite():
    words = verdict_words(findings([figure(MIXED)]))
    assert words == (
        "Of 5 values that the paper states, 1 is met within 25 % and 3 within a factor of 2. 1 points the opposite way."
    )


def test_the_page_opens_with_the_verdict_and_the_misses_farthest_first():
    page = page_text(Report("Title", [figure(MIXED)]))
    main = page[page.index("<main>") : page.index("</main>")]
    assert main.index('id="verdict"') < main.index('class="figure"')
    misses = re.findall(r"<tr><td>(speedup on [^<]+)</td>", main[: main.index('class="figure"')])
    assert misses == ["speedup on against", "speedup on far", "speedup on at the line", "speedup on off"]
    assert "opposite: the paper gains, we lose" in main and "4 times the paper&#x27;s" in main
    assert '<a href="#speedups">Fig. 1</a>' in main and 'href="#verdict"' in page


def test_a_page_without_a_paper_has_no_verdict():
    plain = Figure("t", Chart("bars", x="a", y="b"), [{"a": 1, "b": 2}])
    assert "verdict" not in page_text(Report("Title", [plain])).split("<main>")[1]


@pytest.mark.parametrize("conclusive", [True, False])
def test_links_within_a_page_lead_somewhere(conclusive):
    page = page_text(Report("Title", [figure(MIXED)], conclusive=conclusive))
    targets = re.findall(r'href="#([\w-]+)"', page)
    assert targets and [name for name in targets if f'id="{name}"' not in page] == []
    assert ("verdict" in targets) == conclusive


def test_opposite_is_said_in_the_figures_table_too():
    assert comparison_table(figure(MIXED)).count("opposite: the paper gains, we lose") == 1
    assert opposite_words(1.2, 0.8, "higher") == "opposite: the paper loses, we gain"
    assert opposite_words(1.2, 0.8, "lower") == "opposite: the paper gains, we lose"
    assert opposite_words(1.2, 0.8, None) == "opposite: on different sides of the reference"


def test_a_value_that_is_not_drawn_or_has_no_line_is_never_opposite():
    chart = Chart("bars", x="graph", y="value", reference=1)
    one = Figure("t", chart, [{"graph": "a", "value": 2.0}], paper_values=[PaperValue("c", 0.5, ours=1.5)])
    assert one.comparison()[0]["opposite"] is False
    named = Figure("t", chart, [{"graph": "a", "value": 2.0}], paper_values=[PaperValue("c", 0.5, ours=1.5, line=1)])
    assert named.comparison()[0]["opposite"] is True
    assert figure({"a": (0.5, 2.0)}, reference=None).comparison()[0]["opposite"] is False


# ---- axes -------------------------------------------------------------------------------------------------------


def test_axes_say_what_is_better():
    assert figure(MIXED).chart.axis_label == "speedup (higher is better)"
    assert figure(MIXED, better=None).chart.axis_label == "speedup"
    assert figure(MIXED).matplotlib().axes[0].get_ylabel() == "speedup (higher is better)"


def test_a_long_axis_label_has_two_rows():
    long = figure(MIXED, y_label="requests for C and V, window 1 = 1", better="lower")
    assert long.matplotlib().axes[0].get_ylabel() == "requests for C and V, window 1 = 1\n(lower is better)"


def panels(**values: list[float]) -> Figure:
    rows = [{"panel": p, "graph": f"g{k}", "value": v} for p, each in values.items() for k, v in enumerate(each)]
    return Figure("Panels", Chart("bars", x="graph", y="value", facet="panel", reference=None), rows)


def test_a_panel_is_not_squashed_by_anothers_axis():
    far = panels(large=[90.0, 80.0], small=[1.1, 1.2])
    assert far.own_axes and not panels(one=[1.0, 2.0], two=[2.5, 2.0]).own_axes
    large, small = (axes.get_ylim()[1] for axes in far.matplotlib().axes)
    assert large > 80 and small < 2
    assert "Each panel has its own axis." in page_text(Report("t", [far]))


def test_one_large_ratio_does_not_squash_the_others():
    ladder = figure({"a": (1.1, 1.1), "b": (1.2, 1.2), "c": (0.9, 0.9), "d": (30.0, 30.0)})
    assert ladder.log_y and not figure(MIXED).log_y
    axes = ladder.matplotlib().axes[0]
    assert axes.get_yscale() == "log"
    ends = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    assert all(begin == 1 for begin, _ in ends) and [end for _, end in ends] == pytest.approx([1.1, 1.2, 0.9, 30.0])


def test_labels_are_never_cut():
    name = "a graph with a very long name that was once cut off at twenty-eight letters"
    drawn = figure({name: (1.0, 1.0), "b": (2.0, 2.0), "c": (1.5, 1.5)}).matplotlib()
    assert drawn.axes[0].get_xticklabels()[0].get_text().replace("\n", " ") == name


def test_bars_of_a_comparison_are_labelled_with_their_height(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(pyplot, "close", kept.append)
    comparison = compare("bfs", warpsift.load_graph("kron-6"), ["none", "scu"], gpu="gtx480")
    draw(comparison, tmp_path / "bars.png")
    rows = [entry.as_dict() for entry in comparison.entries]
    for axes, column in zip(kept[0].axes, ("seconds", "energy_joules"), strict=True):
        heights = [row[column] / rows[0][column] for row in rows]
        assert [text.get_text() for text in axes.texts] == [f"{height:.2f}" for height in heights]
        assert axes.get_ylabel().endswith("plain GPU = 1 (lower is better)")


def test_labels_and_bars_in_a_browser(tmp_path):
    program = browser.find()
    if program is None:
        pytest.skip("no Chromium here: install the package chromium to test the page in a browser")
    name = "a graph with a very long name that was once cut off at twenty-eight letters"
    ladder = figure({name: (1.1, 1.1), "b": (1.2, 1.2), "c": (0.9, 0.9), "d": (30.0, 30.0)})
    chromium = browser.Browser(program, tmp_path / "profile")
    try:
        chromium.open(write_report(tmp_path / "out", Report("Title", [ladder, panels(large=[90.0], small=[1.1])])))
        assert name in chromium.value("document.querySelector('.panels').textContent")
        assert "speedup (higher is better)" in chromium.value("document.querySelector('.panels').textContent")
        heights = chromium.value("[...document.querySelectorAll('.panels .bar')].map(b => +b.getAttribute('height'))")
        assert min(heights[:4]) > 3 and heights[5] > 100  # small effects are seen, and so is the small panel
        below = chromium.value(
            "[...document.querySelectorAll('.panels text')].every(t => t.getBoundingClientRect().left >= 0)"
        )
        assert below and chromium.complaints == []
    finally:
        chromium.close()
