"""Register updates, lookups and allocations of the MFF: per memory unit, or one per Issue Engine and clock."""

import numpy as np
import pytest

import warpsift
from warpsift.machines import load_machine
from warpsift.run.interconnect import simulator_stalls
from warpsift.units.mff.mff_spec import MffSpec


def test_ports_of_engines_are_shared_by_the_memory_units():
    spec = MffSpec(ports="engine")
    assert (spec.updates_of_unit(6), spec.lookups_of_unit(6), spec.allocations_of_engine) == (5, 5, 1)
    assert spec.updates_of_unit(64) == 1
    plain = MffSpec(updates_per_cycle=3)
    assert (plain.updates_of_unit(6), plain.lookups_of_unit(6), plain.allocations_of_engine) == (3, 1, 0)


def timed(algorithm, **changes):
    overrides = {f"mff.{key}": value for key, value in changes.items()}
    return warpsift.simulate(algorithm, "kron-9", gpu="gtx480", unit="mff", overrides=overrides, max_iterations=2)


@pytest.mark.parametrize("algorithm", ["pagerank", "bfs"])
def test_ports_of_engines_are_faster_and_change_no_work(algorithm):
    unit, engine = timed(algorithm), timed(algorithm, ports="engine")
    assert engine.cycles < unit.cycles
    assert np.array_equal(unit.values, engine.values)
    for name in ("mff_words", "mff_scatter_bits", "mff_jobs"):
        assert unit.timing["counters"][name] == engine.timing["counters"][name]


def test_allocation_takes_a_clock_per_register():
    """One engine, one job: no run can end before the engine has written all registers, one per clock."""
    run = timed("pagerank", ports="engine", issue_engines=1, updates_per_cycle=1)
    machine = load_machine("gtx480")
    clocks = run.cycles * machine.clocks.l2_mhz / machine.clocks.core_mhz
    assert run.timing["counters"]["mff_words"] <= clocks
    four = timed("pagerank", ports="engine", issue_engines=1, updates_per_cycle=4)
    assert four.cycles < run.cycles


def test_stalls_as_the_simulator_prints_them():
    counters = {"l2_reply_blocked_cycles": 5, "request_blocked_cycles": 7, "l1_network_blocked_cycles": 100}
    assert simulator_stalls(counters) == {"reply_network": 5, "l2_input": 7, "unit_full": 0}
    counters |= {"mff_stall_reply_cycles": 3, "mff_stall_job_cycles": 50}
    assert simulator_stalls(counters) == {"reply_network": 8, "l2_input": 7, "unit_full": 50}
