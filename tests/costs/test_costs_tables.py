"""Cost tables: complete, sourced, and strict about typing errors."""

import copy

import pytest

from warpsift.costs import coefficients, show
from warpsift.costs.coefficients import gpu_table, parse, prices_in
from warpsift.costs.cost_errors import CostNameError, CostTableError
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
            "gpu.toml: unknown key 'evnt'. Did you mean 'event'? Known: description, dram, event, limits, power, "
            "technology.",
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
    for name in ("gtx980", "tx1", "gtx480"):
        events = [p for p in gpu_table(name).coefficients.values() if p.unit == "J"]
        assert not any("Wattch" in price.source for price in events)
    for name in ("gtx980_accelwattch", "gtx480_gpuwattch", "titanx"):
        events = [p for p in gpu_table(name).coefficients.values() if p.unit == "J"]
        assert not any("CACTI" in price.source or "Horowitz" in price.source for price in events)


def test_a_variant_has_the_prices_of_its_card():
    assert gpu_table("gtx480-gpgpusim4") is gpu_table("gtx480")


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
    with pytest.raises(CostNameError, match=r"^unknown coefficient of gtx980 'bord'. Did you mean 'board'\?"):
        gpu_table("gtx980").override({"bord": 1.0})
    with pytest.raises(CostTableError, match="a cost cannot be negative"):
        gpu_table("gtx980").override({"board": -1.0})


def test_show_prints_every_coefficient_with_its_source():
    rows = show.rows("gtx980", unit_named("scu").prices())
    assert {r["coefficient"] for r in rows} >= {"lane_instruction", "dram_activate", "board", "scu_hash"}
    printed = show.text("gtx980", unit_named("scu").prices())
    for row in rows:
        assert row["coefficient"] in printed and row["source"] in printed
