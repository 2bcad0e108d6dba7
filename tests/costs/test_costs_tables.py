"""Cost tables: complete, sourced, and strict about typing errors."""

import copy
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from warpsift.costs import coefficients, show
from warpsift.costs.coefficients import gpu_table, parse, prices_in
from warpsift.costs.cost_errors import CostNameError, CostTableError
from warpsift.costs.design import Design
from warpsift.machines import load_machine, machine_file, machine_names
from warpsift.run.run_energy import has_prices, inherited_prices, prices_of
from warpsift.units import unit_named
from warpsift.units.registry import units

GOOD = {
    "technology": {"node_nm": 32, "voltage_v": 0.9, "source": "test"},
    "event": {
        "hit": {"pj": 2.0, "node_nm": 45, "voltage_v": 0.9, "source": "s", "trust": "model", "low": 0.5, "high": 2.0}
    },
    "power": {"rest": {"w": 3.0, "source": "s", "trust": "measured", "low": 0.9, "high": 1.1}},
}


def parsed(**changes):
    data = copy.deepcopy(GOOD)
    for path, value in changes.items():
        *outer, last = path.split("__")
        place = data
        for key in outer:
            place = place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return parse("gpu", data, ["hit"], ["rest"])


def test_a_good_table():
    table = parsed()
    assert table.coefficients["hit"].value == pytest.approx(2e-12 * 0.6541, rel=1e-3)
    assert table.coefficients["rest"].value == 3.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"event__hit__pJ": 1.0},
            "gpu.toml, [event.hit]: unknown key 'pJ'. Did you mean 'pj'? Known: cacti, high, low, node_nm, pj, scale, "
            "source, trust, voltage_v, wire.",
        ),
        ({"event__hit": None}, "gpu.toml: [event.hit] is missing; every event of this table needs a price."),
        (
            {"event__hitt": {}},
            "gpu.toml: unknown event entry 'hitt'. Did you mean 'hit'? Known: hit.",
        ),
        (
            {"event__hit__source": None},
            "gpu.toml, [event.hit]: 'source' is missing; every number carries its source and its range.",
        ),
        (
            {"event__hit__node_nm": None},
            "gpu.toml, [event.hit]: 'node_nm' is missing; say for which technology 2 pJ holds.",
        ),
        (
            {"event__hit__pj": None},
            "gpu.toml, [event.hit]: no energy; write pj = ..., cacti = [...] or wire = {...}.",
        ),
        (
            {"event__hit__low": 1.5},
            "gpu.toml, [event.hit]: low = 1.5 and high = 2 must be factors around 1, such as low = 0.5, high = 2.0.",
        ),
        (
            {"event__hit__trust": "guess"},
            "gpu.toml, [event.hit]: unknown trust 'guess'. Known: assumption, derived, measured, model, published.",
        ),
        (
            {"power__rest__w": -1.0},
            "gpu.toml, [power.rest]: 'w' must be a power in watts, not negative, such as w = 12.5.",
        ),
        ({"technology__source": None}, "gpu.toml, [technology]: 'source' is missing; every table must state it."),
        (
            {"evnt": {}},
            "gpu.toml: unknown key 'evnt'. Did you mean 'event'? Known: description, design, dram, event, limits, "
            "power, technology.",
        ),
    ],
)
def test_typing_errors_are_named(changes, message):
    with pytest.raises(CostTableError) as error:
        parsed(**changes)
    assert str(error.value) == message


@pytest.mark.parametrize("name", coefficients.names())
def test_every_shipped_number_has_a_source_and_a_range(name):
    for price in gpu_table(name).coefficients.values():
        assert len(price.source) > 10 and price.how
        assert 0 < price.low <= 1 <= price.high


def test_the_papers_machines_have_tables():
    assert {"gtx980", "tx1", "gtx480"} <= set(coefficients.names())


def test_columns_of_power_models_are_not_mixed():
    """A bottom-up table takes no event energy from a fitted power model, and a fitted column takes no CACTI."""
    for name in ("gtx980", "tx1", "gtx480", "v100"):
        events = [p for p in gpu_table(name).coefficients.values() if p.unit == "J"]
        assert not any("Wattch" in price.source for price in events)
    for name in ("gv100_accelwattch", "gtx480_gpuwattch", "titanx"):
        events = [p for p in gpu_table(name).coefficients.values() if p.unit == "J"]
        assert not any("CACTI" in price.source or "Horowitz" in price.source for price in events)


@pytest.mark.parametrize("name", [n for n in machine_names() if n in coefficients.names()])
def test_a_table_holds_for_the_machine_of_its_name(name):
    made_for, machine = gpu_table(name).design, Design.of(load_machine(name))
    if name == "v100":  # the table's watts were measured on a Quadro GV100, at another clock
        made_for = replace(made_for, core_mhz=machine.core_mhz)
    assert made_for == machine


def test_accelwattchs_one_fit_is_named_for_what_it_is():
    """Its file for the TITAN X is the GV100's; the two columns differ in nothing but the number of SMs."""
    titanx, gv100 = gpu_table("titanx"), gpu_table("gv100_accelwattch")
    for name, price in gv100.coefficients.items():
        by_sms = name in ("sm_clock", "sm_idle")
        assert titanx.coefficients[name].value == pytest.approx(price.value * (28 / 80 if by_sms else 1), rel=1e-3)
    assert "unsupported for this card" in titanx.description
    for table in map(gpu_table, coefficients.names()):
        for price in table.coefficients.values():
            assert "TITAN X Pascal" not in price.source


def test_what_a_fitted_column_copies_is_said():
    ours, column = gpu_table("gtx480").coefficients, gpu_table("gtx480_gpuwattch").coefficients
    for name in ("board", "sm_leakage", "l2_leakage", "uncore_leakage", "sm_clock", "memory_interface"):
        assert column[name].value == ours[name].value
        assert column[name].source == "copied from gtx480.toml, not GPUWattch's"


def test_a_variant_has_the_prices_of_its_card():
    assert prices_of(load_machine("gtx480-gpgpusim4")) is gpu_table("gtx480")
    assert prices_of(load_machine("titanx")) is gpu_table("titanx")  # not those of what it extends


def own_machine(folder, text, name="mine"):
    path = folder / f"{name}.toml"
    path.write_text(text)
    return str(path)


def test_a_machine_that_extends_another_has_its_prices(tmp_path):
    first = own_machine(tmp_path, 'extends = "tx1"\n[sm]\ncount = 4\n', "first")
    second = load_machine(own_machine(tmp_path, 'extends = "first"\n', "second"))
    assert prices_of(load_machine(first)) is prices_of(second) is gpu_table("tx1")
    named = own_machine(tmp_path, 'extends = "tx1"\nprices = "gtx980"\n', "named")
    assert prices_of(load_machine(named)) is gpu_table("gtx980")
    assert prices_of(load_machine("tx1", {"prices": "gtx980"})) is gpu_table("gtx980")


def test_inherited_prices_are_said(tmp_path):
    """A machine may extend one of another technology; one that names its prices says that they hold."""
    said = "prices are those of v100 (16 nm, 0.85 V), which a100 extends: another technology is not followed"
    assert inherited_prices(load_machine("a100")) == (said,)
    mine = own_machine(tmp_path, 'extends = "tx1"\n')
    assert inherited_prices(load_machine(mine))[0].startswith(
        "prices are those of tx1 (20 nm, 1.05 V), which mine extends"
    )
    named = own_machine(tmp_path, 'extends = "tx1"\nprices = "tx1"\n', "named")
    assert inherited_prices(load_machine(named)) == inherited_prices(load_machine("gtx980")) == ()
    for variant in ("gtx480-gpgpusim3", "gtx980-gpgpusim3", "tx1-gpgpusim3-256", "m60", "titanx"):
        assert inherited_prices(load_machine(variant)) == (), variant


def test_a_machine_may_have_a_table_of_its_own(tmp_path):
    folder = resources.files("warpsift.costs") / "tables"
    text = (folder / "gtx980.toml").read_text().replace("w = 15.76", "w = 9.0")
    own_machine(tmp_path, text, "my_prices")
    machine = load_machine(own_machine(tmp_path, 'extends = "gtx980"\nprices = "my_prices.toml"\n'))
    assert prices_of(machine).coefficients["board"].value == 9.0
    own_machine(tmp_path, text.replace("[design] ", "[desing] "), "my_prices")
    with pytest.raises(CostTableError, match=r"my_prices.toml: \[design\] is missing; say for which machine"):
        prices_of(machine)


def test_a_machine_without_a_source_says_how_to_give_one(tmp_path):
    text = (Path(machine_file.__file__).parent / "gtx980.toml").read_text()
    machine = load_machine(own_machine(tmp_path, text))
    assert not has_prices(machine)
    with pytest.raises(CostNameError) as error:
        prices_of(machine)
    assert str(error.value) == (
        "no prices for machine 'mine': neither it nor a machine that it extends has a cost table. Write "
        'prices = "gtx980" in its file (or --set prices=gtx980) to take those of a shipped table, scaled to its SMs, '
        f'L2 and channels ({", ".join(coefficients.names())}), or prices = "mine.toml" for a table of its own '
        "(docs/energy.md: a table of your own)"
    )


def test_unknown_names():
    with pytest.raises(CostNameError, match=r"^unknown machine in the cost tables 'gtx981'. Did you mean 'gtx980'\?"):
        gpu_table("gtx981")


def test_a_unit_without_prices_is_told(tmp_path):
    with pytest.raises(CostTableError, match=r"^prices of unit 'x': .*prices\.toml"):
        prices_in(tmp_path, "x", ())


@pytest.mark.parametrize("name", units())
def test_every_price_of_a_unit_has_a_source_and_a_range(name):
    for price in unit_named(name).prices().coefficients.values():
        assert len(price.source) > 10 and price.how
        assert 0 < price.low <= 1 <= price.high


def test_overrides():
    table = gpu_table("gtx980").override({"board": 20.0})
    assert table.coefficients["board"].value == 20.0
    assert gpu_table("gtx980").coefficients["board"].value == 15.76
    with pytest.raises(CostNameError, match=r"^unknown coefficient of gtx980 'bord': did you mean 'board'\?"):
        gpu_table("gtx980").override({"bord": 1.0})
    with pytest.raises(CostTableError, match="a cost cannot be negative"):
        gpu_table("gtx980").override({"board": -1.0})


def test_show_prints_every_coefficient_with_its_source():
    tables = gpu_table("gtx980"), unit_named("scu").prices()
    rows = show.rows(*tables)
    assert {r["coefficient"] for r in rows} >= {"lane_instruction", "dram_activate", "board", "scu_hash"}
    printed = show.text(*tables)
    for row in rows:
        assert row["coefficient"] in printed and row["source"] in printed
