"""The reorder unit: its order against a naive oracle, what kernels get, laws of its timing, refusals to the letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_iru
from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine
from warpsift.errors import WarpsiftError
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.simt import Counter, Gpu, KernelError, Residency, kernel
from warpsift.units import unit_named
from warpsift.units.iru.iru_reorder import reorder
from warpsift.units.iru.iru_spec import IruSpec
from warpsift.units.iru.iru_threads import iru_stream

N = 4096


# ---------------------------------------------------------------------- the order
@settings(max_examples=150, deadline=None)
@given(
    index=st.lists(st.integers(0, 700), max_size=400),
    merge=st.sampled_from(["none", "first", "min", "add"]),
    parts=st.sampled_from([1, 3, 16]),
    entries=st.sampled_from([1, 2, 64]),
    seed=st.integers(0, 9),
)
def test_the_order_is_the_oracles(index, merge, parts, entries, seed):
    values = np.random.default_rng(seed).integers(0, 50, len(index)).astype(np.int32)
    found = reorder(np.array(index, np.int32), values, merge, 4, parts, entries)
    packs, merged = naive_iru.reorder(index, values.tolist(), merge, 32, parts, entries)
    assert found.element.tolist() == [element for pack in packs for element in pack]
    assert found.value.tolist() == merged
    assert found.packs == len(packs)
    assert [len(pack) for pack in packs[:-1]] == [32] * (len(packs) - 1)


@settings(max_examples=60, deadline=None)
@given(index=st.lists(st.integers(0, 300), min_size=1, max_size=300), merge=st.sampled_from(["none", "min", "add"]))
def test_nothing_is_lost_and_merging_keeps_minimum_and_sum(index, merge):
    values = np.arange(len(index), dtype=np.int32) * 7 % 31
    found = reorder(np.array(index, np.int32), values, merge, 4, 4, 8)
    assert len(set(found.element.tolist())) == len(found.element)
    nodes = np.array(index)[found.element]
    assert set(nodes) == set(index)
    if merge == "none":
        assert sorted(found.element.tolist()) == list(range(len(index)))
    for node in set(index):
        mine, all_ = found.value[nodes == node], values[np.array(index) == node]
        assert mine.min() == all_.min() if merge != "add" else mine.sum() == all_.sum()


def test_a_warp_gets_elements_of_few_blocks():
    index = np.random.default_rng(1).integers(0, 1 << 12, N).astype(np.int32)  # 128 blocks of 32
    found = reorder(index, None, "none", 4, 16, 64)
    before = np.mean([len(set(index[k : k + 32] // 32)) for k in range(0, N, 32)])
    after = np.mean([len(set(index[found.element[k : k + 32]] // 32)) for k in range(0, N, 32)])
    assert before > 25 and after < 2


# ---------------------------------------------------------------------- kernels
@kernel
def hand_out(t, edges, nodes, costs, positions, presence):
    node, cost, position, present = t.iru_load(edges)
    t.store(presence, t.id, present)
    with t.where(present == 1):
        t.store(nodes, t.id, node)
        t.store(costs, t.id, cost)
        t.store(positions, t.id, position)


class Bench:
    """The unit on a modelled GPU that checks its balances after every launch."""

    def __init__(self, machine: str = "gtx980", **overrides) -> None:
        self.machine = load_machine(machine, {key.replace("__", "."): value for key, value in overrides.items()})
        self.engine = Engine(self.machine, unit_named("iru").components(), checks=True)
        residency = Residency(self.machine.sm.count, self.machine.sm.threads)
        self.gpu = Gpu(self.engine, memory_bytes=1 << 26, residency=residency)

    def run(self, index, values, merge="none"):
        memory, n = self.gpu.memory, len(index)
        edges, costs = memory.array("edges", np.asarray(index, np.int32)), memory.array("costs", values)
        out = [memory.empty(name, n, costs.dtype if name == "c" else np.int32) for name in ("n", "c", "p", "here")]
        spec, parts = self.machine.unit("iru"), self.machine.l2.slices
        with iru_stream(self.gpu, edges, n, spec=spec, parts=parts, values=costs, merge=merge) as stream:
            self.gpu.launch(hand_out, stream.threads, edges, *out, phase="test")
        return stream, [array.host[: stream.kept] for array in out]

    @property
    def last(self):
        return self.engine.launches[-1].counters


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 99),
    n=st.sampled_from([1, 31, 32, 33, 1000]),
    merge=st.sampled_from(["none", "first", "min", "add"]),
    sizes=st.fixed_dictionaries(
        {
            "iru.hash_entries": st.sampled_from([1, 3, 64]),
            "iru.ready_packs": st.sampled_from([1, 8]),
            "iru.prefetch_lines": st.sampled_from([1, 2, 16]),
            "iru.classified_per_cycle": st.sampled_from([1, 4]),
            "iru.ring_queue": st.sampled_from([1, 16]),
            "iru.hop_cycles": st.sampled_from([0, 5]),
        }
    ),
    machine=st.sampled_from(["gtx980", "tx1", "gtx480"]),
)
def test_kernels_get_every_element_once(seed, n, merge, sizes, machine):
    rng = np.random.default_rng(seed)
    index, values = rng.integers(0, 400, n), rng.integers(0, 99, n).astype(np.int32)
    banks = {1: 1, 3: 2, 64: 4}[sizes["iru.hash_entries"]]
    bench = Bench(machine, **sizes, iru__hash_banks=banks)
    stream, (nodes, costs, positions, presence) = bench.run(index, values, merge)
    assert (presence == 1).all()
    np.testing.assert_array_equal(nodes, index[positions])
    np.testing.assert_array_equal(costs, stream.order.value)
    parts, entries = bench.machine.l2.slices, bench.machine.unit("iru").hash_entries
    packs, _ = naive_iru.reorder(index.tolist(), None, "none" if merge == "none" else "first", 32, parts, entries)
    assert positions.tolist() == [element for pack in packs for element in pack]
    assert bench.last.iru_elements == n and bench.last.iru_lanes == stream.kept


# ---------------------------------------------------------------------- laws
def test_one_element_per_clock_and_part():
    """Indices of one block belong to one part, whose hash takes one per clock."""
    bench = Bench(ideal__l2=True, ideal__noc=True)
    bench.run(np.zeros(N), np.zeros(N, np.int32), "first")
    assert N <= bench.last.cycles < N + 1500
    spread = Bench(ideal__l2=True, ideal__noc=True)
    spread.run(np.arange(N), np.zeros(N, np.int32), "first")
    assert spread.last.cycles < bench.last.cycles / 2


@pytest.mark.parametrize("banks", [1, 2, 4])
def test_a_bank_takes_one_element_per_clock(banks):
    """Four blocks of one part, in turn: as many banks as there are share them; one block is one bank's."""
    blocks = 16 * (np.arange(N) % 4)  # of part 0, entries 0 to 3
    quick = {"iru__classified_per_cycle": 32, "ideal__l2": True, "ideal__noc": True}
    bench = Bench(iru__hash_banks=banks, **quick)
    bench.run(32 * blocks, np.zeros(N, np.int32), "first")
    assert N / banks <= bench.last.cycles < N / banks + 1500
    bench.run(np.zeros(N), np.zeros(N, np.int32), "first")
    assert bench.last.cycles >= N


def test_more_banks_than_entries_are_refused():
    with pytest.raises(WarpsiftError, match="a bank has an entry at least; write 1 or less"):
        load_machine("gtx980", {"iru.hash_banks": 2, "iru.hash_entries": 1})


def test_lines_read_ahead_are_traffic():
    bench = Bench()
    bench.run(np.arange(N), np.zeros(N, np.int32))
    assert bench.last.iru_line_reads == 2 * N // 32  # indices and values
    assert bench.last.l2_read_accesses >= 2 * N * 4 // 32


@pytest.mark.parametrize("lines", [1, 2, 16])
def test_parts_that_run_apart_lose_no_line(lines):
    """A long stream over a memory that answers out of order: more lines than all parts may have under way."""
    bench = Bench(iru__prefetch_lines=lines, l2__size_bytes=1 << 18)
    index = np.random.default_rng(6).integers(0, 1 << 16, 16 * N)
    _, (nodes, _, positions, _) = bench.run(index, np.zeros(len(index), np.int32), "first")
    np.testing.assert_array_equal(nodes, index[positions])
    assert bench.last.iru_elements == len(index) > 32 * 16 * lines


def test_a_warp_that_gets_nothing_is_told_at_the_end():
    bench = Bench()
    stream, (_, _, _, presence) = bench.run(np.zeros(N), np.ones(N, np.int32), "add")
    assert stream.kept == 1 and presence.tolist() == [1]
    assert stream.order.value.tolist() == [N]
    assert bench.last.iru_loads == N // 32 and bench.last.iru_packs == 1


def test_reordering_saves_atomics():
    """Scattered atomics against the same ones block by block."""

    @kernel
    def plain(t, edges, sums):
        t.atomic_add(sums, t.load(edges, t.id), 1, used=False)

    @kernel
    def unit(t, edges, sums):
        node, _, _, present = t.iru_load(edges)
        with t.where(present == 1):
            t.atomic_add(sums, node, 1, used=False)

    bench = Bench()
    index = np.random.default_rng(5).integers(0, 1 << 13, 8 * N)
    edges, sums = bench.gpu.memory.array("e", index.astype(np.int32)), bench.gpu.memory.empty("s", 1 << 13)
    bench.gpu.launch(plain, len(index), edges, sums, phase="plain")
    before = bench.last
    with iru_stream(bench.gpu, edges, len(index), spec=IruSpec(), parts=16):
        bench.gpu.launch(unit, len(index), edges, sums, phase="unit")
    np.testing.assert_array_equal(sums.host, 2 * np.bincount(index, minlength=1 << 13))
    assert bench.last.l2_read_accesses < 0.6 * before.l2_read_accesses


# ---------------------------------------------------------------------- refusals
def test_refusals():
    gpu = Gpu(Counter(), memory_bytes=1 << 20)
    edges, wide = gpu.memory.empty("edges", 64, np.int32), gpu.memory.empty("wide", 64, np.int64)
    unit = {"spec": IruSpec(), "parts": 4}
    cases = [
        ((edges, 65), {}, "iru_stream: 65 elements of 'edges', which has 64"),
        ((wide, 64), {}, "iru_stream: index 'wide' is int64; write 4-byte integers"),
        ((edges, 64), {"merge": "max"}, "iru_stream: merge='max'; write one of none, first, min, add"),
        ((edges, 64), {"merge": "add"}, "iru_stream: merge='add' needs values="),
        ((edges, 64), {"values": wide}, "iru_stream: values 'wide' is int64[64]; write 4 bytes each"),
        ((edges, 64), {"target_bytes": 3}, "iru_stream: target_bytes=3; write 1, 2, 4 or 8"),
    ]
    for place, options, text in cases:
        with pytest.raises(KernelError) as error, iru_stream(gpu, *place, **unit, **options):
            pass
        assert str(error.value) == text


def test_a_load_without_a_stream_is_refused():
    bench = Bench()
    bench.run(np.zeros(32), np.zeros(32, np.int32))
    out = [bench.gpu.memory.empty(f"o{k}", 32) for k in range(5)]
    with pytest.raises(KernelError, match=r"t.iru_load\(o0\): the unit is not configured for it"):
        bench.gpu.launch(hand_out, 32, *out, phase="test")


# ---------------------------------------------------------------------- algorithms
@pytest.mark.parametrize("graph_name", ["rmat-8", "delaunay-8", "grid-9x13"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "pagerank"])
def test_answers(algorithm, graph_name):
    machine = load_machine("tx1", {"iru.hash_entries": 4})
    chosen = ALGORITHMS[algorithm]
    graph, options = chosen.prepare(load_graph(graph_name), chosen.options())
    engine = Engine(machine, unit_named("iru").components(), checks=True)
    gpu = Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads))
    outcome = unit_named("iru").driver(algorithm, machine)(gpu, graph, options)
    verdict = chosen.check(graph, outcome, options)
    assert verdict.passed, verdict.reason
    assert engine.total.iru_elements > 0 and outcome.notes["merged_elements"] >= 0
