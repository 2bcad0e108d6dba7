"""Energy of a run: conservation, bounds by the boards' own powers, gpu_idle, sensitivity."""

import json
from dataclasses import replace

import pytest

from warpsift.costs import ceilings, sensitivity
from warpsift.costs.coefficients import gpu_table
from warpsift.costs.cost_errors import CostError, CostNameError
from warpsift.costs.design import Design
from warpsift.costs.energy import GPU_IDLE, combine, energy, joules_by_coefficient
from warpsift.costs.events import DRAM_EVENTS, GPU_EVENTS, GPU_POWERS, REGISTER_ROWS, with_seconds
from warpsift.engine.counters import MEANING
from warpsift.machines import load_machine
from warpsift.units import unit_named
from warpsift.units.registry import units

MACHINES = ("gtx980", "tx1", "gtx480")


def built(unit="scu", **overrides):
    """A unit as it is built in a machine."""
    settings = {key.replace("__", "."): value for key, value in overrides.items()}
    return unit_named(unit).built(load_machine("gtx980", settings))


def design(machine="gtx980", **overrides):
    return Design.of(load_machine(machine, {key.replace("__", "."): value for key, value in overrides.items()}))


def static_watts(machine="gtx980", **overrides):
    return energy({"seconds": 1.0}, machine, design=design(machine, **overrides)).static_joules


def counters(machine, load=0.2, seconds=1e-3):
    """A memory-bound kernel: a share of the machine's lanes busy, half its bandwidth used."""
    limits, dram = gpu_table(machine).limits, gpu_table(machine).dram
    lanes = limits["lanes"] * limits["clock_ghz"] * 1e9 * seconds * load
    warps = lanes / 24  # not all lanes are active
    channels = dram["devices"] / dram["devices_per_channel"]
    columns = 0.5 * limits["bandwidth_gb_per_s"] * 1e9 * seconds / dram["access_bytes"]
    return {
        "seconds": seconds,
        "warp_instructions": warps,
        "thread_instructions": lanes,
        "alu_instructions": 0.7 * warps,
        "load_instructions": 0.3 * warps,
        "l1_read_misses": columns,
        "request_flits_sent": columns,
        "reply_flits_sent": columns,
        "l2_read_misses": columns,
        "l2_fills": columns,
        "dram_reads": columns,
        "dram_activates": columns / 3,
        "dram_refreshes": channels * seconds / 3.9e-6,
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_sum_of_components_is_the_total(machine):
    run = {**counters(machine), "scu_addresses": 1e6, "gpu_waiting_seconds": 4e-4}
    report = energy(run, machine, built())
    assert sum(report.energy_by_component.values()) == pytest.approx(report.energy_joules)
    assert report.gpu_joules + report.unit_joules == pytest.approx(report.energy_joules)
    assert sum(joules_by_coefficient(report).values()) == pytest.approx(report.energy_joules)
    assert report.power_watts * report.seconds == pytest.approx(report.energy_joules)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("load", [0.02, 0.2, 0.5])
def test_power_of_a_plain_run_lies_between_idle_and_tdp(machine, load):
    limits = gpu_table(machine).limits
    assert limits["idle_w"] < energy(counters(machine, load), machine).power_watts < limits["tdp_w"]


@pytest.mark.parametrize("machine", MACHINES)
def test_every_lane_busy_comes_near_the_tdp_but_not_above(machine):
    """Peak arithmetic from bottom-up energies: a check that no table was made to pass (GTX 980: 161 of 165 W)."""
    limits = gpu_table(machine).limits
    lanes = limits["lanes"] * limits["clock_ghz"] * 1e9
    run = {
        "seconds": 1.0,
        "warp_instructions": lanes / 32,
        "alu_instructions": lanes / 32,
        "thread_instructions": lanes,
        "float_thread_instructions": lanes,
    }
    share = energy(run, machine).power_watts / limits["tdp_w"]
    assert share < 1.0
    if machine != "tx1":  # its 15 W are those of the module with its CPU
        assert share > 0.9


def test_one_event_by_hand():
    report = energy({"l2_atomic_operations": 1e9, "l2_read_hits": 1e9}, "gtx980")
    prices = gpu_table("gtx980").coefficients
    expected = 1e9 * (prices["l2_sector_read"].value + prices["l2_sector_write"].value)
    assert report.energy_by_component["l2"] == pytest.approx(expected)
    assert report.energy_joules == pytest.approx(expected)  # no time, nothing static


def test_missing_counters_count_as_zero():
    assert energy({}, "tx1").energy_joules == 0.0
    assert energy({}, "tx1").power_watts == 0.0


def test_register_accesses_follow_from_kinds_unless_counted():
    derived = energy({"alu_instructions": 10.0, "store_instructions": 5.0}, "gtx980")
    counted = energy({"register_accesses": 40.0}, "gtx980")
    key = "sm.register_file"
    assert derived.energy_by_component[key] == pytest.approx(counted.energy_by_component[key]) != 0.0


def test_float_lanes_follow_from_warp_instructions():
    run = {"warp_instructions": 10.0, "thread_instructions": 160.0, "float_instructions": 4.0}
    prices = gpu_table("gtx980").coefficients
    expected = 64 * prices["float_lane_op"].value + 96 * prices["integer_lane_op"].value
    assert energy(run, "gtx980").energy_by_component["sm.alu"] == pytest.approx(expected)


def test_time_from_cycles():
    run = with_seconds({"cycles": 1000}, core_mhz=1270, waiting_cycles=250)
    assert run["seconds"] == pytest.approx(1000 / 1.27e9)
    assert energy(run, "gtx980").seconds == run["seconds"]
    assert run["gpu_waiting_seconds"] == pytest.approx(run["seconds"] / 4)


def test_charged_counters_are_counters_of_the_engine():
    """A price on a name that nobody counts would silently cost nothing."""
    named = {name for event in (*GPU_EVENTS, *DRAM_EVENTS) for name in event.counters}
    derived = {"register_accesses", "integer_thread_instructions", "float_thread_instructions"}
    assert named - derived <= set(MEANING)
    assert set(REGISTER_ROWS) <= set(MEANING)
    assert {"dram_row_open_clocks", "dram_powered_down_clocks"} <= set(MEANING)


@pytest.mark.parametrize("name", units())
def test_charged_counters_of_a_unit_are_its_own_or_the_engines(name):
    unit = unit_named(name)
    own = {counter for component in unit.components() for counter in component.counters}
    charged = {counter for event in unit.events() for counter in event.counters}
    assert charged and charged <= own | set(MEANING)
    parts = unit.built(load_machine("gtx980"))
    assert [event for part in parts for event in part.events] == list(unit.events())
    for part in parts:
        assert {event.coefficient for event in part.events} <= set(part.prices.coefficients)
        assert all(event.component.startswith(f"{part.name}.") for event in part.events)


def test_idle_machine_pays_its_static_power_only():
    report = energy({"seconds": 2.0}, "gtx980")
    assert report.static_joules == pytest.approx(report.energy_joules)
    powers = gpu_table("gtx980").coefficients
    expected = 2 * (sum(powers[n].value for n in GPU_POWERS if n != "sm_idle") + 8 * 0.675)
    assert report.energy_joules == pytest.approx(expected)  # without a count of active SMs, all of them are


@pytest.mark.parametrize("machine", MACHINES)
def test_static_power_of_the_shipped_machine_is_what_its_table_says(machine):
    powers, dram = gpu_table(machine).coefficients, gpu_table(machine).dram
    expected = sum(powers[n].value for n in GPU_POWERS if n != "sm_idle")
    expected += dram["devices"] * powers["dram_background_active"].value
    assert static_watts(machine) == pytest.approx(expected)
    report = energy({"seconds": 1.0}, machine, design=design(machine))
    assert report.notes == ()


def test_static_power_follows_the_design():
    """Per SM, per L2 byte, per channel; the board does not move."""
    powers, plain = gpu_table("gtx980").coefficients, static_watts()
    by_sm = powers["sm_leakage"].value + powers["sm_clock"].value
    assert static_watts(sm__count=46) - plain == pytest.approx(30 / 16 * by_sm)
    assert static_watts(sm__count=8) - plain == pytest.approx(-by_sm / 2)
    assert static_watts(l2__size_bytes=8 << 20) - plain == pytest.approx(3 * powers["l2_leakage"].value)
    by_channel = powers["memory_interface"].value + 8 * powers["dram_background_active"].value
    assert static_watts(dram__channels=4) - plain == pytest.approx(-by_channel / 2)
    assert static_watts(dram__channels=16) - plain == pytest.approx(by_channel)
    assert static_watts(clocks__core_mhz=635) - plain == pytest.approx(-powers["sm_clock"].value / 2)


def test_what_a_table_cannot_follow_is_said():
    def notes(table, **overrides):
        return energy({"seconds": 1.0}, table, design=design(**overrides)).notes

    assert notes("gtx980", sm__count=46) == ()
    assert notes("gtx980", l1__size_bytes=65536) == (
        "l1.size_bytes = 65536: an L1 access is priced as one of 32768 bytes",
    )
    (slices,) = notes("gtx980", l2__size_bytes=8 << 20)
    assert slices == "an L2 slice of 524288 bytes: an access is priced as one of 131072 bytes"
    (clock,) = notes("gtx980", clocks__core_mhz=635)
    assert "clock power follows the clock; leakage and energies per event stay those of 1.2 V" in clock
    found = notes("gv100_accelwattch")  # a column whose constant power holds the memory interface
    assert any(n.startswith("dram.channels = 8 (prices: 32): memory_interface of gv100_accelwattch") for n in found)


def test_idle_sms_are_charged_their_own_price():
    powers = gpu_table("gtx980").coefficients
    half = energy({"seconds": 1.0, "sm_active_seconds": 8.0}, "gtx980").energy_by_component  # 8 of 16 SMs
    assert half["static.sm_clock"] == pytest.approx(powers["sm_clock"].value / 2)
    assert half["static.sm_idle"] == pytest.approx(powers["sm_idle"].value / 2)
    assert half["static.sm_leakage"] == pytest.approx(powers["sm_leakage"].value)
    assert powers["sm_idle"].value < powers["sm_clock"].value
    run = with_seconds({"cycles": 1000, "sm_active_cycles": 4000}, 1270)
    share = energy(run, "gtx980").energy_by_component["static.sm_clock"] / run["seconds"]
    assert share == pytest.approx(powers["sm_clock"].value / 4)


def test_dram_background_by_state():
    dram = gpu_table("gtx980").dram
    clocks = dram["clock_mhz"] * 1e6 * 8  # one second, 8 channels of one device
    run = {"seconds": 1.0, "dram_powered_down_clocks": clocks / 2, "dram_row_open_clocks": clocks / 4}
    background = energy(run, "gtx980").energy_by_component["dram.background"]
    # Rows that are open stay open in power-down: IDD3P 0.465 W, not IDD2P 0.315 W
    assert background == pytest.approx(8 * (0.25 * 0.465 + 0.25 * 0.315 + 0.5 * 0.375))
    run = {"seconds": 1.0, "dram_powered_down_clocks": clocks / 4, "dram_row_open_clocks": clocks / 2}
    background = energy(run, "gtx980").energy_by_component["dram.background"]
    assert background == pytest.approx(8 * (0.25 * 0.465 + 0.25 * 0.675 + 0.5 * 0.375))


def test_gpu_idle_variants():
    run = {**counters("gtx980"), "gpu_waiting_seconds": 6e-4}
    unit = built()
    reports = {mode: energy(run, "gtx980", unit, gpu_idle=mode) for mode in GPU_IDLE}
    assert reports["none"].energy_joules > reports["clock_gate"].energy_joules > reports["power_gate"].energy_joules
    for mode, report in reports.items():
        for other in GPU_IDLE:
            assert report.energy_by_gpu_idle[other] == pytest.approx(reports[other].energy_joules), mode
    powers = gpu_table("gtx980").coefficients
    saved = reports["none"].energy_joules - reports["clock_gate"].energy_joules
    assert saved == pytest.approx(6e-4 * powers["sm_idle"].value)
    saved = reports["clock_gate"].energy_joules - reports["power_gate"].energy_joules
    assert saved == pytest.approx(6e-4 * 0.95 * powers["sm_leakage"].value)


def test_without_waiting_gating_changes_nothing():
    report = energy(counters("tx1"), "tx1")
    assert len({round(v, 15) for v in report.energy_by_gpu_idle.values()}) == 1


@pytest.mark.parametrize(("name", "counter"), [("scu", "scu_elements_stored"), ("mff", "mff_jobs")])
def test_units_are_charged_apart(name, counter):
    (unit,) = built(name)
    report = energy({"seconds": 1.0, counter: 1e9}, "gtx480", [unit])
    alone = energy({"seconds": 1.0, counter: 1e9}, "gtx480")
    assert report.gpu_joules == pytest.approx(alone.energy_joules)
    price = unit.prices.coefficients[{"scu": "scu_store", "mff": "mff_issue"}[unit.name]].value
    assert report.unit_joules == pytest.approx(1e9 * price + unit.leakage_w)


def test_parts_of_a_run_add_up():
    run = counters("gtx980")
    half = {name: value / 2 for name, value in run.items()}
    whole, parts = energy(run, "gtx980"), combine([energy(half, "gtx980")] * 2)
    assert parts.energy_joules == pytest.approx(whole.energy_joules)
    assert parts.energy_by_gpu_idle == pytest.approx(dict(whole.energy_by_gpu_idle))
    with pytest.raises(CostError, match="only reports of one machine"):
        combine([energy(run, "gtx980"), energy(run, "tx1")])


def test_access_size_of_dram():
    run = {"dram_reads": 1e6, "dram_activates": 1e5}
    small = energy(run, "gtx480", design=replace(design("gtx480"), dram_access_bytes=32))
    large = energy(run, "gtx480", design=design("gtx480"))
    assert large.energy_by_component["dram.read"] == pytest.approx(2 * small.energy_by_component["dram.read"])
    assert large.energy_by_component["dram.activate"] == small.energy_by_component["dram.activate"]


def test_sensitivity_of_energy_matches_overrides():
    run = counters("gtx980")
    report = energy(run, "gtx980")
    for row in sensitivity.of_energy(report)[:6]:
        price = gpu_table("gtx980").coefficients[row.coefficient].value
        for factor, expected in ((0.5, row.halved), (2.0, row.doubled)):
            again = energy(run, "gtx980", overrides={row.coefficient: factor * price})
            assert again.energy_joules == pytest.approx(expected), row.coefficient


def test_sensitivity_of_a_saving():
    run = counters("gtx980")
    unit = built()
    less = {name: value / 3 for name, value in run.items()} | {"scu_addresses": 1e5}
    before, after = energy(run, "gtx980"), energy(less, "gtx980", unit)
    rows = {row.coefficient: row for row in sensitivity.of_ratio(before, after)}
    saving = before.energy_joules / after.energy_joules
    assert rows["scu_fetch"].doubled < saving < rows["scu_fetch"].halved
    swings = [row.swing for row in sensitivity.of_ratio(before, after)]
    assert swings == sorted(swings, reverse=True)


def test_least_certain_number_and_range():
    report = energy(counters("gtx980"), "gtx980")
    low, high = report.range_joules
    assert low < report.energy_joules < high
    weakest = report.least_certain
    shares = {row.coefficient: row.share for row in sensitivity.of_energy(report)}
    assert weakest["share"] == pytest.approx(shares[weakest["coefficient"]])
    assert energy({}, "tx1").least_certain == {"coefficient": None, "share": 0.0, "trust": None}


def test_report_is_json():
    report = energy(counters("tx1"), "tx1", built(scu__width=1))
    data = json.loads(json.dumps(report.to_dict()))
    assert data["energy_joules"] == pytest.approx(report.energy_joules)
    assert set(data["energy_by_gpu_idle"]) == set(GPU_IDLE)
    assert sum(data["energy_by_component"].values()) == pytest.approx(data["energy_joules"])


def test_refusals():
    with pytest.raises(CostNameError) as error:
        energy({}, "gtx980", gpu_idle="clock_gated")
    assert str(error.value) == (
        "unknown gpu_idle 'clock_gated'. Did you mean 'clock_gate'? Known: clock_gate, none, power_gate."
    )
    with pytest.raises(CostError) as wrong:
        energy({"seconds": 1.0, "gpu_waiting_seconds": 2.0}, "gtx980")
    assert str(wrong.value) == ("gpu_waiting_seconds = 2 does not fit seconds = 1; write 0 <= waiting <= seconds.")


def test_ceilings_of_the_papers_claims():
    assert ceilings.static_share_limit(12.3, 1.41) == pytest.approx(0.115, abs=0.0005)
    assert ceilings.replaced_share_needed(4.65) == pytest.approx(0.785, abs=0.0005)
    assert ceilings.unit_floor_seconds(1, 2, 1, 1e9) == pytest.approx(2e-9)
    assert ceilings.unit_floor_seconds(1, 2, 4, 1.27e9) == pytest.approx(0.39e-9, abs=0.005e-9)
    assert ceilings.in_flight_floor_seconds(1, 32, 200e-9) == pytest.approx(6.25e-9)
    assert ceilings.reduction_limit(0.115, 1.41) == pytest.approx(12.26, abs=0.01)
    with pytest.raises(CostError, match="must be a share"):
        ceilings.reduction_limit(1.5, 1.0)
    with pytest.raises(CostError, match="speedup = 0 must be above 0"):
        ceilings.static_share_limit(2.0, 0.0)
