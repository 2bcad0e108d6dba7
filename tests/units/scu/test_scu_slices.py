"""The SCU that probes its tables at the L2 slices: order that keeps the answers, laws of throughput, less traffic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_scu as naive
from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.run.reading import decide, reading_named
from warpsift.simt import Gpu
from warpsift.units import unit_named
from warpsift.units.scu.grouping import NODES_PER_BLOCK
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.slice_costs import station_bounds

N = 4096
SIZES = st.fixed_dictionaries(
    {
        "scu_slice.probes_per_slice": st.sampled_from([1, 2, 7, 64]),
        "scu_slice.sets_per_slice": st.sampled_from([1, 2, 32]),
        "scu_slice.decision_cycles": st.sampled_from([1, 3, 20]),
        "scu.width": st.sampled_from([1, 4, 16]),
        "scu.hash_ports": st.sampled_from([0, 1, 3]),
        "scu.hash_ways": st.sampled_from([1, 2, 16]),
    }
)


class Bench:
    """The unit on a modelled GPU that checks its balances after every operation."""

    def __init__(self, machine: str = "gtx980", unit: str = "scu-slice", **settings) -> None:
        names = {key.replace("__", "."): value for key, value in settings.items()}
        self.machine = load_machine(machine, {"noc.unit_ports": 5, **names})
        self.engine = Engine(self.machine, unit_named(unit).components(), checks=True)
        self.gpu = Gpu(self.engine, memory_bytes=1 << 26)
        self.scu = Scu(self.gpu, self.machine.unit("scu"))

    def filter(self, ids, table_bytes: int = 4096, **options):
        """The bits that one filtering operation keeps; `options` of the table."""
        table = self.scu.filter_table("t", table_bytes, 1 << 20, life="persistent", **options)
        self.table = table
        self.array = self.gpu.memory.array("ids", np.asarray(ids, np.int32))
        keep, _ = self.scu.data_compaction(self.array, None, filter=table)
        return [naive.bit(keep.words.host, i) for i in range(len(ids))]

    @property
    def last(self):
        return self.engine.operations[-1].counters

    def decided(self) -> list[int]:
        """Probes of the last operation in the order in which the slices decided them."""
        arrays = self.engine._arena.arrays
        return arrays["scu_slice.decided"][: int(arrays["scu_slice"][0].decided)].tolist()


def ideal(**settings) -> Bench:
    return Bench(ideal__l2=True, ideal__noc=True, **settings)


# ---------------------------------------------------------------------- the slices' order keeps the answers
@settings(max_examples=30, deadline=None)
@given(
    ids=st.lists(st.integers(0, 200), min_size=1, max_size=200), sizes=SIZES, machine=st.sampled_from(["gtx980", "tx1"])
)
def test_filtering_in_the_slices_order_gives_the_same_bits(ids, sizes, machine):
    """The oracle decides in the order of the slices, which is not that of the elements; what it keeps is the same."""
    bench = Bench(machine, **sizes)
    kept = bench.filter(ids)
    order = bench.decided()
    assert sorted(order) == list(range(len(ids)))
    oracle = naive.Filter(bench.table.sets, bench.table.ways)
    replayed = {number: oracle.keep(ids[number]) for number in order}
    assert [replayed[number] for number in range(len(ids))] == kept


@settings(max_examples=20, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), min_size=1, max_size=150), sizes=SIZES)
def test_best_cost_filtering_in_the_slices_order_gives_the_same_bits(pairs, sizes):
    bench = Bench("tx1", **sizes)
    ids, costs = ([pair[k] for pair in pairs] for k in range(2))
    table = bench.scu.filter_table("t", 2048, 1 << 20, cost_dtype=np.dtype(np.int32))
    data, cost = (bench.gpu.memory.array(n, np.asarray(v, np.int32)) for n, v in (("ids", ids), ("costs", costs)))
    keep, _ = bench.scu.data_compaction(data, None, filter=table, cost=cost)
    oracle = naive.Filter(table.sets, table.ways)
    replayed = {number: oracle.keep(ids[number], costs[number]) for number in bench.decided()}
    assert [replayed[k] for k in range(len(ids))] == [naive.bit(keep.words.host, k) for k in range(len(ids))]


@settings(max_examples=20, deadline=None)
@given(ids=st.lists(st.integers(0, 3000), min_size=1, max_size=200), sizes=SIZES)
def test_grouping_in_the_slices_order_collects_the_same_groups(ids, sizes):
    bench = Bench("tx1", **sizes)
    table = bench.scu.group_table("g", 2048, 1 << 20)
    order, n = bench.scu.data_compaction(bench.gpu.memory.array("ids", np.asarray(ids, np.int32)), None, group=table)
    assert order.places.host[:n].tolist() == naive.group(ids, table.sets, table.ways, 8)
    decided = [number for number in bench.decided() if number < len(ids)]  # behind them sets are flushed
    assert sorted(decided) == list(range(len(ids)))
    by_set: dict[int, list[int]] = {}
    for number in decided:
        by_set.setdefault(naive.set_of(ids[number] // NODES_PER_BLOCK, table.sets), []).append(number)
    assert all(numbers == sorted(numbers) for numbers in by_set.values())


def test_the_slices_order_is_not_that_of_the_elements():
    """Else the tests above would not test anything."""
    bench = Bench()
    bench.filter(np.random.default_rng(1).integers(0, 1 << 20, N), 1 << 20)
    order = bench.decided()
    assert order != sorted(order) == list(range(N))


# ---------------------------------------------------------------------- laws
@pytest.mark.parametrize("cycles", [1, 3, 10])
def test_probes_of_one_set_are_decided_so_many_cycles_apart(cycles):
    """One ID alone: the station reads its set once, and then decides one probe every `decision_cycles`."""
    bench = ideal(scu_slice__decision_cycles=cycles)
    bench.filter(np.zeros(1000))
    assert 1000 * cycles <= bench.last.cycles < 1000 * max(cycles, 1) + 500
    assert bench.last.scu_slice_set_reads <= 2 and bench.last.scu_slice_sets_found >= 998


def test_probes_of_one_cycle_to_one_slice_share_a_packet():
    """A flit of 40 bytes has 8 of header and room for four probes of 8 bytes, or two of 12."""
    bench = ideal(scu__inflight_requests=0, scu_slice__probes_per_slice=1024)
    bench.filter(np.zeros(1000))
    assert bench.last.scu_slice_packets == pytest.approx(1000 / 4, rel=0.02)
    table = bench.scu.group_table("g", 2048, 1 << 20)
    bench.scu.data_compaction(bench.array, None, group=table)
    assert bench.last.scu_slice_packets >= 1000 / 2


def test_credits_bound_the_probes_of_a_slice():
    """One credit: a slice has one probe at a time, and the next waits for the answer."""
    rates = {}
    for credits in (1, 2):
        bench = ideal(scu_slice__probes_per_slice=credits, scu__width=1)
        table_line = np.arange(64) * 0 + 5  # one ID, so one slice
        bench.filter(np.tile(table_line, 8))
        rates[credits] = bench.last.cycles
    assert rates[1] == pytest.approx(2 * rates[2], rel=0.1)


def test_sets_bound_the_reads_of_a_station():
    ids = np.random.default_rng(2).permutation(1 << 16)[:N]
    cycles = {}
    for sets in (1, 2, 4):
        bench = ideal(scu_slice__sets_per_slice=sets)
        bench.filter(ids, 1 << 20)
        cycles[sets] = bench.last.cycles
    assert cycles[1] == pytest.approx(2 * cycles[2], rel=0.15)
    assert cycles[2] == pytest.approx(2 * cycles[4], rel=0.15)


@pytest.mark.parametrize("ports", [1, 4])
def test_filtering_is_faster_and_moves_less_than_over_the_hash_port(ports):
    ids = np.random.default_rng(3).integers(0, 1 << 18, N)
    found = {}
    for unit in ("scu", "scu-slice"):
        bench = Bench(unit=unit, scu__hash_ports=ports)
        bench.filter(ids, 1 << 18)
        bench.filter(ids, 1 << 18)  # the table is in the L2
        found[unit] = bench.last
    assert found["scu-slice"].cycles < 0.6 * found["scu"].cycles
    flits = {unit: c.request_flits_sent + c.reply_flits_sent for unit, c in found.items()}
    assert flits["scu-slice"] < 0.6 * flits["scu"]


def test_no_operation_beats_its_floor():
    for machine in ("gtx980", "tx1"):
        bench = Bench(machine)
        bench.filter(np.random.default_rng(4).integers(0, 1 << 16, N), 1 << 16)
        assert max(station_bounds(bench.machine, bench.last).values()) <= bench.last.cycles


# ---------------------------------------------------------------------- algorithms
@pytest.mark.parametrize("graph_name", ["rmat-8", "delaunay-8", "grid-9x13"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "wcc"])
def test_answers_with_filters_that_live(algorithm, graph_name):
    machine = load_machine("tx1", {"scu.other_life": "persistent"})
    chosen = ALGORITHMS[algorithm]
    graph, options = chosen.prepare(load_graph(graph_name), chosen.options())
    engine = Engine(machine, unit_named("scu-slice").components(), checks=True)
    outcome = unit_named("scu-slice").driver(algorithm, machine)(Gpu(engine), graph, options)
    assert chosen.check(graph, outcome, options).passed
    assert engine.total.scu_slice_probes == engine.total.scu_hash_probes > 0
    assert engine.total.scu_hash_reads == engine.total.scu_hash_writes == 0


def test_readings_of_the_scu_hold_for_it():
    chosen = decide(reading_named("authors"), unit_named("scu-slice"), "frontier", "bfs", "gtx980")
    assert chosen.overrides["scu.resources"] == "lane" and chosen.gpu == "gtx980-gpgpusim3"
