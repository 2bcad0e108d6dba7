"""Operations of the API, recorded as vectors for the hardware: what goes in and what must come out."""

from __future__ import annotations

import numpy as np

from warpsift.hdl.same_bytes import recording_gpu
from warpsift.units.scu.scu_api import COMPARISONS, Scu
from warpsift.units.scu.scu_spec import ScuSpec

# Small buffers: they fill, wrap and stall in operations of a hundred elements.
SMALL = {"vector_buffer_bytes": 1024, "fetch_fifo_bytes": 1024, "hash_buffer_bytes": 576, "inflight_requests": 6}


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
