"""Cycles of the hardware beside cycles of the engine's model, under the same memory: `python -m warpsift.hdl.cycles`.

The memory answers every read after the same time: in the engine an ideal L2 behind its crossbar, with slices that are
never the narrow place; in hardware `MemoryModel.fixed`. Both accept one beat per port and cycle. The time is taken from
the engine: with one request in flight, a chain of gathers and of the lines of their index takes one round trip each.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from warpsift.engine.counters import Counters
from warpsift.engine.engine import Engine
from warpsift.hdl.memory_model import MemoryModel
from warpsift.hdl.same_bytes import RecordingSink, difference, recording_gpu
from warpsift.hdl.simulate import HardwareScu
from warpsift.machines import load_machine
from warpsift.simt import Gpu
from warpsift.units import unit_named
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_spec import ScuSpec

LIMIT = 0.05  # the largest difference that counts as agreement
SETTINGS = {"ideal.l2": "true", "l2.port_bytes_per_cycle": "128"}
N = 2048


class Inputs:
    """The same arrays for both."""

    def __init__(self, scu: Scu) -> None:
        self.scu = scu
        self.dice = np.random.default_rng(7)

    def array(self, values, dtype=np.int32):
        return self.scu.gpu.memory.array("x", np.asarray(values, dtype))

    def numbers(self, n: int, high: int, dtype=np.int32):
        return self.array(self.dice.integers(0, high, n), dtype)

    def mask(self, n: int, share: float):
        bits = self.dice.random(-(-n // 32) * 32) < share
        return self.array(np.packbits(bits, bitorder="little").view(np.uint32), np.uint32)

    def lists(self, n: int, longest: int):
        count = self.dice.integers(0, longest, n)
        return self.numbers(n, N - longest), self.array(count)


def stream(x: Inputs) -> None:
    x.scu.data_compaction(x.numbers(N, 1000), None)


def byte_stream(x: Inputs) -> None:
    x.scu.data_compaction(x.numbers(N, 100, np.uint8), None)


def half_mask(x: Inputs) -> None:
    x.scu.data_compaction(x.numbers(2 * N, 1000), x.mask(2 * N, 0.5))


def sparse_mask(x: Inputs) -> None:
    x.scu.data_compaction(x.numbers(8 * N, 1000), x.mask(8 * N, 0.05))


def compare_doubles(x: Inputs) -> None:
    x.scu.bitmask(x.numbers(N, 1000, np.float64), "<", 500)


def random_gathers(x: Inputs) -> None:
    data = x.scu.gpu.memory.empty("far", 32 * N, np.int32)
    x.scu.access_compaction(data, x.array(x.dice.permutation(N) * 32), None)


def ascending_gathers(x: Inputs) -> None:
    x.scu.access_compaction(x.numbers(2 * N, 1000), x.array(np.sort(x.dice.integers(0, 2 * N, N))), None)


def short_lists(x: Inputs) -> None:
    x.scu.access_expansion_compaction(x.numbers(N, 1000), *x.lists(N // 2, 8))


def masked_lists(x: Inputs) -> None:
    """Three vectors, and few elements for each entry of them."""
    x.scu.access_expansion_compaction(x.numbers(N, 1000), *x.lists(N, 2), mask=x.mask(N, 0.9))


def long_lists(x: Inputs) -> None:
    x.scu.access_expansion_compaction(x.numbers(N, 1000), *x.lists(N // 16, 64))


def replication(x: Inputs) -> None:
    x.scu.replication_compaction(x.numbers(N // 2, 1000), x.lists(N // 2, 8)[1])


def few_duplicates(x: Inputs) -> None:
    table = x.scu.filter_table("f", 1 << 16, 1 << 20, life="persistent")
    x.scu.data_compaction(x.numbers(N, 1 << 20), None, filter=table)


def large_table(x: Inputs) -> None:
    table = x.scu.filter_table("f", 1 << 20, 1 << 20, life="persistent")
    x.scu.data_compaction(x.numbers(N, 1 << 20), None, filter=table)


def large_best_cost(x: Inputs) -> None:
    table = x.scu.filter_table("b", 3 << 19, 1 << 20, life="persistent", cost_dtype=np.int32)
    x.scu.data_compaction(x.numbers(N // 2, 1 << 20), None, filter=table, cost=x.numbers(N // 2, 64))


def heavy_duplicates(x: Inputs) -> None:
    table = x.scu.filter_table("f", 1 << 16, 1 << 20, life="persistent")
    x.scu.data_compaction(x.numbers(N, 24), None, filter=table)


def best_cost(x: Inputs) -> None:
    table = x.scu.filter_table("b", 1 << 16, 1 << 20, life="persistent", cost_dtype=np.int32)
    x.scu.data_compaction(x.numbers(N // 2, 1 << 12), None, filter=table, cost=x.numbers(N // 2, 64))


def grouping(x: Inputs) -> None:
    x.scu.data_compaction(x.numbers(N // 2, 1 << 14), None, group=x.scu.group_table("g", 1 << 15, 1 << 14))


def apply_filter_and_order(x: Inputs) -> None:
    data = x.numbers(N, 1 << 12)
    keep, _ = x.scu.data_compaction(data, None, filter=x.scu.filter_table("f", 1 << 16, 1 << 12))
    order, _ = x.scu.data_compaction(data, None, filter=keep, group=x.scu.group_table("g", 1 << 15, 1 << 12))
    x.scu.data_compaction(data, None, filter=keep, group=order)


def accumulate(x: Inputs) -> None:
    out = x.numbers(4 * N, 1000)
    x.scu.replication_compaction(x.numbers(N // 2, 1000), x.lists(N // 2, 8)[1], out=out, add=True)


CASES: list[tuple[str, Callable[[Inputs], None], dict[str, str]]] = [
    ("stream of 4-byte elements", stream, {}),
    ("stream of bytes", byte_stream, {}),
    ("mask that keeps half", half_mask, {}),
    ("mask that keeps 5 %", sparse_mask, {}),
    ("comparison of 8-byte elements", compare_doubles, {}),
    ("random gathers", random_gathers, {}),
    ("lists of 0 to 7", short_lists, {}),
    ("lists of 0 to 63", long_lists, {}),
    ("replication", replication, {}),
    ("replication, accumulated", accumulate, {}),
    ("filter, few duplicates, table of 1 MB", large_table, {}),
    ("filter, best cost, table of 1.5 MB", large_best_cost, {}),
    ("filter, few duplicates, table of 64 KB", few_duplicates, {}),
    ("filter, heavy duplicates", heavy_duplicates, {}),
    ("filter, best cost, table of 64 KB", best_cost, {}),
    ("grouping", grouping, {}),
    ("filter and order applied", apply_filter_and_order, {}),
    # Full buffers
    ("stream of 4-byte elements, FIFO of 1 KB", stream, {"scu.fetch_fifo_bytes": "1024"}),
    ("stream of 4-byte elements, FIFO of 2 KB", stream, {"scu.fetch_fifo_bytes": "2048"}),
    ("random gathers, FIFO of 1 KB", random_gathers, {"scu.fetch_fifo_bytes": "1024"}),
    ("random gathers, FIFO of 2 KB", random_gathers, {"scu.fetch_fifo_bytes": "2048"}),
    ("lists of 0 to 7, FIFO of 1 KB", short_lists, {"scu.fetch_fifo_bytes": "1024"}),
    ("lists of 0 to 63, FIFO of 1 KB", long_lists, {"scu.fetch_fifo_bytes": "1024"}),
    ("ascending gathers, vector buffer of 1 KB", ascending_gathers, {"scu.vector_buffer_bytes": "1024"}),
    ("masked lists of 0 or 1, vector buffer of 1152 bytes", masked_lists, {"scu.vector_buffer_bytes": "1152"}),
    ("filter, table of 64 KB, buffer of 16 probes", few_duplicates, {"scu.hash_buffer_bytes": "1152"}),
]


@dataclass(frozen=True)
class Row:
    case: str
    width: int
    hardware: int
    engine: int

    @property
    def difference(self) -> float:
        return self.hardware / self.engine - 1


def engine_counters(work: Callable[[Inputs], None], overrides: dict[str, str]) -> Counters:
    machine = load_machine("gtx980", SETTINGS | overrides)
    engine = Engine(machine, unit_named("scu").components())
    work(Inputs(Scu(Gpu(engine, memory_bytes=1 << 26), machine.unit("scu"))))
    return engine.operations[-1].counters


def engine_cycles(work: Callable[[Inputs], None], overrides: dict[str, str]) -> int:
    return int(engine_counters(work, overrides).cycles)


@functools.cache
def round_trip_cycles() -> int:
    """Of one read in the engine's memory."""

    def chain(n: int) -> Counters:
        def work(x: Inputs) -> None:
            data = x.scu.gpu.memory.empty("far", 32 * N, np.int32)
            x.scu.access_compaction(data, x.array(np.arange(n) * 32), None)

        return engine_counters(work, {"scu.inflight_requests": "1"})

    short, long = chain(256), chain(512)
    requests = [c.scu_read_requests + c.scu_vector_requests for c in (short, long)]  # lines of the index take turns
    return round((long.cycles - short.cycles) / (requests[1] - requests[0]))


def hardware_cycles(work: Callable[[Inputs], None], overrides: dict[str, str], latency: int) -> int:
    machine = load_machine("gtx980", SETTINGS | overrides)
    gpu, sink = recording_gpu(1 << 26)
    work(Inputs(Scu(gpu, machine.unit("scu"))))
    return run_last(sink, built(machine.unit("scu")), latency)


@functools.lru_cache(maxsize=2)
def built(spec: ScuSpec) -> HardwareScu:
    return HardwareScu(spec)


def run_last(sink: RecordingSink, hardware: HardwareScu, latency: int) -> int:
    vector = sink.vectors[-1]
    memory = vector.before.copy()
    models = [MemoryModel.fixed(latency) for _ in range(hardware.parameters.ports)]
    kept, cycles = hardware.run(vector.command, memory, models)
    wrong = difference(vector, kept, memory)
    assert not wrong, wrong
    return cycles


def measure(case: str, width: int) -> Row:
    """One row of the table."""
    name, work, overrides = next(found for found in CASES if found[0] == case)
    settings = overrides | {"scu.width": str(width)}
    latency = round_trip_cycles() - 1  # the engine's unit asks in the cycle after a reply
    return Row(name, width, hardware_cycles(work, settings, latency), engine_cycles(work, settings))


def table(widths: list[int], only: str = "") -> Iterator[list[Row]]:
    """One operation after the other, at all widths."""
    for name, _, _ in CASES:
        if only in name:
            yield [measure(name, width) for width in widths]


def main() -> None:
    widths = [int(text) for text in sys.argv[1].split(",")] if len(sys.argv) > 1 else [1]
    print(f"round trip of a read: {round_trip_cycles()} cycles\n")
    heads = [f"width {width}: hardware | engine | difference" for width in widths]
    print(f"| operation | {' | '.join(heads)} |\n{'|---' * (1 + 3 * len(widths))}|")
    rows: list[Row] = []
    for found in table(widths, sys.argv[2] if len(sys.argv) > 2 else ""):
        rows += found
        cells = [f"{row.hardware} | {row.engine} | {row.difference:+.1%}".replace("-", "−") for row in found]
        print(f"| {found[0].case} | {' | '.join(cells)} |", flush=True)
    far = [row for row in rows if abs(row.difference) > LIMIT]
    print(f"\n{len(rows) - len(far)} of {len(rows)} rows within {LIMIT:.0%}")
    sys.exit(1 if far else 0)


if __name__ == "__main__":
    main()
