"""The SCU's pipeline in the engine: laws of throughput, limits that really hold, balances, and equal function."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.machines.machine_file import MachineError
from warpsift.simt import Counter, Gpu
from warpsift.units import unit_named
from warpsift.units.scu import scu_operation
from warpsift.units.scu.filtering import set_of
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_floor import BOUNDS, bounds, floor_cycles
from warpsift.units.scu.scu_trace import PROBE

IDEAL = {"ideal.l2": "true", "ideal.noc": "true"}  # every read takes the same time and nobody waits for a port
N = 1 << 14


class Bench:
    """A unit on a modelled GPU."""

    def __init__(self, machine: str = "gtx980", **overrides) -> None:
        names = {k.replace("__", "."): str(v) for k, v in overrides.items()}
        self.machine = load_machine(machine, names)
        self.engine = Engine(self.machine, unit_named("scu").components(), checks=True)
        self.gpu = Gpu(self.engine, memory_bytes=1 << 26)
        self.scu = Scu(self.gpu, self.machine.unit("scu"))
        self.rng = np.random.default_rng(7)

    def data(self, n=N, dtype=np.int32, high=1 << 20):
        return self.gpu.memory.array("data", self.rng.integers(0, high, n).astype(dtype))

    @property
    def last(self):
        return self.engine.operations[-1].counters

    def copy_rate(self, dtype=np.int32, n=N) -> float:
        """Elements per cycle of a compaction that keeps everything."""
        self.scu.data_compaction(self.data(n, dtype, 100), None)
        return n / self.last.cycles

    def gather(self, n=N // 4) -> None:
        """Read single elements, each from another line, in no order."""
        data = self.gpu.memory.empty("far", 32 * n, np.int32)
        index = self.gpu.memory.array("index", (self.rng.permutation(n) * 32).astype(np.int32))
        self.scu.access_compaction(data, index, None)


def ideal(**overrides) -> Bench:
    return Bench(**{"ideal__l2": "true", "ideal__noc": "true"}, **overrides)


# ---------------------------------------------------------------------- laws
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_a_merged_stream_runs_at_the_width_and_never_above(width):
    bench = ideal(scu__width=width, scu__inflight_requests=0)
    n = width * N // 4
    assert 0.9 * width < bench.copy_rate(n=n) <= width
    assert bench.last.scu_address_busy_cycles == n // width


def test_a_wide_unit_is_bound_by_its_port():
    """A line takes 5 flits of a port in each direction: 4 of data, one request or acknowledgement."""
    bench = Bench(scu__width=16, scu__inflight_requests=0, ideal__l2="true", l2__port_bytes_per_cycle=128)
    bytes_per_cycle = bench.copy_rate(n=4 * N) * 4
    assert 0.85 * 128 / 5 < bytes_per_cycle <= 128 / 5


def test_a_wide_unit_is_bound_by_dram():
    bench = Bench("tx1", scu__width=16, scu__inflight_requests=0)
    n = 1 << 15
    data = bench.data(n, np.int64)
    bench.scu.bitmask(data, "<", 5)  # reads 8 bytes an element and writes next to nothing
    peak = bench.machine.peak_dram_bytes_per_second / (bench.machine.clocks.core_mhz * 1e6)
    rate = n * 8 / bench.last.cycles
    assert 0.6 * peak < rate <= peak


@pytest.mark.parametrize("in_flight", [8, 16, 32])
def test_random_gathers_are_bound_by_requests_in_flight_over_latency(in_flight):
    bench = ideal(scu__inflight_requests=in_flight)
    bench.gather(1)
    latency = bench.last.scu_stall_data_cycles  # one lone read: Data Fetch waits for exactly its latency
    bench.gather()
    c = bench.last
    rate = (c.scu_read_requests + c.scu_vector_requests) / c.cycles
    assert 0.85 * in_flight / latency < rate <= 1.02 * in_flight / latency
    assert c.scu_stall_inflight_cycles + c.scu_address_busy_cycles > 0.9 * c.cycles


def test_probes_in_flight_bound_filtering():
    rates = {}
    for limit in (16, 32, 64):
        bench = ideal(scu__probe_limit=limit, scu__inflight_requests=0)
        table = bench.scu.filter_table("t", 1 << 20, 1 << 20, life="persistent")
        bench.scu.data_compaction(bench.data(), None, filter=table)
        rates[limit] = N / bench.last.cycles
    assert rates[32] == pytest.approx(2 * rates[16], rel=0.1)
    assert rates[64] == pytest.approx(2 * rates[32], rel=0.1)


def test_the_request_buffer_holds_what_its_bytes_hold():
    """Rows of 72 bytes (set, ID, number): one for a set without costs, two for a set with."""
    cycles = {}
    for kilobytes in (2, 1):
        for cost in (False, True):
            bench = ideal(scu__hash_buffer_bytes=kilobytes * 1024, scu__inflight_requests=0, scu__width=16)
            options = {"cost_dtype": np.dtype(np.int32)} if cost else {}
            table = bench.scu.filter_table("t", 1 << 20, 1 << 20, life="persistent", **options)
            costs = {"cost": bench.data()} if cost else {}
            bench.scu.data_compaction(bench.data(), None, filter=table, **costs)
            cycles[kilobytes, cost] = bench.last.cycles
    assert cycles[1, False] == pytest.approx(2 * cycles[2, False], rel=0.1)
    assert cycles[2, True] == pytest.approx(2 * cycles[2, False], rel=0.1)
    assert cycles[1, True] == pytest.approx(4 * cycles[2, False], rel=0.1)


def filter_ids(bench: Bench, ids, **options):
    """Counters of one filtering operation on these IDs."""
    table = bench.scu.filter_table("t", 1 << 16, 1 << 20, life="persistent", **options)
    bench.scu.data_compaction(bench.gpu.memory.array("ids", np.asarray(ids, np.int32)), None, filter=table)
    return bench.last


def test_a_set_in_the_request_buffer_is_not_read_again():
    """One set, always in the buffer: read once. The same IDs, too far apart for the buffer: read every time."""
    hot = filter_ids(ideal(), np.zeros(1000))
    assert (hot.scu_hash_reads, hot.scu_hash_reads_merged) == (1, 999)
    small = {"scu__hash_buffer_bytes": 72 * 8, "scu__probe_limit": 8}
    apart = filter_ids(ideal(**small), np.tile(np.arange(0, 64 * 16, 16), 20))
    assert apart.scu_hash_reads + apart.scu_hash_reads_merged == 64 * 20
    assert apart.scu_hash_reads > 64 * 19


@pytest.mark.parametrize("width", [1, 4])
def test_one_probe_enters_and_one_leaves_per_cycle(width):
    assert 1000 <= filter_ids(ideal(scu__width=width), np.zeros(1000)).cycles < 1400


def test_a_replaced_entry_writes_the_pointer_in_way_0_too():
    """IDs of one set of 16 ways (64 bytes): the 17th replaces way 0, the 25th way 8, which is in the second sector."""
    table = ideal().scu.filter_table("t", 1 << 16, 1 << 20, life="persistent")
    ids = np.arange(1 << 16)
    same = np.array([i for i in ids if set_of(i, table.sets) == 5][:26])
    table.begin(26)
    probes = np.zeros(26, PROBE)
    table.probe(same, None, probes)
    low, high = (int(bit) for bit in (probes["write_sectors"][0], probes["write_sectors"][8]))
    assert low != high
    assert list(probes["write_sectors"]) == [low] * 8 + [high] * 8 + [low] * 8 + [low | high] * 2
    assert list(probes["previous"]) == [-1, *range(25)]


def test_a_small_fifo_stalls_the_address_generator():
    small, large = (ideal(scu__fetch_fifo_bytes=size, scu__inflight_requests=0) for size in (1024, 38912))
    for bench in (small, large):
        bench.scu.data_compaction(bench.data(), None)
    assert small.last.scu_stall_fifo_cycles > 0 and large.last.scu_stall_fifo_cycles == 0
    assert small.last.cycles > 1.5 * large.last.cycles


def test_the_fifo_holds_what_its_bytes_hold():
    """1 KB is a ring of 16 sectors, 2 KB of 32; each gather takes one, and the 4 newest requests keep theirs."""
    rates = {}
    for size in (1024, 2048):
        bench = ideal(scu__fetch_fifo_bytes=size, scu__inflight_requests=0)
        bench.gather()
        rates[size] = bench.last.scu_read_requests / bench.last.cycles
        assert bench.last.scu_stall_fifo_cycles > 0.5 * bench.last.cycles
    assert rates[2048] / rates[1024] == pytest.approx((32 - 4) / (16 - 4), rel=0.1)


def test_small_vector_buffers_stall_the_address_generator():
    """A list of one element for every 12 bytes of vectors: what limits is how far the vectors are read ahead."""
    cycles = []
    for size in (1024, 5120):
        bench = ideal(scu__vector_buffer_bytes=size, scu__inflight_requests=0, scu__width=16)
        index = bench.gpu.memory.array("index", np.arange(N, dtype=np.int32))
        counts = bench.gpu.memory.array("counts", np.ones(N, np.int32))
        bench.scu.access_expansion_compaction(bench.data(), index, counts)
        cycles.append(bench.last.cycles)
        assert bench.last.scu_stall_vector_cycles > 0
    assert cycles[0] > 2 * cycles[1]


# ---------------------------------------------------------------------- merging, masks, clearing
def test_reads_merge_within_the_window_only():
    lines = {}
    for window in (1, 4):
        bench = ideal(scu__merge_window=window)
        rows = np.arange(N // 4).reshape(-1, 4) * 32  # four lines in turn, each touched 4 times
        index = np.repeat(rows, 4, axis=0) + np.tile(np.arange(4), len(rows))[:, None]
        data = bench.gpu.memory.empty("far", 32 * N, np.int32)
        bench.scu.access_compaction(data, bench.gpu.memory.array("i", index.reshape(-1).astype(np.int32)), None)
        lines[window] = bench.last.scu_read_requests
        assert bench.last.scu_read_requests + bench.last.scu_reads_merged == bench.last.scu_coalescer_lookups
    assert lines[4] == N // 4 and lines[1] == N


@pytest.mark.parametrize(("skips", "cycles"), [("true", N // 32), ("false", N // 4)])
def test_dropped_elements_cost_a_cycle_per_word_or_a_slot_each(skips, cycles):
    bench = ideal(scu__skip_dropped=skips)
    mask = bench.gpu.memory.empty("mask", N // 32, np.uint32)
    mask.host[0] = 1
    bench.scu.data_compaction(bench.data(), mask)
    assert bench.last.scu_elements == 1
    assert bench.last.scu_address_busy_cycles == pytest.approx(cycles, rel=0.05)


def test_clearing_is_traffic():
    bench = Bench(scu__fit_tables="false")
    table = bench.scu.filter_table("t", 1 << 16, 1 << 20)
    bench.scu.data_compaction(bench.data(64), None, filter=table)
    assert bench.last.scu_cleared_lines == 512
    assert bench.last.l2_write_accesses >= 4 * 512
    assert bench.last.scu_stall_clear_cycles > 1000


def test_ideal_hash_has_no_traffic():
    bench = Bench(scu__ideal_hash="true")
    table = bench.scu.group_table("g", 1 << 16, 1 << 20)
    order, n = bench.scu.data_compaction(bench.data(), None, group=table)
    assert sorted(order.places.host[:n]) == list(range(N))
    assert bench.last.scu_hash_reads == bench.last.scu_hash_writes == bench.last.scu_cleared_lines == 0


# ---------------------------------------------------------------------- balances
def every_operation(bench: Bench) -> None:
    scu, data = bench.scu, bench.data(3001)
    mask, _ = scu.bitmask(data, "<", 1 << 19)
    scu.data_compaction(data, mask)
    index = bench.gpu.memory.array("i", bench.rng.integers(0, 2900, 700).astype(np.int32))
    counts = bench.gpu.memory.array("c", bench.rng.integers(0, 9, 700).astype(np.int32))
    scu.access_compaction(data, index, None)
    spread, _ = scu.replication_compaction(data, counts)
    scu.replication_compaction(data, counts, out=spread, add=True)
    keep, _ = scu.access_expansion_compaction(data, index, counts, filter=scu.filter_table("t", 4096, 1 << 20))
    group = scu.group_table("g", 2048, 1 << 20)
    order, _ = scu.access_expansion_compaction(data, index, counts, filter=keep, group=group)
    scu.access_expansion_compaction(data, index, counts, filter=keep, group=order)
    scu.data_compaction(data, mask, 0)


@pytest.mark.parametrize("machine", ["gtx980", "tx1"])
@pytest.mark.parametrize("fill", ["32", "128"])
def test_what_goes_in_comes_out(machine, fill):
    bench = Bench(machine, l2__fill_bytes=fill, scu__request_bytes=fill)
    every_operation(bench)
    for result in bench.engine.operations:
        c = result.counters
        assert c.scu_addresses == c.scu_elements_fetched
        assert c.scu_operations == 1 and c.scu_cycles == c.cycles
        assert c.launches == 0 and c.warp_instructions == 0
        stalls = sum(c[f"scu_stall_{why}_cycles"] for why in ("vector", "fifo", "inflight", "network"))
        assert c.scu_address_busy_cycles + stalls <= c.cycles
        stalls = sum(c[f"scu_stall_{why}_cycles"] for why in ("data", "store", "buffer", "clear"))
        assert c.scu_fetch_busy_cycles + stalls <= c.cycles
    arrays = bench.engine._arena.arrays
    assert arrays["noc"][0].in_use == 0
    assert (arrays["scu.coalescers"]["in_flight"] == 0).all()


def test_the_counter_and_the_engine_see_the_same_trace():
    bench = Bench()
    every_operation(bench)
    plain = Gpu(Counter(), memory_bytes=1 << 26)
    twin = Bench.__new__(Bench)
    twin.gpu, twin.scu, twin.rng = plain, Scu(plain, bench.machine.unit("scu")), np.random.default_rng(7)
    every_operation(twin)
    for timed, counted in zip(bench.engine.operations, plain.sink.operations, strict=True):
        c = timed.counters
        assert c.scu_write_requests == counted.counters["scu_write_lines"]
        assert c.scu_addresses - c.scu_hash_probes <= counted.counters["scu_addresses"]
        assert c.scu_hash_probes == counted.counters["scu_hash_probes"]
        assert c.scu_cleared_lines == counted.counters["scu_cleared_lines"]
        lines = c.scu_read_requests + c.scu_reads_merged + c.scu_vector_requests
        assert lines == counted.counters["scu_read_lines"]


def test_equal_inputs_give_equal_counters():
    first, second = Bench(), Bench()
    for bench in (first, second):
        every_operation(bench)
    assert [dict(r.counters) for r in first.engine.operations] == [dict(r.counters) for r in second.engine.operations]


def test_the_size_of_chunks_changes_nothing(monkeypatch):
    cycles = []
    for size in (1 << 15, 256):
        monkeypatch.setattr(scu_operation, "CHUNK_ELEMENTS", size)
        bench = Bench()
        bench.scu.data_compaction(bench.data(), None)
        cycles.append(bench.last.cycles)
    assert cycles[0] == cycles[1]


def test_calls_cost_their_overhead():
    bench, slow = Bench(), Bench(scu__call_overhead_cycles=1270)
    for b in (bench, slow):
        b.scu.data_compaction(b.data(100), None)
    assert slow.last.cycles == pytest.approx(bench.last.cycles + 1270, abs=40)  # refresh may fall elsewhere


def test_ports_are_checked():
    with pytest.raises(MachineError) as error:
        load_machine("gtx980", {"scu.hash_ports": "4"})
    message = "scu.hash_ports = 4: with the data port, noc.unit_ports must be 5 or more"
    assert str(error.value) == f"machine 'gtx980': {message}"


def test_more_hash_ports_filter_faster():
    cycles = []
    for ports in (1, 4):
        bench = Bench(scu__hash_ports=ports, noc__unit_ports=5, scu__probe_limit=-1)
        table = bench.scu.filter_table("t", 1 << 18, 1 << 20, life="persistent")
        bench.scu.data_compaction(bench.data(), None, filter=table)
        cycles.append(bench.last.cycles)
    assert cycles[1] < 0.7 * cycles[0]


def test_vector_lines_out_of_order_do_not_put_the_unit_to_sleep():
    """The first line of a mask comes last, when the buffer is full and nothing else is under way.

    The Address Generator then lets go of the whole buffer at once, but what it wants is further on: unless the unit
    asks for the next lines by itself, no reply will ever wake it.
    """
    bench = Bench(scu__vector_buffer_bytes=1024, scu__request_bytes=128)  # 8 lines of 1024 bits for a lone vector
    inputs = 40 * 1024
    words = np.zeros(inputs // 32, np.uint32)
    words[-1] = 1 << 31
    mask, data = bench.gpu.memory.array("mask", words), bench.data(inputs)
    later = bench.gpu.memory.array("later", np.arange(32, 8 * 32, 32).astype(np.int32))  # lines 1 to 7, into the L2
    bench.scu.access_compaction(mask, later, None)
    out, kept = bench.scu.data_compaction(data, mask)
    assert kept == 1 and out.host[0] == data.host[-1]
    assert bench.last.scu_vector_requests == 40


# ---------------------------------------------------------------------- function is one run with timing
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "pagerank", "wcc"])
@pytest.mark.parametrize("unit", ["scu-basic", "scu"])
def test_timed_runs_pass_their_check(algorithm, unit):
    machine = load_machine("tx1")
    chosen = ALGORITHMS[algorithm]
    graph, options = chosen.prepare(
        load_graph("rmat-8"), chosen.options(max_iterations=3 if algorithm == "pagerank" else None)
    )
    engine = Engine(machine, unit_named(unit).components(), checks=True)
    outcome = unit_named(unit).driver(algorithm, machine)(Gpu(engine), graph, options)
    verdict = chosen.check(graph, outcome, options)
    assert verdict.passed, verdict.reason
    assert engine.total.scu_operations == len(engine.operations) > 0
    assert engine.total.cycles == engine.cycle


@pytest.mark.parametrize("machine", ["gtx980", "tx1"])
def test_no_operation_beats_its_floor(machine):
    bench = Bench(machine)
    every_operation(bench)
    for result in bench.engine.operations:
        found = bounds(bench.machine, result.counters)
        assert max(found.values()) <= result.counters.cycles, (result.info.operation, found)
    floor = floor_cycles(bench.machine, [r.counters for r in bench.engine.operations])
    assert floor["cycles"] == pytest.approx(sum(floor[name] for name in BOUNDS))
    assert 0 < floor["cycles"] < bench.engine.total.scu_cycles


def test_a_long_stretch_of_dropped_elements_is_no_standstill():
    """Nothing is fetched or stored for half a million cycles, yet the unit looks at its mask."""
    bench = Bench(scu__width=1, scu__skip_dropped="false")
    n = 1 << 19
    mask = bench.gpu.memory.array("mask", np.zeros(n // 32, np.uint32))
    _, kept = bench.scu.data_compaction(bench.gpu.memory.empty("many", n, np.int32), mask)
    assert kept == 0 and bench.last.cycles >= n
