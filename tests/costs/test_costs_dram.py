"""DRAM power from currents, against published energies per bit and the powers of a device."""

import pytest

from warpsift.costs import dram_power
from warpsift.costs.cost_errors import CostNameError


@pytest.fixture(params=["gddr5", "lpddr4"])
def dram(request):
    return dram_power.device(request.param)


def test_gddr5_meets_its_published_14_pj_per_bit():
    """At the row locality of streams (256 B to a whole 2 KB row) and a well-used bus, all power over all bits."""
    dram = dram_power.device("gddr5")
    assert 11 < dram_power.total_pj_per_bit(dram, 2048) < 14
    assert dram_power.total_pj_per_bit(dram, 256, utilisation=0.9) == pytest.approx(14, rel=0.1)


def test_lpddr4_meets_its_published_4_pj_per_bit():
    dram = dram_power.device("lpddr4")
    assert dram_power.read_pj_per_bit(dram) + dram_power.io_pj_per_bit(dram) == pytest.approx(4, rel=0.1)
    assert dram_power.total_pj_per_bit(dram, 2048) == pytest.approx(4, rel=0.25)


def test_random_gathers_pay_for_their_rows(dram):
    assert dram_power.total_pj_per_bit(dram, 32) > 1.5 * dram_power.total_pj_per_bit(dram, 2048)


def test_states_are_ordered(dram):
    order = ("self_refresh", "power_down", "active_power_down", "active")
    powers = [dram_power.background_w(dram, state) for state in order]
    assert powers == sorted(powers)
    assert dram_power.background_w(dram, "precharged") <= powers[-1] < dram_power.peak_w(dram)


def test_gddr5_device_powers():
    """A GDDR5 device draws about a third of a watt idle and about two watts at full rate."""
    dram = dram_power.device("gddr5")
    assert dram_power.background_w(dram, "power_down") == pytest.approx(0.315)
    assert dram_power.peak_w(dram) == pytest.approx(2.0, rel=0.1)


def test_lpddr4_device_powers():
    """Two devices of the Tegra X1: milliwatts powered down, about a watt at 25.6 GB/s."""
    dram = dram_power.device("lpddr4")
    assert 2 * dram_power.background_w(dram, "power_down") < 0.02
    assert 2 * dram_power.peak_w(dram) == pytest.approx(1.0, rel=0.1)


def test_activate_by_hand():
    """490 mA over 60 clocks, less 450 mA over 42 and 250 mA over 18, at 1.5 V and 0.667 ns."""
    expected = 1.5 * 0.667 * (490 * 60 - 450 * 42 - 250 * 18) / 1e3
    assert dram_power.activate_nj(dram_power.device("gddr5")) == pytest.approx(expected)


def test_unknown_names():
    with pytest.raises(CostNameError) as error:
        dram_power.device("gddr6")
    assert str(error.value) == "unknown DRAM device 'gddr6'. Did you mean 'gddr5'? Known: gddr5, lpddr4."
    with pytest.raises(CostNameError, match="unknown DRAM state 'asleep'"):
        dram_power.background_w(dram_power.device("gddr5"), "asleep")
