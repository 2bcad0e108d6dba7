"""Which unit suits which graph: equal area, winners, what holds a unit back, and the map's cells."""

from __future__ import annotations

import csv

import pytest

from support.command_line import call, complaints
from warpsift.machines import load_machine
from warpsift.report.charts import save
from warpsift.report.figures import Report
from warpsift.report.heat_map import shade
from warpsift.report.html import page_text
from warpsift.studies import which_unit
from warpsift.studies.scale import MEDIUM, Scale
from warpsift.studies.which_unit_area import (
    CONTENDERS,
    GPUS,
    common_mm2,
    design,
    extra_ways,
    machine_of,
    unit_mm2,
    way_mm2,
)
from warpsift.studies.which_unit_limits import Places, limit
from warpsift.studies.which_unit_map import (
    SOFTWARE,
    Cell,
    ahead_of_software,
    heat_figure,
    heat_rows,
    joules_of,
    labels_of,
    sentences,
    table_rows,
    tally,
    unit_rows,
    write_csv,
)

TINY = Scale("tiny", 512, (1,), 1)


# Equal area


@pytest.mark.parametrize("gpu", GPUS)
def test_all_contenders_take_the_area_of_the_largest_to_half_a_way(gpu):
    way = way_mm2(gpu)
    for contender in CONTENDERS:
        taken = unit_mm2(contender, gpu)
        assert abs(taken + extra_ways(taken, gpu) * way - common_mm2(gpu)) <= way / 2
    assert extra_ways(0.0, gpu) > 0, "the plain GPU spends all of it on cache"
    assert min(extra_ways(unit_mm2(name, gpu), gpu) for name in CONTENDERS) == 0


@pytest.mark.parametrize("gpu", GPUS)
def test_more_ways_leave_the_sets_of_the_l2_as_they_were(gpu):
    stock = load_machine(gpu).l2
    for contender in (None, *CONTENDERS):
        l2 = load_machine(gpu, machine_of(contender, gpu)).l2
        assert l2.size_bytes * stock.ways == stock.size_bytes * l2.ways


def test_a_combination_is_both_of_its_units():
    for gpu in GPUS:
        assert design("scu+mff", gpu) == {**design("SCU", gpu), **design("MFF", gpu)}
        assert unit_mm2("scu+mff", gpu) == pytest.approx(unit_mm2("SCU", gpu) + unit_mm2("MFF", gpu))


# Requests


def test_units_run_where_they_have_the_algorithm_and_software_in_every_style_but_the_hopeless():
    found = {name: which_unit.wanted(("gtx980", name, "kron"), MEDIUM) for name in which_unit.NAMES}
    assert set(found["bfs"]) == {"frontier", "vertex", "direction", *CONTENDERS}
    assert set(found["pagerank"]) == {"frontier", "vertex", "SCU", "IRU", "MFF", "ISCU"}
    assert set(found["sssp"]) == {"frontier", *CONTENDERS}
    assert set(found["wcc"]) == {"jumping", "MFF"}
    assert found["pagerank"]["SCU"].unit == "scu-basic" and found["bfs"]["SCU"].unit == "scu"
    assert all(r.overrides["compiler.unroll"] == "4" for each in found.values() for r in each.values())
    lives = {name for name, r in found["sssp"].items() if r.overrides.get("scu.other_life") == "persistent"}
    assert lives == {"SCU", "scu-slice", "scu+mff"}


def test_sizes_of_the_medium_scale():
    assert which_unit.graph_name("ca", "bfs", MEDIUM) == "ca@1/4"
    assert which_unit.graph_name("ca", "sssp", MEDIUM) == "ca@1/16"
    assert which_unit.graph_name("cond", "wcc", MEDIUM) == "cond"
    assert which_unit.graph_name("cond", "wcc", TINY) == "cond@1/512"
    assert set(which_unit.PARTS) == set(which_unit.GRAPHS)


# Winners


def cell(values, graph="kron", gpu="gtx980", algorithm="bfs", **more):
    return Cell(gpu, algorithm, graph, values, **more)


def test_the_winner_is_the_fastest_and_gains_are_over_the_best_software():
    won = cell({"frontier": 4.0, "direction": 2.0, "SCU": 3.0, "MFF": 1.0})
    assert (won.best_software, won.best_unit, won.winner) == ("direction", "MFF", "MFF")
    assert won.best_gain == 2.0 and won.gain("SCU") == pytest.approx(2 / 3)
    lost = cell({"frontier": 4.0, "direction": 2.0, "SCU": 3.0, "MFF": 2.5})
    assert lost.winner == SOFTWARE and lost.best_unit == "MFF" and lost.best_gain == 0.8
    draw = cell({"frontier": 1.0, "MFF": 1.0})
    assert draw.winner == SOFTWARE, "as fast as software is no reason to build it"


def test_a_tally_counts_winners_and_each_unit_against_software():
    cells = [
        cell({"frontier": 2.0, "SCU": 1.5, "MFF": 1.0}),
        cell({"frontier": 2.0, "SCU": 1.5, "MFF": 3.0}),
        cell({"frontier": 2.0, "MFF": 4.0}),
    ]
    assert tally(cells) == {"MFF": 1, "SCU": 1, SOFTWARE: 1}
    assert ahead_of_software(cells)["SCU"] == 2 and ahead_of_software(cells)["MFF"] == 1
    assert sentences(cells) == [
        "GTX 980, 3 pairs: MFF 1, SCU 1, software 1 win. SCU alone beats the best software in 2, not more than 30."
    ]
    many = [cell({"frontier": 2.0, "MFF": 1.0})] * 31
    assert sentences(many)[0].endswith("MFF alone beats the best software in 31, more than 30.")


# What holds a unit back


def run(cycles=1e6, unit="", launches=1, **changes):
    counters = changes.pop("counters", {})
    stack = {"no_warp": 0.1, "memory": 0.5, "lsu": 0.1, "barrier": 0.1, "issue": 0.1, "alu": 0.1, "shared": 0.0}
    phase = {"cycles": cycles, "unit": unit, "launches": launches, "counters": counters, "stall_stack": stack}
    phase |= {"bandwidth_utilisation": 0.1} | changes
    short = {**phase, "cycles": cycles / 10, "bandwidth_utilisation": 0.9}  # another phase that decides nothing
    work = {"edges_touched": 100}
    return {"phases": [short, phase], "mean_load_latency_cycles": 400.0, "work": work, "seconds": 1.0}


SCU_STALLS = {"scu_stall_data_cycles": 10, "scu_address_busy_cycles": 20, "scu_stall_probe_cycles": 30}


@pytest.mark.parametrize(
    ("word", "changes"),
    [
        ("bandwidth", {"bandwidth_utilisation": 0.6}),
        ("launch", {"launches": 157}),  # 1e6 cycles are 156.25 launches of 2 x 8 x 400
        ("latency", {"launches": 156}),
        ("hash port", {"unit": "scu", "counters": SCU_STALLS}),
        ("hash port", {"unit": "scu", "counters": {**SCU_STALLS, "scu_address_busy_cycles": 4.9e5}}),
        ("width", {"unit": "scu", "counters": {**SCU_STALLS, "scu_address_busy_cycles": 5e5}}),
        ("latency", {"unit": "scu", "counters": {**SCU_STALLS, "scu_stall_data_cycles": 31}}),
        ("network", {"unit": "scu", "counters": {**SCU_STALLS, "scu_stall_store_cycles": 31}}),
        (
            "stations",
            {"unit": "scu", "counters": {**SCU_STALLS, "scu_slice_probes": 1, "scu_slice_stall_sets_cycles": 31}},
        ),
        ("latency", {"unit": "scu", "counters": {**SCU_STALLS, "scu_slice_probes": 1}}),
        ("parts", {"unit": "scu", "counters": {**SCU_STALLS, "iscu_elements": 1}}),
        ("lines", {"counters": {"mff_active_cycles": 5e5, "mff_stall_line_cycles": 3e5, "mff_stall_tag_cycles": 1}}),
        ("latency", {"counters": {"mff_active_cycles": 5e5, "mff_stall_line_cycles": 2e5}}),
        ("latency", {"counters": {"mff_active_cycles": 4e5, "mff_stall_line_cycles": 4e5}}),
        ("reorder", {"counters": {"iru_stall_ring_cycles": 5e5}}),
        ("latency", {"counters": {"iru_stall_ring_cycles": 4e5}}),
        ("balance", {"stall_stack": {"no_warp": 0.5, "memory": 0.3, "issue": 0.2}}),
        ("instructions", {"stall_stack": {"no_warp": 0.3, "memory": 0.3, "issue": 0.2, "alu": 0.2}}),
    ],
)
def test_the_word_follows_from_the_longest_phase(word, changes):
    assert limit(run(**changes), run()) == word


def test_stalls_of_the_mff_are_a_mean_over_the_places_that_wait():
    many = Places(memory_units=16, engines=32)
    waits = run(counters={"mff_active_cycles": 1e6, "mff_stall_line_cycles": 7.9e6})
    assert limit(waits, run(), many) == "latency", "each memory unit waits for less than half of the time"
    assert limit(run(counters={"mff_active_cycles": 1e6, "mff_stall_line_cycles": 8e6}), run(), many) == "lines"
    both = {"mff_active_cycles": 1e6, "mff_stall_line_cycles": 9e6, "mff_stall_register_cycles": 17e6}
    assert limit(run(counters=both), run(), many) == "lines", "17 million over 32 engines are fewer than 9 over 16"


def test_a_unit_that_is_faster_per_edge_but_touches_more_is_held_back_by_its_algorithm():
    software = run()
    more = run() | {"work": {"edges_touched": 200}, "seconds": 1.9}
    assert limit(more, software) == "algorithm"
    assert limit(more | {"seconds": 2.1}, software) == "latency", "slower per edge as well"
    assert limit(more | {"work": {"edges_touched": 199}}, software) == "latency"
    probed = {"work": {"edges_touched": 9}, "counters": {"scu_hash_probes": 200}}
    assert limit(more | probed, software) == "algorithm", "the SCU hands on few edges, but has gone through all"


# The map and the table


def three_cells():
    facts = {"nodes": 5, "arcs": 9, "origin": "stand-in"}
    limits = {"MFF": "lines", "SCU": "width"}
    return [
        cell({"frontier": 2.0, "SCU": 3.0, "MFF": 1.0}, "ca", size="ca@1/4", facts=facts, limits=limits),
        cell({"frontier": 2.0, "MFF": 4.0}, "ca", "gtx980", "sssp", size="ca@1/8", facts=facts, limits=limits),
        cell({"frontier": 2.0, "SCU": 1.0}, "cond", "tx1", size="cond", facts={**facts, "origin": "real"}),
    ]


def test_cells_say_winner_gain_and_what_holds_back_the_nearest_unit():
    rows = heat_rows(three_cells())
    assert [row["says"] for row in rows] == ["M 2.00 (1/4)", "p 0.50 (1/8)\nM: lines", "S 2.00"]
    assert [row["GPU"] for row in rows] == ["GTX 980: a unit wins 1 of 2"] * 2 + ["Tegra X1: a unit wins 1 of 1"]
    assert labels_of(three_cells()) == {"ca": "ca", "cond": "cond, real"}


def test_units_are_summed_up_by_what_holds_them_back():
    rows = {(row["gpu"], row["unit"]): row for row in unit_rows(three_cells()[:2])}
    assert rows["gtx980", "MFF"] == {
        "gpu": "gtx980", "unit": "MFF", "pairs": 2, "ahead": 1, "held back by": "lines 1",
    }  # fmt: skip
    assert rows["gtx980", "SCU"]["held back by"] == "width 1" and ("gtx980", "IRU") not in rows


def test_the_table_has_every_units_gain(tmp_path):
    write_csv(three_cells(), tmp_path / "t.csv")
    rows = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert rows == [{k: str(v) for k, v in row.items()} for row in table_rows(three_cells())]
    assert rows[0]["SCU"] == "0.667" and rows[0]["SCU, limit"] == "width" and rows[1]["SCU"] == ""


def test_colours_are_as_far_from_white_for_twice_as_for_half():
    assert shade(1.0) == 0.5 and shade(2.0) - 0.5 == pytest.approx(0.5 - shade(0.5)) and shade(2.0) > 0.8
    assert shade(3.0) == pytest.approx(1.0) and shade(30.0) == 1.0 and shade(0.0) == 0.0
    assert shade(6.0, reference=6.0) == 0.5


def test_the_map_is_drawn_on_page_and_picture(tmp_path):
    figure = heat_figure(three_cells(), "which-unit", "Which?")
    assert save(figure.matplotlib(), tmp_path / "map.svg").read_text().count("M: lines") == 1
    page = page_text(Report("t", [figure]))
    assert '"kind":"heat"' in page and "M: lines" in page


# One real pair


def test_a_real_pair_from_the_store(tmp_path):
    from warpsift.store.store import Store
    from warpsift.studies.stored_runs import StoredRuns
    from warpsift.sweep import SweepOptions, run_sweep

    case = ("gtx980", "bfs", "cond")
    asked = which_unit.wanted(case, TINY)
    run_sweep(asked.values(), tmp_path / "one.db", SweepOptions(workers=1, quiet=True))
    with Store(tmp_path / "one.db", readonly=True) as store:
        runs = StoredRuns(list(store.records()), "")
    (found,) = which_unit.stored_cells(runs, (256, 512))
    assert (found.gpu, found.algorithm, found.graph) == case and found.size == "cond@1/512"
    assert set(found.values) == set(asked) and set(found.limits) == set(CONTENDERS)
    assert all(found.limits.values()) and found.values[found.best_software] > 0
    assert found.possible == len(asked) and not found.smaller and not found.halves
    (joules,) = which_unit.stored_cells(runs, (512,), joules_of)
    assert joules.values["SCU"] == pytest.approx(runs.priced(asked["SCU"]).result["energy_by_gpu_idle"]["power_gate"])
    assert not joules.limits and "software uJ" in table_rows([joules])[0]


def test_stores_without_a_complete_pair_are_told(tmp_path):
    from warpsift.store.store import Store

    with Store(tmp_path / "empty.db"):
        pass
    done = call("study", "which-unit", "--store", str(tmp_path / "empty.db"))
    assert done.returncode == 2
    assert "make one with 'warpsift reproduce which-unit --scale medium'" in " ".join(complaints(done.stderr))
