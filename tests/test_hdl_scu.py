"""The SCU in hardware gives the API's answers, byte for byte, whatever the memory does."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("amaranth", reason="Amaranth is not installed (pip install 'warpsift[hdl]')")

from warpsift.hdl.compare import difference, recording_gpu
from warpsift.hdl.driver import comparison
from warpsift.hdl.iverilog import available, run_vectors
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.simulate import HardwareScu, MemoryModel
from warpsift.machines.scu_spec import ScuSpec
from warpsift.simt import Counter, Gpu
from warpsift.units.scu import COMPARISONS, Scu, ScuError

# Small buffers: they fill, wrap and stall in operations of a hundred elements.
SMALL = {"vector_buffer_bytes": 1024, "fetch_fifo_bytes": 1024, "hash_buffer_bytes": 576, "inflight_requests": 6}
SPECS = {1: ScuSpec(width=1, **SMALL), 3: ScuSpec(width=3, hash_ports=0, **SMALL)}
DTYPES = [np.uint8, np.int16, np.int32, np.uint32, np.float32, np.int64, np.float64]


@functools.cache
def hardware(width: int) -> HardwareScu:
    return HardwareScu(SPECS[width])


class Recorded:
    """Calls of the API, kept as vectors."""

    def __init__(self, spec: ScuSpec, seed: int, n: int) -> None:
        self.gpu, self.sink = recording_gpu(1 << 20)
        self.scu = Scu(self.gpu, spec)
        self.dice = np.random.default_rng(seed)
        self.n = n

    def numbers(self, high: int, dtype=np.int32, n: int | None = None):
        return self.gpu.memory.array("x", self.dice.integers(0, high, self.n if n is None else n).astype(dtype))

    def mask(self, share: float):
        bits = self.dice.random(-(-self.n // 32) * 32) < share
        return self.gpu.memory.array("mask", np.packbits(bits, bitorder="little").view(np.uint32))

    def lists(self, longest: int):
        return self.numbers(max(1, 100 - longest)), self.numbers(longest + 1)


def check(width: int, recorded: Recorded, seed: int) -> None:
    unit = hardware(width)
    for number, vector in enumerate(recorded.sink.vectors):
        memory = vector.before.copy()
        models = [MemoryModel.random(seed + number + k) for k in range(unit.parameters.ports)]
        kept, _ = unit.run(vector.command, memory, models)
        assert difference(vector, kept, memory) == ""


def masked(r: Recorded, dtype, share: float) -> None:
    data, mask = r.numbers(100, dtype), r.mask(share) if share < 1 else None
    r.scu.data_compaction(data, mask)
    r.scu.bitmask(data, list(COMPARISONS)[r.n % 6], 50)
    r.scu.access_compaction(data, r.numbers(max(1, r.n)), mask)


def lists(r: Recorded, dtype, share: float) -> None:
    mask = r.mask(share) if share < 1 else None
    index, count = r.lists(9)
    r.scu.access_expansion_compaction(r.numbers(100, dtype, 100), index, count, mask=mask)
    r.scu.replication_compaction(r.numbers(100, dtype), count, mask=mask)


def added(r: Recorded, dtype, share: float) -> None:
    out = r.numbers(100, dtype, 9 * r.n + 5)
    if out.dtype.kind in "iu":
        r.scu.replication_compaction(r.numbers(20, dtype), r.lists(9)[1], out=out, at=3, add=True)


def filtered(r: Recorded, dtype, share: float) -> None:
    index, count = r.lists(5)
    ways = int(r.dice.choice([1, 2, 4, 8, 16]))
    life = str(r.dice.choice(["clear", "epoch", "persistent"]))
    table = r.scu.filter_table("f", 4 * ways * 3, 100, ways=ways, life=life)
    data = r.numbers(100, np.uint8 if r.n % 2 else np.int32, 100)
    for _ in range(2):
        keep, _ = r.scu.access_expansion_compaction(data, index, count, filter=table)
        r.scu.access_expansion_compaction(data, index, count, filter=keep)


def best_cost(r: Recorded, dtype, share: float) -> None:
    index, count = r.lists(5)
    ways = int(r.dice.choice([2, 16]))
    table = r.scu.filter_table("b", 8 * ways * 2, 100, ways=ways, cost_dtype=np.int32)
    cost, base = r.numbers(30, np.int32, 100), r.numbers(30)
    data = r.numbers(100, np.int32, 100)
    r.scu.access_expansion_compaction(data, index, count, filter=table, cost=cost, cost_base=base)


def grouped(r: Recorded, dtype, share: float) -> None:
    index, count = r.lists(5)
    data = r.numbers(400, np.int32, 100)
    ways = int(r.dice.choice([1, 4, 16]))
    keep, _ = r.scu.access_expansion_compaction(data, index, count, filter=r.scu.filter_table("f", 256, 400, ways=16))
    table = r.scu.group_table("g", 32 * ways * 2, 400, ways=ways, group=int(r.dice.integers(1, 9)))
    order, n = r.scu.access_expansion_compaction(data, index, count, filter=keep, group=table)
    out = r.gpu.memory.empty("out", n + 1, np.int32)
    r.scu.access_expansion_compaction(data, index, count, filter=keep, group=order, out=out, at=1)


WORKS = [masked, lists, added, filtered, best_cost, grouped]


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    work=st.sampled_from(WORKS),
    width=st.sampled_from(list(SPECS)),
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
@pytest.mark.parametrize("width", SPECS)
def test_every_kind_of_operation(work, width):
    recorded = Recorded(SPECS[width], 5, 24)
    work(recorded, np.int32, 0.6)
    check(width, recorded, 5)


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


@pytest.mark.skipif(not available(), reason="Icarus Verilog is not installed (apt install iverilog)")
@pytest.mark.parametrize(("width", "ports"), [(1, 1), (2, 1), (4, 0)])
def test_the_verilog_passes_the_same_vectors(width, ports, tmp_path):
    """All five operations on elements of 1, 2, 4 and 8 bytes, filtering, best cost and grouping, in one simulation."""
    pytest.importorskip("pyosys", reason="Yosys is not installed (pip install 'warpsift[hdl]')")
    from warpsift.hdl.verilog import to_verilog

    spec = ScuSpec(width=width, hash_ports=ports, **SMALL)
    recorded = Recorded(spec, 11, 24)
    for dtype in (np.uint8, np.int16, np.int32, np.float64):
        for work in (masked, lists, added):
            work(recorded, dtype, 0.6)
    for work in (filtered, best_cost, grouped):
        work(recorded, np.int32, 0.6)
    assert len({vector.name for vector in recorded.sink.vectors}) == 5
    results = run_vectors(to_verilog(spec), ScuParameters.of(spec), recorded.sink.vectors, tmp_path)
    for vector, (kept, memory) in zip(recorded.sink.vectors, results, strict=True):
        assert difference(vector, kept, memory) == ""


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
