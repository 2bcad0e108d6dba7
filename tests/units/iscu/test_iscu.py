"""The IRU-enhanced SCU: its parts against a naive oracle, laws of their timing, answers, refusals to the letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_iscu
from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.simt import Counter, Gpu
from warpsift.units import unit_named
from warpsift.units.scu.iscu.iscu_api import Iscu
from warpsift.units.scu.iscu.iscu_costs import part_bounds
from warpsift.units.scu.iscu.iscu_hash import PartsHash
from warpsift.units.scu.iscu.iscu_spec import IscuSpec
from warpsift.units.scu.scu_checks import ScuError

N = 4096
MERGES = st.sampled_from(["first", "min", "add"])
ENTRIES = st.sampled_from([1, 2, 64])
SIZES = st.fixed_dictionaries(
    {
        "iscu.hash_entries": ENTRIES,
        "iscu.filter_entries": ENTRIES,
        "iscu.ready_groups": st.sampled_from([1, 8]),
        "iscu.queue_elements": st.sampled_from([1, 3, 64]),
        "iscu.gather_cycles": st.sampled_from([0, 1, 32, 500]),
        "scu.width": st.sampled_from([1, 4, 16]),
        "scu.hash_ports": st.sampled_from([0, 1, 3]),
        "scu.hash_buffer_bytes": st.sampled_from([144, 1000, 18432]),
        "scu.store_open_lines": st.sampled_from([1, 4]),
    }
)


# ---------------------------------------------------------------------- what the parts compute
@settings(max_examples=150, deadline=None)
@given(
    streams=st.lists(st.lists(st.integers(0, 900), max_size=200), min_size=1, max_size=3),
    merge=MERGES,
    parts=st.sampled_from([1, 3, 16]),
    entries=ENTRIES,
    filter_entries=ENTRIES,
    filters=st.booleans(),
    cut=st.integers(0, 200),
)
def test_the_parts_do_what_the_oracle_does(streams, merge, parts, entries, filter_entries, filters, cut):
    """Streams one after the other, each taken in two pieces: the hash is emptied in between, the filter is not."""
    spec = IscuSpec(hash_entries=entries, filter_entries=filter_entries)
    unit, oracle = PartsHash(spec, parts), naive_iscu.Parts(parts, entries, filter_entries)
    for stream in streams:
        nodes = np.array(stream, np.int64)
        values = (nodes * 7 + np.arange(nodes.size)).astype(np.int32) % 50
        unit.begin(merge, np.dtype(np.int32))
        found = [unit.take(nodes[k], values[k], filters) for k in (slice(0, cut), slice(cut, None))]
        found.append(unit.flush())
        groups, fate = oracle.stream(stream, values.tolist(), merge, filters)
        handed = [pair for group in groups for pair in group]
        assert [node for piece in found for node in piece.nodes.tolist()] == [node for node, _ in handed]
        assert [value for piece in found for value in piece.values.tolist()] == [value for _, value in handed]
        trace = np.concatenate([piece.trace for piece in found[:2]])
        assert [(int(word) & 255, int(word) >> 8 & 3) for word in trace] == [
            (part, {"kept": 0, "merged": 1, "filtered": 2}[what]) for part, what in fate
        ]
        emptied = [int(word) >> 10 & 63 for piece in found for word in piece.trace if int(word) >> 10 & 63]
        assert emptied == [len(group) for group in groups]


@settings(max_examples=60, deadline=None)
@given(nodes=st.lists(st.integers(0, 300), min_size=1, max_size=300), merge=MERGES, filters=st.booleans())
def test_nothing_new_is_dropped_and_merging_keeps_minimum_and_sum(nodes, merge, filters):
    unit = PartsHash(IscuSpec(hash_entries=2, filter_entries=2), 3)
    nodes = np.array(nodes, np.int64)
    values = np.arange(nodes.size, dtype=np.int32) * 7 % 31
    unit.begin(merge, np.dtype(np.int32))
    pieces = [unit.take(nodes, values, filters), unit.flush()]
    got, held = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("nodes", "values"))
    assert set(got) == set(nodes)
    for node in set(nodes) if not filters else ():
        mine, every = held[got == node], values[nodes == node]
        assert mine.sum() == every.sum() if merge == "add" else mine.min() == every.min() or merge == "first"


# ---------------------------------------------------------------------- operations on a modelled GPU
class Bench:
    """The unit on a modelled GPU that checks its balances after every operation."""

    def __init__(self, machine: str = "gtx980", **settings) -> None:
        names = {key.replace("__", "."): value for key, value in settings.items()}
        self.machine = load_machine(machine, {"noc.unit_ports": 5, **names})
        self.engine = Engine(self.machine, unit_named("iscu").components(), checks=True)
        self.gpu = Gpu(self.engine, memory_bytes=1 << 26)
        self.spec, self.parts = self.machine.unit("iscu"), self.machine.l2.slices
        self.unit = Iscu(self.gpu, self.machine.unit("scu"), self.spec, self.parts)

    def run(self, nodes, values=None, merge="first", filter=False):
        """Nodes and values that one compaction stores."""
        memory, n = self.gpu.memory, len(nodes)
        data, out = memory.array("nodes", np.asarray(nodes, np.int32)), memory.empty("out", n, np.int32)
        value = None if values is None else memory.array("values", values)
        values_out = None if values is None else memory.empty("values_out", n, values.dtype)
        kept = self.unit.merging_compaction(
            data, None, n, out=out, value=value, values_out=values_out, merge=merge, filter=filter
        )
        return out.host[:kept].tolist(), None if values_out is None else values_out.host[:kept].tolist()

    @property
    def last(self):
        return self.engine.operations[-1].counters


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 99),
    n=st.sampled_from([0, 1, 31, 33, 1000]),
    merge=MERGES,
    filter=st.booleans(),
    sizes=SIZES,
    machine=st.sampled_from(["gtx980", "tx1", "gtx480"]),
)
def test_every_size_stores_what_the_oracle_hands_back(seed, n, merge, filter, sizes, machine):
    """Two operations: the filter remembers the first; the engine's balances hold for both."""
    rng = np.random.default_rng(seed)
    bench = Bench(machine, **sizes)
    oracle = naive_iscu.Parts(bench.parts, bench.spec.hash_entries, bench.spec.filter_entries)
    for _ in range(2):
        nodes, values = rng.integers(0, 3000, n), rng.integers(0, 99, n).astype(np.int32)
        given = None if merge == "first" else values
        found = bench.run(nodes, given, merge, filter)
        groups, fate = oracle.stream(nodes.tolist(), values.tolist(), merge, filter)
        handed = [pair for group in groups for pair in group]
        assert found[0] == [node for node, _ in handed]
        assert given is None or found[1] == [value for _, value in handed]
        counted = [what for _, what in fate]
        assert bench.last.iscu_merged == counted.count("merged")
        assert bench.last.iscu_filtered == counted.count("filtered")
        assert bench.last.iscu_returned == len(handed) and bench.last.iscu_groups == len(groups)


def test_expansion_adds_what_the_input_carries():
    """Figure 4 of the SCU paper: B, C, D expand to E F F C G at 3 3 5 2 3; F comes once, with 3."""
    bench = Bench()
    memory = bench.gpu.memory
    targets = memory.array("targets", np.int32([4, 5, 5, 2, 6]))
    weights = memory.array("weights", np.int32([2, 2, 3, 1, 2]))
    index, counts = (memory.array(name, np.int32(v)) for name, v in (("index", [0, 2, 4]), ("counts", [2, 2, 1])))
    base = memory.array("base", np.int32([1, 2, 1]))
    out, costs = memory.empty("out", 5, np.int32), memory.empty("costs", 5, np.int32)
    n = bench.unit.merging_expansion(
        targets, index, counts, 3, out=out, values_out=costs, value=weights, value_base=base, merge="min"
    )
    assert dict(zip(out.host[:n].tolist(), costs.host[:n].tolist(), strict=True)) == {2: 3, 4: 3, 5: 3, 6: 3}


# ---------------------------------------------------------------------- laws
def ideal(**settings) -> Bench:
    return Bench(ideal__l2=True, ideal__noc=True, scu__inflight_requests=0, **settings)


def test_a_part_takes_one_element_per_clock():
    """Nodes of one block belong to one part; of as many blocks as parts, to all."""
    one, spread = ideal(), ideal()
    one.run(np.zeros(N))
    l2_clock = one.machine.clocks.core_mhz / one.machine.clocks.l2_mhz
    assert N * l2_clock <= one.last.cycles < N * l2_clock + 600
    spread.run(np.arange(N) * 32 % (32 * 16))
    assert spread.last.cycles < N / 4 + 600


def test_elements_share_packets():
    """A flit of 40 bytes has 8 of header and room for 8 nodes, or 4 with values; a packet waits until it is full."""
    bench = ideal()
    bench.run(np.arange(N))
    assert bench.last.iscu_packets == pytest.approx(N / 8, rel=0.05)
    bench.run(np.arange(N), np.zeros(N, np.int32), "min")
    assert bench.last.iscu_packets == pytest.approx(N / 4, rel=0.05)
    assert bench.last.iscu_group_packets == pytest.approx(N / 4, rel=0.05)
    alone = ideal(iscu__gather_cycles=0, scu__width=1)
    alone.run(np.arange(N) * 32)
    assert alone.last.iscu_packets >= 0.9 * N


def test_credits_bound_the_elements_of_a_part():
    cycles = {}
    for credits in (1, 2):
        bench = ideal(iscu__queue_elements=credits, iscu__gather_cycles=0)
        bench.run(np.zeros(512))
        cycles[credits] = bench.last.cycles
    assert cycles[1] == pytest.approx(2 * cycles[2], rel=0.25)


def test_one_pass_is_faster_and_moves_less_than_the_scus_two():
    nodes = np.random.default_rng(3).integers(0, 1 << 14, N).astype(np.int32)
    scu = Engine(load_machine("gtx980"), unit_named("scu").components(), checks=True)
    from warpsift.units.scu.scu_api import Scu

    gpu = Gpu(scu, memory_bytes=1 << 26)
    unit, data = Scu(gpu), gpu.memory.array("nodes", nodes)
    keep, _ = unit.data_compaction(data, None, filter=unit.filter_table("t", 1 << 18, 1 << 14, life="persistent"))
    unit.data_compaction(data, None, filter=keep)
    bench = Bench()
    bench.run(nodes, filter=True)
    assert bench.last.cycles < 0.5 * sum(timed.counters.cycles for timed in scu.operations)
    flits = [c.request_flits_sent + c.reply_flits_sent for c in (bench.last, *(t.counters for t in scu.operations))]
    assert flits[0] < 0.5 * sum(flits[1:])


def test_a_warps_nodes_lie_in_few_blocks():
    nodes = np.random.default_rng(1).integers(0, 1 << 12, N)  # 128 blocks of 32
    found, _ = Bench().run(nodes)
    blocks = [len({node // 32 for node in found[k : k + 32]}) for k in range(0, len(found) - 32, 32)]
    assert np.mean(blocks) < 4


def test_no_operation_beats_its_floor():
    for machine in ("gtx980", "tx1"):
        bench = Bench(machine)
        bench.run(np.random.default_rng(4).integers(0, 1 << 16, N), np.zeros(N, np.int32), "min")
        assert max(part_bounds(bench.machine, bench.last).values()) <= bench.last.cycles


# ---------------------------------------------------------------------- algorithms
@pytest.mark.parametrize("graph_name", ["rmat-8", "delaunay-8", "grid-9x13"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "pagerank"])
@pytest.mark.parametrize("small", [{}, {"iscu.hash_entries": 1, "iscu.filter_entries": 1}])
def test_answers(algorithm, graph_name, small):
    machine = load_machine("tx1", small)
    chosen = ALGORITHMS[algorithm]
    graph, options = chosen.prepare(load_graph(graph_name), chosen.options())
    engine = Engine(machine, unit_named("iscu").components(), checks=True)
    outcome = unit_named("iscu").driver(algorithm, machine)(Gpu(engine), graph, options)
    assert chosen.check(graph, outcome, options).passed
    assert engine.total.iscu_elements > 0
    assert engine.total.scu_hash_probes == engine.total.scu_cleared_lines == 0, "there is no table in memory"


# ---------------------------------------------------------------------- refusals
def refused(**changes) -> str:
    gpu = Gpu(Counter())
    unit, memory = Iscu(gpu, None, IscuSpec(), 16), gpu.memory
    data, costs = memory.array("ids", np.int32([1, 2])), memory.array("costs", np.int32([3, 4]))
    out, values_out = memory.empty("out", 2, np.int32), memory.empty("values", 2, np.int32)
    arguments = {"out": out, "value": costs, "values_out": values_out, "merge": "min", **changes}
    chosen = {"short": memory.empty("short", 1, np.int32), "data": data, "costs": costs, "out": out}
    chosen["reals"] = memory.empty("reals", 2, np.float32)
    arguments = {key: chosen.get(value, value) if isinstance(value, str) else value for key, value in arguments.items()}
    with pytest.raises(ScuError) as found:
        unit.merging_compaction(data, None, 2, **arguments)
    return str(found.value)


def test_refusals_say_what_to_write():
    name = "merging_compaction: "
    assert refused(merge="max") == name + "merge='max'; write one of first, min, add"
    assert refused(merge="first") == name + "merge='first' takes no values; write min or add"
    both = "values go with values_out=, the array that takes them; write both or neither"
    assert refused(value=None) == refused(values_out=None) == name + both
    needs = "merge='min' needs values; give value= or value_base="
    assert refused(value=None, values_out=None) == name + needs
    assert refused(out="short") == name + "'short' has room for 1 of 2 elements"
    assert refused(out="data") == name + "output 'ids' overlaps the input 'ids'; write to another array"
    assert refused(values_out="costs") == name + "output 'costs' holds the values; write to another array"
    assert refused(values_out="out") == name + "nodes and values both go to 'out'; write two arrays"
    assert refused(out="reals") == name + "output 'reals' is float32; write 4 bytes, integers for nodes"
    assert refused(value="reals") == name + "values 'reals' is float32[2]; write int32[2]"
