"""The SCU in hardware gives the API's answers, byte for byte, whatever the memory does."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("amaranth", reason="Amaranth is not installed (pip install 'warpsift[hdl]')")

from support.hdl_vectors import SMALL, WORKS, Recorded, best_cost, grouped, lists, masked
from warpsift.hdl.driver import comparison
from warpsift.hdl.memory_model import MemoryModel
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.same_bytes import difference
from warpsift.hdl.simulate import HardwareScu
from warpsift.simt import Counter, Gpu
from warpsift.units.scu.scu_api import COMPARISONS, ScuError
from warpsift.units.scu.scu_spec import ScuSpec

NARROW = (1, 3)
SPECS = {width: ScuSpec(width=width, hash_ports=0 if width == 3 else 1, **SMALL) for width in (*NARROW, 8, 16)}
DTYPES = [np.uint8, np.int16, np.int32, np.uint32, np.float32, np.int64, np.float64]


@functools.cache
def hardware(width: int) -> HardwareScu:
    return HardwareScu(SPECS[width])


def check(width: int, recorded: Recorded, seed: int) -> None:
    unit = hardware(width)
    for number, vector in enumerate(recorded.sink.vectors):
        memory = vector.before.copy()
        models = [MemoryModel.random(seed + number + k) for k in range(unit.parameters.ports)]
        kept, _ = unit.run(vector.command, memory, models)
        assert difference(vector, kept, memory) == ""


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    work=st.sampled_from(WORKS),
    width=st.sampled_from(NARROW),
    n=st.sampled_from([0, 1, 7, 33]),
    dtype=st.sampled_from(DTYPES),
    share=st.sampled_from([0.0, 0.1, 0.6, 1.0]),
    seed=st.integers(0, 1000),
)
def test_random_operations_and_memories(work, width, n, dtype, share, seed):
    recorded = Recorded(SPECS[width], seed, n)
    work(recorded, dtype, share)
    check(width, recorded, seed)


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("width", NARROW)
def test_every_kind_of_operation(work, width):
    recorded = Recorded(SPECS[width], 5, 24)
    work(recorded, np.int32, 0.6)
    check(width, recorded, 5)


@pytest.mark.parametrize("width", [8, 16])
def test_the_widest_units(width):
    """Wider than a sector of an order vector; a FIFO of 1 KB has 10 and 5 rows."""
    recorded = Recorded(SPECS[width], 9, 16)
    for work in (masked, lists) if width == 16 else (best_cost, grouped):
        work(recorded, np.int16, 0.6)
    check(width, recorded, 9)
    hardware.cache_clear()


def test_replies_may_come_after_the_ring_has_gone_round():
    """A mask that keeps most asks for whole lines: for a sector that no element takes nobody waits, it may be late."""
    dice = random.Random(0)
    recorded = Recorded(SPECS[1], 3, 640)
    mask = recorded.gpu.memory.array("mask", np.resize(np.uint16([0xF0FF, 0xFF0F, 0xFFFF]), 40).view(np.uint32))
    recorded.scu.data_compaction(recorded.numbers(1000, np.float64), mask)
    vector = recorded.sink.vectors[0]
    memory = vector.before.copy()
    latency = lambda: dice.randint(1, 300) if dice.random() < 0.3 else 2  # noqa: E731
    models = [MemoryModel(latency, shuffle=True) for _ in range(hardware(1).parameters.ports)]
    kept, _ = hardware(1).run(vector.command, memory, models)
    assert difference(vector, kept, memory) == ""


def test_a_wrong_unit_would_be_noticed():
    recorded = Recorded(SPECS[1], 1, 40)
    recorded.scu.data_compaction(recorded.numbers(100), None)
    vector = recorded.sink.vectors[0]
    memory = vector.before.copy()
    kept, _ = hardware(1).run(vector.command | {"data_address": vector.command["data_address"] + 4}, memory)
    assert "bytes differ, the first at" in difference(vector, kept, memory)
    assert "kept 39 elements, the API 40" in difference(vector, 39, memory)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reference", [-1, 0, 3, 2.5, 300, 1e30, float("nan")])
def test_references_are_lowered_to_the_type_of_the_data(dtype, reference):
    """The command's comparison, done on bits, equals NumPy's on numbers."""
    data = Gpu(Counter(), memory_bytes=1 << 16).memory.array("x", np.array([0, 1, 2, 3, 4, 100]).astype(dtype))
    names = list(COMPARISONS)
    for name, compare in COMPARISONS.items():
        fields = comparison(data, name, reference)
        bits = fields["reference"].to_bytes(data.itemsize, "little")
        lowered = np.frombuffer(bits, data.dtype)[0]
        with np.errstate(invalid="ignore"):
            got = COMPARISONS[names[fields["comparison"]]](data.host, lowered)
            assert got.tolist() == np.broadcast_to(compare(data.host, reference), 6).tolist()


def test_refusals():
    with pytest.raises(ScuError, match=r"^scu.hash_ports = 2: the hardware has one port for hashing, or none; write 0"):
        ScuParameters.of(ScuSpec(hash_ports=2))
    recorded = Recorded(SPECS[1], 1, 8)
    out = recorded.numbers(9, np.float32, 80)
    with pytest.raises(ScuError, match=r"^accumulating needs integers in hardware; 'x' is float32$"):
        recorded.scu.replication_compaction(recorded.numbers(9, np.float32), recorded.lists(3)[1], out=out, add=True)


def test_sizes_follow_from_the_spec():
    p = ScuParameters.of(ScuSpec(width=4))
    assert p.vector_rows * 32 == 5 * 1024
    row_bits = 4 * 48
    assert p.ring_sectors * 32 + p.rows * row_bits // 8 <= 38 * 1024
    assert p.large_slots * 128 + p.probes * 8 == 18 * 1024
    assert (p.inflight, p.merge_window) == (32, 4)
