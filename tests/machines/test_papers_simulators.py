"""Machines of the papers' simulators: what the papers' tables say of them, and that they run with all balances."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.engine import Engine
from warpsift.machines import load_machine
from warpsift.simt import Gpu, kernel

TABLES = {  # SMs, threads per SM, L1 KB, L2 KB, shared KB, GB/s: MFF section 6, SCU tables 3 and 4
    "gtx480-gpgpusim3": (15, 1536, 16, 768, 48, 177.4),
    "gtx980-gpgpusim3": (16, 2048, 32, 2048, 64, 224),
    "tx1-gpgpusim3": (2, 2048, 32, 256, 64, 25.6),
    "tx1-gpgpusim3-256": (2, 256, 32, 256, 64, 25.6),
}


@kernel
def gather_and_scatter(t, index, values, out, total):
    target = t.load(index, t.id)
    value = t.load(values, target)
    t.store(out, target, value + 1)
    t.atomic_add(total, target >> 5, value, used=False)


@pytest.mark.parametrize("name", TABLES)
def test_a_machine_is_that_of_its_paper(name):
    m = load_machine(name)
    sms, threads, l1, l2, shared, rate = TABLES[name]
    assert (m.sm.count, m.sm.threads) == (sms, threads)
    assert (m.l1.size_bytes, m.l2.size_bytes, m.sm.shared_bytes) == (l1 << 10, l2 << 10, shared << 10)
    assert m.peak_dram_bytes_per_second == pytest.approx(rate * 1e9, rel=0.01)
    assert m.l1.fill_bytes == m.l2.fill_bytes == 128
    assert m.sm.atomics_block_warp and m.sm.alu_by_class


def test_the_mff_papers_machine_has_six_memory_units():
    m = load_machine("gtx480-gpgpusim3")
    assert m.l2.slices == m.dram.channels == 6
    assert m.l2.size_bytes == 6 * 64 * 16 * 128  # sets, ways and lines of a partition


@pytest.mark.parametrize("name", TABLES)
def test_scattered_loads_stores_and_atomics_keep_all_balances(name):
    engine = Engine(load_machine(name), checks=True)
    gpu = Gpu(engine)
    rng = np.random.default_rng(2)
    n = 1 << 12
    index = gpu.memory.array("index", rng.permutation(n).astype(np.int32))
    values = gpu.memory.array("values", np.arange(n, dtype=np.int32))
    out, total = gpu.memory.empty("out", n, np.int32), gpu.memory.array("total", np.zeros(n // 32, np.int32))
    for _ in range(2):
        gpu.launch(gather_and_scatter, n, index, values, out, total, phase="test")
    first, second = (launch.counters for launch in engine.launches)
    assert first["l2_fills"] > 0 and first["dram_writes"] > 0
    assert second["cycles"] < first["cycles"]  # all of it fits the L2


def test_atomics_hold_the_warp():
    """With one warp, every atomic adds its way to the L2 and back; without the stall they overlap."""

    @kernel
    def adds(t, total):
        for k in range(8):
            t.atomic_add(total, k * 32, 1, used=False)

    def cycles(holds: bool) -> int:
        engine = Engine(load_machine("gtx480-gpgpusim3", {"sm.atomics_block_warp": holds}), checks=True)
        gpu = Gpu(engine)
        total = gpu.memory.array("total", np.zeros(256, np.int32))
        gpu.launch(adds, 1, total, phase="test", threads_per_cta=32)
        return engine.launches[-1].counters["cycles"]

    assert cycles(True) - cycles(False) > 6 * 120  # the L2's pipeline alone takes 120
