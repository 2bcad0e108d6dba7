"""A result at a prompt, in a notebook and as a picture; tables on narrow terminals; colours only where wanted."""

from __future__ import annotations

import inspect
import io

import pytest
from rich.console import Console

import warpsift
from warpsift.report.run_tables import print_run
from warpsift.report.screen_tables import table_of
from warpsift.report.text_bars import bar_lines
from warpsift.run.record import Phase


@pytest.fixture(scope="module")
def timed():
    return warpsift.simulate("bfs", "kron-7", gpu="gtx480", source=0)


def test_repr_fits_a_screen(timed):
    lines = repr(timed).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 100
    assert lines[0] == "bfs (frontier style) on kron-7, gtx480: check pass"
    assert f"{timed.microseconds:.1f} us" in lines[2] and "MTEPS" in lines[2]
    assert [line.split()[0] for line in lines[4:]] == [phase.name for phase in timed.phases]


def test_repr_of_a_counted_run_has_no_times():
    text = repr(warpsift.simulate("wcc", "grid-4x4"))
    assert "cycles" not in text and "check pass" in text


def test_repr_of_many_phases_says_how_many_are_left_out(timed):
    result = warpsift.simulate("bfs", "grid-3x3", source=0)
    result.phases = [Phase(f"kernel {k}", False) for k in range(500)]
    lines = repr(result).splitlines()
    assert len(lines) <= 24 and lines[-1] == "and 488 more phases: result.rows()"


def test_a_notebook_shows_a_table_and_names_stay_text():
    graph = warpsift.load_graph("grid-3x3")
    object.__setattr__(graph, "name", "<script>alert(1)</script>")
    html = warpsift.simulate("bfs", graph, source=0)._repr_html_()
    assert "<table>" in html and "<script>" not in html and "&lt;script&gt;" in html


def test_a_result_becomes_a_frame(timed):
    pandas = pytest.importorskip("pandas", reason="no pandas here")
    frame = timed.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["cycles"].sum() == timed.cycles and list(frame["phase"]) == [p.name for p in timed.phases]


def test_a_result_becomes_a_picture(timed, tmp_path):
    figure = timed.plot(tmp_path / "run.png")
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["time, microseconds", "scheduler cycles, %", "energy, mJ"]
    assert (tmp_path / "run.png").stat().st_size > 1000
    bars = sum(bar.get_width() for bar in figure.axes[0].patches)
    assert bars == pytest.approx(timed.microseconds, rel=1e-3)
    counted = warpsift.simulate("bfs", "grid-3x3", source=0).plot()
    assert [axes.get_xlabel() for axes in counted.axes] == ["warp instructions"]


def test_help_lists_what_may_be_chosen():
    text = inspect.getdoc(warpsift.simulate)
    for word in ("pagerank (PageRank)", "scu-basic", "gtx980", "frontier", "max_iterations=None", "symmetrise=False"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 110


# ---- tables -----------------------------------------------------------------------------------------------------

HEADS = ["phase", "launches", "transactions", "cycles"]
ROWS = [["expand", "12", "1 234 567", "98 765 432"]]


def shown(width: int, terminal: bool = True, **how) -> list[str]:
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, no_color=True, legacy_windows=False)
    console.print(table_of("", HEADS, ROWS, **how))
    return [line.rstrip() for line in text.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()]


def test_a_wide_terminal_gets_all_columns():
    assert shown(80)[0].split() == HEADS


def test_a_narrow_terminal_gets_fewer_whole_columns():
    lines = shown(30)
    assert lines[0].split() == ["phase", "launches", "transactions"]
    assert "1 234 567" in lines[1] and "cycles" in lines[2]
    assert all("…" not in line for line in lines)


def test_important_columns_stay():
    assert shown(22, important=["phase", "cycles"])[0].split() == ["phase", "cycles"]
    assert shown(28, important=["phase", "cycles"])[0].split() == ["phase", "launches", "cycles"]


def test_two_columns_stay_at_any_width():
    assert table_of("", HEADS, ROWS, ["phase", "cycles"]).columns_for(1) == [0, 3]


def test_a_file_gets_all_columns():
    lines = shown(400, terminal=False)
    assert lines[0].split() == HEADS and lines[1].split()[-1] == "432"


def test_a_pipe_gets_all_columns(monkeypatch, capsys):
    from warpsift.cli.app import console

    monkeypatch.setenv("COLUMNS", "40")
    heads = [f"column {k}" for k in range(25)]
    console().print(table_of("", heads, [[str(k) for k in range(25)]]))
    assert heads[-1] in capsys.readouterr().out.splitlines()[0]


def test_sentences_are_broken_before_columns_go():
    text = io.StringIO()
    console = Console(file=text, width=40, force_terminal=True, no_color=True)
    console.print(table_of("", ["what", "reason"], [["a", "a long sentence that goes on for quite a while"]]))
    assert "quite a" in text.getvalue() and "no room" not in text.getvalue()


def test_bars_fit_a_narrow_terminal():
    row = {"unit": "none", "style": "frontier", "seconds": 2.0, "gpu_seconds": 1.0}
    assert max(map(len, bar_lines([row], width=40)[:-1])) <= 40


def test_no_color_is_obeyed(timed, monkeypatch):
    def colours() -> bool:
        text = io.StringIO()
        print_run(Console(file=text, width=140, force_terminal=True, color_system="standard"), timed)
        return any(f"\x1b[{code}m" in text.getvalue() for code in ("32", "1;31", "33"))

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours()
