"""Addresses beyond 4 GiB: arrays there are timed as those below, and no two rows of DRAM are taken for one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from warpsift.algorithms import ALGORITHMS
from warpsift.engine.dram.dram_harness import load_memory, run_pattern
from warpsift.engine.engine import Engine
from warpsift.engine.leap.sampled_engine import SampledEngine
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.machines.spec import MachineError
from warpsift.simt import Gpu, Residency
from warpsift.simt.memory import DeviceMemory, DeviceMemoryError
from warpsift.units import resolve, units

GIB = 1 << 30
# Hashes of high address bits put lines elsewhere; without them 8 GiB further on is the same place of every structure.
PLAIN = {"l1.hashed_index": False, "l2.hashed_index": False, "l2.mapping": "modulo"}
CASES = [("none", "bfs"), ("none", "sssp"), *((name, next(iter(units()[name].drivers(None)))) for name in units()
         if units()[name].style is not None)]  # fmt: skip


@cache
def prepared(algorithm):
    chosen = ALGORITHMS[algorithm]
    return chosen.prepare(load_graph("kron-7"), replace(chosen.options(), seed=3))


def counters(name, algorithm, before, sample=0):
    """Of a run with an array of so many bytes in front of all others."""
    unit, machine = resolve(name), load_machine("gtx980", PLAIN)
    graph, options = prepared(algorithm)
    driver = next(iter(ALGORITHMS[algorithm].styles.values())) if unit is None else unit.driver(algorithm, machine)
    components = () if unit is None else unit.components()
    engine = SampledEngine(machine, components, sample=sample) if sample else Engine(machine, components, checks=True)
    residency = Residency(machine.sm.count, machine.sm.threads)
    gpu = Gpu(engine, memory_bytes=12 * GIB, residency=residency)
    gpu.memory.empty("before", before, np.uint8)
    outcome = driver(gpu, graph, options)
    assert ALGORITHMS[algorithm].check(graph, outcome, options).passed
    assert (gpu.memory.arrays[1].address > 4 * GIB) == (before > 4 * GIB)
    return [dict(each.timed or {}) for each in engine.sampled] if sample else dict(engine.total)


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_arrays_beyond_4_gib_take_as_long_as_below(name, algorithm):
    assert counters(name, algorithm, 256) == counters(name, algorithm, 8 * GIB + 256)


def test_leaps_and_touches_reach_beyond_4_gib():
    assert counters("none", "bfs", 256, sample=2) == counters("none", "bfs", 8 * GIB + 256, sample=2)


@pytest.mark.parametrize("memory", ["gddr5-7010-gtx980", "gddr5-3696-gtx480", "hbm2e-3186-a100"])
def test_rows_above_the_map_are_rows_of_their_own(memory):
    spec = load_memory(memory)
    bits = sum(int("".join(filter(str.isdigit, word))) for word in spec.address_map.split())
    near, far = ([0, step] * 20 for step in (64, 1 << bits))
    opened = [run_pattern(spec, each, [False] * 40)["dram_activates"] for each in (near, far)]
    assert opened[0] < 3  # refreshes close a row
    assert opened[1] > opened[0]


def test_a_memory_has_the_rows_that_the_model_can_count():
    load_machine("gtx980", {"dram.size_mib": 1 << 20})
    with pytest.raises(
        MachineError, match=r"dram\.size_mib = 1048576: rows of a bank have numbers of 31 bits, which are"
    ):
        few = {"dram.channels": 1, "l2.slices": 1, "dram.bank_groups": 1, "dram.banks": 1}
        load_machine("gtx980", {**few, "dram.address_map": "row4 burst5", "dram.size_mib": 1 << 20})


def test_a_device_larger_than_the_host_has_what_the_host_gives():
    memory = DeviceMemory(1 << 46)
    memory.array("x", np.arange(10))
    assert memory.size_bytes == 1 << 46
    with pytest.raises(DeviceMemoryError, match="this computer's memory holds no more"):
        memory.empty("huge", (1 << 46) - 4096, np.uint8)
