"""Parts and whole graphs of "which unit suits which graph?": who goes on, which size counts, ties, and verdicts."""

from __future__ import annotations

import pytest

from warpsift.studies import which_unit
from warpsift.studies.scale import FULL
from warpsift.studies.which_unit_map import SOFTWARE, TIE, Cell, ahead_of_software, heat_rows, table_rows, unit_rows
from warpsift.studies.which_unit_sizes import changes, largest, nearest, size_rows, size_sentences, sweep_text, verdict
from warpsift.sweep import read_sweep


def cell(values, size="ca@1/4", algorithm="bfs", **more):
    return Cell("gtx980", algorithm, "ca", values, size=size, possible=9, **more)


PART = {
    "frontier": 1.0,
    "direction": 1.9,
    "vertex": 1.95,
    "SCU": 2.0,
    "MFF": 1.0,
    "IRU": 1.6,
    "ISCU": 1.5,
    "scu+mff": 2.1,
}


# Who goes on


def test_two_styles_and_three_units_go_on_but_none_half_as_fast():
    assert nearest(cell(PART)) == ["frontier", "direction", "MFF", "ISCU", "IRU"]
    assert nearest(cell(PART, algorithm="sssp")) == ["frontier", "direction", "MFF", "ISCU"]
    assert nearest(cell({"frontier": 1.0, "vertex": 2.0, "MFF": 1.0, "SCU": 2.01})) == ["frontier", "vertex", "MFF"]


def test_the_sweep_file_asks_for_what_the_study_looks_for(tmp_path):
    ranked = {"vertex": 1.0, "frontier": 1.5, "MFF": 1.0, "SCU": 1.2}
    chosen = which_unit.whole_graphs([cell(PART), cell(ranked, algorithm="pagerank"), cell(PART, size="ca")])
    assert len(chosen) == 5 + 4 and all(request.graph == "ca" for request in chosen)
    path = tmp_path / "whole.toml"
    path.write_text(sweep_text(chosen))
    from warpsift.studies.stored_runs import asked_of

    assert [asked_of(r.as_dict()) for r in read_sweep(path)] == [asked_of(r.as_dict()) for r in chosen]
    assert chosen[0] == which_unit.wanted(("gtx980", "bfs", "ca"), FULL)["frontier"]


# Which size counts


def test_the_largest_size_counts_if_it_has_the_best_of_both_kinds():
    part = cell(PART)
    whole = cell({"frontier": 4.0, "MFF": 2.0}, "ca")
    assert largest([whole, part]).size == "ca" and largest([whole, part]).smaller == (part,)
    without_style = cell({"direction": 4.0, "MFF": 2.0}, "ca")
    assert largest([without_style, part]).size == "ca@1/4", "the unit would be beside the wrong software"
    without_unit = cell({"frontier": 4.0, "SCU": 2.0}, "ca")
    assert largest([without_unit, part]).size == "ca@1/4"
    assert largest([part]).smaller == ()


def test_a_unit_counts_at_the_largest_size_at_which_it_was_run():
    pair = largest([cell({"frontier": 4.0, "MFF": 5.0}, "ca", limits={"MFF": "lines"}), cell(PART)])
    assert pair.of_unit("MFF").size == "ca" and pair.of_unit("ISCU").size == "ca@1/4"
    assert pair.of_unit("scu-slice") is None
    assert ahead_of_software([pair])["MFF"] == 0
    rows = {row["unit"]: row for row in unit_rows([pair])}
    assert rows["MFF"]["held back by"] == "lines 1" and rows["ISCU"]["pairs"] == 1 and "scu-slice" not in rows


def test_the_table_has_all_sizes_and_says_which_is_in_the_map():
    rows = table_rows([largest([cell({"frontier": 4.0, "MFF": 2.0}, "ca"), cell(PART)])])
    assert [(row["loaded"], row["in the map"], row["contenders"]) for row in rows] == [
        ("ca", "yes", "2 of 9"),
        ("ca@1/4", "no", "8 of 9"),
    ]


# Sampled runs


@pytest.mark.parametrize(
    ("seconds", "half", "winner"),
    [
        (0.9, 0.0, "MFF"),
        (0.9, 0.09, "MFF"),  # 1.111 x 0.91 is more than 1
        (0.9, 0.11, TIE),
        (1.1, 0.09, SOFTWARE),  # 0.909 x 1.09 is less than 1
        (1.1, 0.11, TIE),
        (1.0, 0.0, SOFTWARE),
    ],
)
def test_a_gain_within_its_interval_is_a_tie(seconds, half, winner):
    sampled = cell({"frontier": 1.0, "MFF": seconds}, "ca", halves={"MFF": half})
    assert sampled.winner == winner
    assert ahead_of_software([sampled])["MFF"] == (winner == "MFF")


def test_intervals_of_both_runs_add_in_squares():
    sampled = cell({"frontier": 1.0, "MFF": 0.5}, "ca", halves={"MFF": 0.03, "frontier": 0.04})
    assert sampled.half("MFF") == pytest.approx(0.05)
    assert table_rows([sampled])[0]["interval"] == "5.0%"
    tie = cell({"frontier": 1.0, "MFF": 0.99}, "ca", halves={"MFF": 0.03})
    assert heat_rows([tie])[0]["says"] == "= 1.01\nM"


# Does the part's answer hold?


def test_verdicts():
    unit, other = cell({"frontier": 2.0, "MFF": 1.0}), cell({"frontier": 2.0, "SCU": 1.0})
    lost = cell({"frontier": 1.0, "MFF": 2.0})
    assert verdict(unit, unit) == "holds" and verdict(lost, lost) == "holds"
    assert verdict(unit, other) == "another unit"
    assert verdict(unit, lost) == "turns" and verdict(lost, unit) == "turns"


def test_pairs_at_two_sizes_are_counted():
    held = largest([cell({"frontier": 4.0, "MFF": 2.0}, "ca"), cell({"frontier": 1.0, "MFF": 0.8})])
    turned = largest([cell({"frontier": 4.0, "MFF": 4.1}, "ca"), cell({"frontier": 1.0, "MFF": 0.98})])
    (row, _) = size_rows([held, turned, cell(PART)])
    assert row["part"] == "1/4" and row["larger"] == "whole" and row["verdict"] == "holds"
    assert (row["part's gain"], row["gain"]) == (1.25, 2.0)
    assert changes([held, cell(PART)]) == {"MFF": [1.6]}
    assert size_sentences([held, turned])[0] == (
        "2 pairs were run at two sizes: 1 verdicts hold, in 0 another unit wins, 1 turn (1 of them within 5% of 1 at "
        "both sizes)."
    )
    assert size_sentences([cell(PART)]) == []
