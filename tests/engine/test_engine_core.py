"""SMs: issue, scoreboard, barriers, shared memory, dispatch; the engine as a sink."""

import gc
import weakref

import pytest

from support.engine_streams import (
    alu,
    atomic,
    barrier,
    chunk,
    launch,
    load,
    load_sectors,
    shared,
    simulate,
    store,
    transaction,
)
from warpsift.engine import Engine, EngineError
from warpsift.engine.core.jit import JIT_ENABLED
from warpsift.machines import load_machine

GTX980 = load_machine("gtx980")
ALU = GTX980.sm.alu_latency_cycles


def test_a_dependent_chain_takes_its_latency_and_independent_instructions_one_cycle_each():
    chained = simulate([[alu(10, 10), alu()]]).cycles
    independent = simulate([[alu(10, 1), alu()]]).cycles
    assert chained - independent == 10 * ALU - 10


def test_schedulers_issue_in_parallel_and_warps_of_one_scheduler_in_turn():
    one = simulate([[alu(1000)]]).cycles
    four = simulate([[alu(1000)]] * 4, warps_per_cta=4).cycles  # one warp per scheduler
    eight = simulate([[alu(1000)]] * 8, warps_per_cta=8).cycles
    assert four == one
    assert eight - one == 1000


def test_fewer_lanes_occupy_the_issue_port_longer():
    assert simulate([[alu(100)]], sm__lanes_per_scheduler=8).issue_cycles == 400


def test_independent_loads_overlap_and_a_use_waits():
    two = simulate([[load(0, [0]), load(1, [1000]), alu(1, 1, wait=3)]]).cycles
    one = simulate([[load(0, [0]), alu(1, 1, wait=1)]]).cycles
    serial = simulate([[load(0, [0]), load(1, [1000], wait=1), alu(1, 1, wait=2)]]).cycles
    assert two < one + 40
    assert serial > 1.8 * one
    unused = simulate([[load(0, [0]), alu(50, 50)]])
    assert unused.stall_memory_cycles == 0


def test_a_slot_used_twice_is_free_when_the_last_has_returned():
    first = simulate([[load(0, [0]), alu(1, 1, wait=1)]]).cycles
    both = simulate([[load(0, [0]), alu(300, 300), load(0, [1000]), alu(1, 1, wait=1)]]).cycles
    assert both >= 300 * ALU + first - 20


def test_a_barrier_holds_until_the_last_warp_arrives():
    late = [alu(500, 500), barrier(), alu()]
    early = [alu(), barrier(), alu()]
    c = simulate([early, early, early, late], warps_per_cta=4)
    assert c.cycles >= 500 * ALU
    assert c.stall_barrier_cycles > 3 * 400 * ALU
    assert c.barrier_instructions == 4


def test_a_warp_that_ends_counts_as_arrived():
    assert simulate([[alu(), barrier(), alu()], [alu()]], warps_per_cta=2).ctas_completed == 1


def test_bank_passes_take_a_cycle_each():
    free = simulate([[shared(0, 1), alu(1, 1, wait=1)]]).cycles
    conflict = simulate([[shared(0, 32), alu(1, 1, wait=1)]]).cycles
    assert conflict - free == 31


@pytest.mark.parametrize(
    ("key", "value", "resident"),
    [("sm__ctas", 3, 3), ("sm__threads", 64, 2), ("sm__warps", 64, 32), ("sm__shared_bytes", 65536, 32)],
)
def test_dispatch_fills_an_sm_up_to_its_resources(key, value, resident):
    latency = 40  # so that the chains, not the issue ports, take the time
    overrides = {"sm.count": 1, "sm.alu_latency_cycles": latency, key.replace("__", "."): value}
    engine = Engine(load_machine("gtx980", overrides), checks=True)
    engine.begin(launch(64))
    engine.chunk(chunk([[alu(2000, 2000)]] * 64, 64))
    c = engine.end().counters
    waves = 64 / resident
    assert c.cycles == pytest.approx(waves * 2000 * latency, rel=0.1)


def test_shared_memory_limits_residency():
    engine = Engine(load_machine("gtx980", {"sm.count": 1}), checks=True)
    engine.begin(launch(8, shared_bytes=32768))
    engine.chunk(chunk([[alu(1000, 1000)]] * 8, 8))
    assert engine.end().counters.cycles == pytest.approx(4 * 1000 * ALU, rel=0.1)


def under(policy: str, warps):
    """Warps, a CTA each, on one scheduler."""
    return simulate(warps, sm__policy=policy, sm__count=1, sm__schedulers=1)


def test_greedy_runs_one_warp_ahead_and_round_robin_keeps_them_level():
    """Eight warps of 500 cycles: greedy, one is gone every 500 cycles; in turn, all are there until the last round."""
    warps = [[alu(10) for _ in range(50)] for _ in range(8)]
    greedy, level = under("gto", warps), under("lrr", warps)
    for c in (greedy, level):
        assert c.warp_instructions == 8 * 500
        assert c.cycles == pytest.approx(8 * 500, rel=0.05)
    assert greedy.resident_warp_cycles == pytest.approx(sum(500 * k for k in range(1, 9)), rel=0.05)
    assert level.resident_warp_cycles == pytest.approx(sum(8 * 500 - 10 * k for k in range(8)), rel=0.05)


def test_when_its_warp_ends_greedy_turns_to_the_oldest():
    """Warp 0 waits at first, so warp 1 runs to its end (500 cycles); then comes warp 0 (100), then warp 2 (500)."""
    warps = [[shared(0, 1), *(alu(10, wait=1) for _ in range(10))], *([[alu(10) for _ in range(50)]] * 2)]
    greedy, level = under("gto", warps), under("lrr", warps)
    assert greedy.resident_warp_cycles == pytest.approx(500 + 600 + 1100, rel=0.05)
    assert level.resident_warp_cycles == pytest.approx(300 + 2 * 1100, rel=0.1)


def work(n: int):
    return [[load(0, [7 * i, 7 * i + 3]), alu(5, 2, wait=1), store([i % 13]), alu(3)] for i in range(n)]


def test_results_do_not_depend_on_how_the_stream_is_cut():
    def timed(sizes):
        engine = Engine(GTX980, checks=True)
        engine.begin(launch(600))
        at = 0
        for size in sizes:
            engine.chunk(chunk(work(600)[at : at + size], size))
            at += size
        return dict(engine.end().counters)

    assert timed([600]) == timed([1, 99, 200, 300]) == timed([50] * 12)


def test_runs_are_deterministic_and_launches_keep_l2_but_not_l1():
    def timed():
        engine = Engine(GTX980, checks=True)
        for _ in range(2):
            engine.begin(launch(200))
            engine.chunk(chunk(work(200), 200))
            engine.end()
        return [dict(result.counters) for result in engine.launches]

    first, second = timed(), timed()
    assert first == second
    cold, warm = first
    assert warm["l1_read_misses"] == cold["l1_read_misses"]
    assert warm["dram_reads"] == 0 < cold["dram_reads"]


def test_launch_overhead_is_added_to_each_launch():
    plain = simulate([[alu(10)]]).cycles
    assert simulate([[alu(10)]], launch__overhead_cycles=5000).cycles == plain + 5000


def test_memory_is_bounded_by_live_chunks():
    engine = Engine(GTX980)
    engine.begin(launch(4000))
    for _ in range(40):
        engine.chunk(chunk(work(100), 100))
        assert len(engine._live) <= 25  # 16 SMs x 32 CTAs resident, 100 CTAs per chunk, and some long ones
    engine.end()
    assert not engine._live


def test_samples_are_cumulative_and_bounded():
    engine = Engine(GTX980, sample_interval_cycles=1)
    engine.begin(launch(3000))
    engine.chunk(chunk(work(3000), 3000))
    c = engine.end().counters
    samples = engine.samples()
    assert c.cycles > 4096 >= len(samples["cycle"]) >= 2000
    assert (samples["warp_instructions"][1:] >= samples["warp_instructions"][:-1]).all()
    assert samples["warp_instructions"][-1] <= c.warp_instructions
    steps = set((samples["cycle"][1:] - samples["cycle"][:-1]).tolist())
    assert len(steps) == 1


def test_traffic_is_counted_per_array():
    engine = Engine(GTX980)
    engine.begin(launch(1, arrays=("offsets", "values")))
    rows = [load_sectors(0, [transaction(5, 15)]), load_sectors(1, [transaction(9, 3), transaction(20, 1)])]
    rows[1] = ((*rows[1][0][:5], 1, 0), rows[1][1])
    engine.chunk(chunk([rows], 1))
    traffic = engine.end().arrays
    assert traffic["offsets"] == {"l1_transactions": 1, "l1_read_misses": 1, "l2_sectors": 4, "dram_reads": 4}
    assert traffic["values"] == {"l1_transactions": 2, "l1_read_misses": 2, "l2_sectors": 3, "dram_reads": 3}


def test_errors_say_what_to_do():
    engine = Engine(GTX980)
    with pytest.raises(EngineError) as error:
        engine.chunk(chunk([[alu()]], 1))
    assert str(error.value) == "Engine.chunk() needs a launch: call begin(launch) first"
    with pytest.raises(EngineError) as error:
        engine.begin(launch(1, shared_bytes=100000))
    assert (
        str(error.value)
        == "kernel 'test' needs 100000 bytes of shared memory per CTA, but sm.shared_bytes of 'gtx980' is 65536"
    )
    engine.begin(launch(2, warps_per_cta=2))
    with pytest.raises(EngineError) as error:
        engine.chunk(chunk([[alu()]] * 3, 2))
    assert str(error.value) == "launch 'test': a chunk of 2 CTAs has 3 warps, not 2 x 2"


def test_a_deadlock_is_an_error_that_names_the_stuck_component():
    engine = Engine(GTX980)
    engine.begin(launch(1, warps_per_cta=2))
    engine.chunk(chunk([[alu(), barrier(), alu()], [alu(1000, 1000), barrier(), alu()]], 1))
    ctas = engine._arena.arrays["sm.ctas"]
    ctas["warps"][ctas["warps"] > 0] += 1  # a third warp that never comes
    with pytest.raises(EngineError, match=r"deadlock at cycle \d+: 2 warps wait at a barrier"):
        engine.end()


def test_the_pipeline_in_front_of_l1_matters_only_when_the_cache_refuses():
    work = [[load(0, [warp * 7 % 64]), alu(1, 1, wait=1)] for warp in range(64)]
    plain = simulate(work, "gtx980", l1__mshrs=64)
    deep = simulate(work, "gtx980", l1__mshrs=64, l1__pipeline_lines=35)
    assert plain.l1_reservation_fails == deep.l1_reservation_fails == 0
    assert plain.cycles == deep.cycles


def test_instructions_leave_the_load_store_queue_for_the_pipeline_while_the_cache_refuses():
    """One MSHR: every line waits for the one before. The tags see the same lines, warps are held back less."""
    work = [[load(0, [1000 * warp]), alu(50, 1), alu(1, 1, wait=1)] for warp in range(32)]
    one_sm = {"sm__count": 1, "l1__mshrs": 1}
    plain, deep = (simulate(work, "gtx980", l1__pipeline_lines=lines, **one_sm) for lines in (0, 35))
    assert plain.l1_read_misses == deep.l1_read_misses == 32
    assert deep.stall_lsu_cycles < plain.stall_lsu_cycles / 4
    assert deep.cycles <= plain.cycles


def test_an_atomic_passes_loads_that_the_cache_refuses():
    work = [[load(0, [1000 * warp])] for warp in range(8)] + [[atomic(77, slot=0), alu(5000, 5000, wait=1)]]
    one_sm = {"sm__count": 1, "l1__mshrs": 1, "sm__lsu_queue_entries": 16}
    plain, deep = (simulate(work, "gtx980", l1__pipeline_lines=lines, **one_sm) for lines in (0, 35))
    assert plain.l2_atomic_operations == deep.l2_atomic_operations == 1
    assert deep.cycles < plain.cycles


@pytest.mark.skipif(not JIT_ENABLED, reason="plain Python finds memory through views, which Engine.close() forgets")
def test_an_engine_that_is_let_go_frees_its_memory():
    engine = Engine(GTX980)
    tags = weakref.ref(engine._arena.arrays["l2.tags"])
    del engine
    gc.collect()
    assert tags() is None
