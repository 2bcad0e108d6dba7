"""What `warpsift validate` states about bandwidth and atomics, held."""

from __future__ import annotations

import pytest

from warpsift.machines import load_machine
from warpsift.validation.bandwidth import atomics_per_slice_cycle, stream_utilisation


@pytest.mark.parametrize("name", ["gtx980", "tx1", "gtx480"])
def test_streaming_reads_reach_80_to_95_percent(name):
    assert 0.80 <= stream_utilisation(load_machine(name)) <= 0.95


@pytest.mark.parametrize("name", ["gtx980", "tx1", "gtx480"])
def test_atomics_reach_the_stated_rates(name):
    """One address: nearly one operation per cycle of its slice; random ones: at least 0.3 per slice."""
    machine = load_machine(name)
    assert 0.9 <= atomics_per_slice_cycle(machine, False) <= 1.0
    assert 0.3 <= atomics_per_slice_cycle(machine, True) <= 1.0


def test_halving_the_bandwidth_doubles_a_bandwidth_bound_kernel():
    whole = load_machine("gtx980")
    half = load_machine("gtx980", {"dram.clock_mhz": whole.dram.clock_mhz / 2})
    bytes_per_second = [stream_utilisation(machine) * machine.peak_dram_bytes_per_second for machine in (whole, half)]
    assert bytes_per_second[0] / bytes_per_second[1] == pytest.approx(2, rel=0.1)
