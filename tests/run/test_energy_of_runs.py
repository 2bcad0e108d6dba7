"""Energy of whole runs: between the board's idle and its TDP, flits paid once, as stored, and compared."""

from __future__ import annotations

import json

import pytest

from support.command_line import call
from warpsift import simulate
from warpsift.costs.coefficients import gpu_table
from warpsift.costs.cost_errors import CostError, CostNameError
from warpsift.costs.energy import GPU_IDLE
from warpsift.costs.sensitivity import ALL_STATIC, conclude
from warpsift.graph import load_graph
from warpsift.machines import load_machine, machine_names
from warpsift.run.comparison import compare
from warpsift.run.request import make_request
from warpsift.run.run_energy import has_prices, prices_of
from warpsift.store.stored_energy import energy_of_stored, repriced
from warpsift.sweep import SweepOptions, run_sweep

PRICED = [name for name in machine_names() if has_prices(load_machine(name))]


@pytest.fixture(scope="module")
def graph():
    return load_graph("kron-9")


def test_the_papers_machines_have_prices():
    assert {"gtx980", "tx1", "gtx480"} <= set(PRICED)


@pytest.mark.parametrize("gpu", PRICED)
def test_power_of_a_plain_run_lies_between_idle_and_tdp(gpu, graph):
    limits = prices_of(load_machine(gpu)).limits
    for algorithm, choices in (("bfs", {}), ("sssp", {}), ("pagerank", {"style": "vertex", "max_iterations": 1})):
        watts = simulate(algorithm, graph, gpu=gpu, check=False, **choices).power_watts
        idle = limits.get("idle_w", 0.0)  # the fitted column of the titanx has no measurement at rest
        assert idle < watts < limits["tdp_w"], algorithm


@pytest.fixture(scope="module")
def fast_forward(graph):
    return simulate("pagerank", graph, gpu="gtx480", unit="mff", max_iterations=1)


def test_flits_of_commands_and_words_are_paid_once(fast_forward):
    """They are packets of the two networks, so they are among the flits sent; their own counters have no price."""
    counters = fast_forward.timing["counters"]
    assert 0 < counters["mff_command_flits"] < counters["request_flits_sent"]
    assert 0 < counters["mff_reply_flits"] < counters["reply_flits_sent"]
    sent = counters["request_flits_sent"] + counters["reply_flits_sent"]
    price = gpu_table("gtx480").coefficients["noc_flit"].value
    assert fast_forward.energy_by_component["noc"] == pytest.approx(sent * price)


@pytest.mark.parametrize(("gpu", "unit"), [("gtx480", "mff"), ("tx1", "scu")])
def test_phases_add_up_to_the_run(gpu, unit, graph):
    """But for the lanes of floating-point instructions, which are taken from the average of what is summed."""
    run = simulate("bfs", graph, gpu=gpu, unit=unit)
    phases = [phase.energy for phase in run.phases]
    assert sum(phase.energy_joules for phase in phases) == pytest.approx(run.energy_joules, rel=1e-3)
    for mode in GPU_IDLE:
        parts = sum(phase.energy_by_gpu_idle[mode] for phase in phases)
        assert parts == pytest.approx(run.energy_by_gpu_idle[mode], rel=1e-3)
    assert sum(run.power_by_component.values()) == pytest.approx(run.power_watts)


def test_a_stored_run_tells_the_same_energy(tmp_path):
    wanted = make_request("bfs", "kron-9", {"gpu": "tx1", "unit": "scu", "overrides": {"costs.board": "2.0"}})
    record = run_sweep([wanted], tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))[wanted]
    for mode in GPU_IDLE:
        again = energy_of_stored(record, mode)
        assert again.energy_joules == pytest.approx(record.result["energy_by_gpu_idle"][mode], rel=1e-3)
    assert again.energy_by_component["static.board"] == pytest.approx(2.0 * record.result["seconds"])
    unit = energy_of_stored(record, "none", phase=record.result["phases"][0]["phase"])
    assert 0 < unit.energy_joules < again.energy_joules


def test_a_run_of_other_days_is_repriced(tmp_path):
    """What a store says of joules counts for nothing; its counters do."""
    wanted = make_request("bfs", "kron-9", {"gpu": "tx1", "unit": "scu"})
    record = run_sweep([wanted], tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))[wanted]
    stale = {**record.result, "energy_joules": 1.0, "energy_by_gpu_idle": {}}
    stale["phases"] = [{**phase, "energy_joules": 1.0} for phase in record.result["phases"]]
    again = repriced(record._replace(result=stale))
    assert again["energy_joules"] == pytest.approx(record.result["energy_joules"], rel=1e-3)
    assert sum(phase["energy_joules"] for phase in again["phases"]) == pytest.approx(again["energy_joules"])
    assert again["static_joules"] == pytest.approx(record.result["static_joules"], rel=1e-3)
    for phase in again["phases"]:
        assert sum(phase["energy_by_component"].values()) == pytest.approx(phase["energy_joules"])
    counted = make_request("bfs", "kron-9", {})
    plain = run_sweep([counted], tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))[counted]
    assert repriced(plain) == plain.result, "nothing was timed, so there is nothing to price"


def test_idle_sms_of_a_run_are_not_charged_as_running(graph):
    run = simulate("bfs", graph, gpu="gtx980")
    counters, watts = run.timing["counters"], run.power_by_component
    share = counters["sm_active_cycles"] / (16 * counters["cycles"])
    assert share < 0.9, "a graph of 512 nodes does not fill 16 SMs"
    prices = gpu_table("gtx980").coefficients
    assert watts["static.sm_clock"] == pytest.approx(share * prices["sm_clock"].value)
    assert watts["static.sm_idle"] == pytest.approx((1 - share) * prices["sm_idle"].value)


def test_a_sweep_over_sms_pays_for_them(graph):
    few, many = (simulate("bfs", graph, gpu="gtx980", overrides={"sm.count": n}) for n in (8, 46))
    leakage = [run.power_by_component["static.sm_leakage"] for run in (few, many)]
    assert leakage[1] == pytest.approx(46 / 8 * leakage[0])
    assert "energy" not in many.notes
    larger = simulate("bfs", graph, gpu="gtx980", overrides={"l1.size_bytes": 65536})
    assert larger.notes["energy"] == "l1.size_bytes = 65536: an L1 access is priced as one of 32768 bytes"


def test_gpu_idle_is_an_option(graph):
    run = simulate("bfs", graph, gpu="tx1", unit="scu", overrides={"costs.gpu_idle": "power_gate"})
    assert run.energy_joules == pytest.approx(run.energy_by_gpu_idle["power_gate"])
    assert run.energy_joules < run.energy_by_gpu_idle["none"]
    with pytest.raises(CostNameError, match="unknown gpu_idle 'off'"):
        simulate("bfs", graph, gpu="tx1", unit="scu", overrides={"costs.gpu_idle": "off"})
    with pytest.raises(CostError, match=r"costs.board = 'much' is not a number; write joules or watts"):
        simulate("bfs", graph, gpu="tx1", overrides={"costs.board": "much"})


def test_savings_follow_the_stage_that_is_measured(graph):
    """The MFF's is the compute stage, in time and in energy alike; the SCU's is the whole run."""
    rows = {
        (r["unit"], r["style"]): r
        for r in compare("bfs", graph, ["none", "scu", "mff"], gpu="gtx480").as_dict()["units"]
    }
    unit, plain = rows["scu", "frontier"], rows["none", "frontier"]
    assert unit["energy_reduction"] == pytest.approx(plain["energy_joules"] / unit["energy_joules"])
    assert unit["energy_reduction_by_gpu_idle"]["none"] == pytest.approx(unit["energy_reduction"])
    assert unit["energy_reduction_by_gpu_idle"]["power_gate"] > unit["energy_reduction"]
    vertex = rows["mff", "vertex"]
    assert vertex["energy_reduction"] > vertex["energy_reduction_of_all_phases"] > 1


def test_sensitivity_of_a_comparison_matches_new_runs(graph):
    """What the table says of a doubled price is what a run with that price gives."""
    entry = compare("bfs", graph, ["none", "scu"], gpu="tx1").entries[1]
    found = entry.sensitivity()
    rows = {row["coefficient"]: row for row in found["coefficients"]}
    for name in ("sm_leakage", "noc_flit"):
        doubled = {f"costs.{name}": 2 * gpu_table("tx1").coefficients[name].value}
        again = compare("bfs", graph, ["none", "scu"], gpu="tx1", overrides=doubled).entries[1].as_dict()
        assert again["energy_reduction"] == pytest.approx(rows[name]["doubled"])
    conclusion = found["conclusion"]
    tried = [row[key] for row in rows.values() for key in ("halved", "doubled")]
    assert (conclusion.lowest, conclusion.highest) == (min(tried), max(tried))
    assert ALL_STATIC in rows


def test_a_conclusion_that_one_price_turns():
    from warpsift.costs.energy import Charge, EnergyReport

    def report(**joules):
        charges = tuple(Charge(name, f"x.{name}", 1.0, j, 1.0, 1.0, "model") for name, j in joules.items())
        return EnergyReport("m", None, "none", 1.0, charges)

    plain = report(a=10.0, b=2.0)
    close = conclude([(plain, report(a=5.0, b=6.0))])
    assert close.saving == pytest.approx(12 / 11) and not close.survives
    assert (close.lowest, close.lowest_by) == (pytest.approx(7 / 8.5), "a x 0.5")
    assert close.text == "saves energy: turned by a x 0.5"
    clear = conclude([(plain, report(a=2.0, b=1.0))])
    assert clear.survives and clear.text == "saves energy: survives"
    both = conclude([(plain, report(a=5.0, b=6.0)), (plain, report(a=2.0, b=1.0))])
    assert both.saving == pytest.approx((12 / 11 * 4) ** 0.5)


def test_command_line(tmp_path):
    words = ("compare", "bfs", "--graph", "kron-8", "--gpu", "tx1", "--units", "none,scu", "--sensitivity")
    shown = call(*words).stdout
    for word in ("static", "dram", "GPU / unit", "least certain", "SMs power-gated meanwhile", "x 0.5", "survives"):
        assert word in shown, word
    units = json.loads(call(*words, "--json").stdout)["units"]
    for unit in units:
        assert sum(unit["energy_by_component"].values()) == pytest.approx(unit["energy_joules"])
        assert unit["gpu_joules"] + unit["unit_joules"] == pytest.approx(unit["energy_joules"])
        assert set(unit["energy_by_gpu_idle"]) == set(GPU_IDLE)
        assert 0 < unit["least_certain"]["share"] < 1
        assert unit["power_watts"] * unit["seconds"] == pytest.approx(unit["energy_joules"])
    assert units[0]["sensitivity"] is None and units[1]["sensitivity"]["conclusion"]["survives"] in (True, False)
