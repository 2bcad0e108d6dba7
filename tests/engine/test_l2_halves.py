"""An L2 in two halves: reads hit a copy in the reader's half, a far line costs the longer way, writes void copies."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.engine import Engine
from warpsift.machines import MachineError, load_machine
from warpsift.simt import Gpu, Residency, kernel

FAR = 50
HALVES = {"l2.halves": 2, "l2.far_latency_cycles": FAR}


@kernel
def read(t, values, out):
    word = t.load(values, t.id)
    with t.where(word < 0):
        t.store(out, t.id, word)


@kernel
def write(t, values, out):
    t.store(values, t.id, t.id)


def launches(kernels, overrides, threads=16 * 256):
    machine = load_machine("gtx980", {"l1.cached_loads": False, **overrides})
    engine = Engine(machine, checks=True)
    gpu = Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads))
    values = gpu.memory.array("values", np.zeros(threads, np.int32))
    out = gpu.memory.empty("out", threads)
    for body in kernels:
        gpu.launch(body, threads, values, out, phase="test")
    return [result.counters for result in engine.launches]


def test_what_a_half_has_read_it_has():
    """A line comes from DRAM for one half, and from there for the other; then both have it."""
    first, second, third = launches([read, read, read], HALVES)
    assert first.l2_fills == 512 == first.dram_reads and first.l2_far_fills == 0
    assert second.l2_fills == third.l2_fills == 0  # the same CTAs on the same SMs
    assert max(second.cycles, third.cycles) < first.cycles


def test_a_write_takes_the_copies_away():
    _, wrote, again = launches([read, write, read], HALVES)
    assert wrote.l2_write_accesses == 512
    assert again.l2_far_fills == again.l2_fills > 0 and again.dram_reads == 0  # from the half that was written
    (_, _, whole) = launches([read, write, read], {})
    assert whole.l2_fills == 0


def test_the_far_half_is_further_away():
    near, far = (launches([read], {**HALVES, "l2.far_latency_cycles": way})[0].cycles for way in (0, FAR))
    assert far - near == pytest.approx(2 * FAR, abs=10)


def test_an_odd_number_of_channels_has_no_halves():
    with pytest.raises(MachineError, match=r"dram.channels = 5 do not fall into l2.halves = 2; write an even number"):
        load_machine("gtx980", {**HALVES, "dram.channels": 5, "l2.slices": 10, "l2.size_bytes": 10 * 16 * 128 * 64})
