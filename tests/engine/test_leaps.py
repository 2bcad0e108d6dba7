"""Leaps of sampled runs: caches are touched as a naive cache would be, nothing is lost, short launches are exact."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.naive_tags import NaiveTags
from oracles.naive_turns import NaiveTurns
from support.engine_streams import alu, atomic, barrier, chunk, command, launch, load, shared, store
from warpsift.engine import Engine
from warpsift.engine.core.jit import from_python
from warpsift.engine.engine import EngineError
from warpsift.engine.l2.address_map import first_row, slice_of
from warpsift.engine.leap import leap_order, sampled_engine, schedule
from warpsift.engine.leap.leap import leap
from warpsift.engine.leap.leap_turns import QUANTUM
from warpsift.engine.leap.sampled_engine import SampledEngine
from warpsift.engine.leap.touch import WRITES, touch_lines
from warpsift.engine.leap.window_times import commands_in_flight, commands_took
from warpsift.engine.leap.windows_left import windows_left
from warpsift.engine.sm import sm_state
from warpsift.machines import load_machine
from warpsift.simt.stream import COMMAND, LOAD
from warpsift.units import resolve

SMALL_L2 = {"l2.size_bytes": 61440}


def test_touched_lines_are_those_of_a_naive_cache():
    engine = Engine(load_machine("gtx480", SMALL_L2))
    S, arrays = engine._S, engine._arena.arrays
    ways = int(arrays["l2"][0].ways)
    slice_at, row_at = from_python(slice_of), from_python(first_row)
    whole = bool(arrays["l2"][0].whole_line)
    naive = NaiveTags(ways, lambda line: (int(slice_at(S, line)), int(row_at(S, int(slice_at(S, line)), line))), whole)
    random = np.random.default_rng(5)
    lines = random.integers(0, 1500, 20_000)
    accesses = random.integers(1, 16, lines.size) | (random.random(lines.size) < 0.3) * WRITES
    for line, access in zip(lines.tolist(), accesses.tolist(), strict=True):
        naive.touch(line, access & 15, bool(access & WRITES))
    places = [engine._arena.adopt(name, np.array(a, np.int64)) for name, a in (("a", lines), ("b", accesses))]
    touch_lines(S, *places, lines.size)
    found = {int(tag): row for row, tag in enumerate(arrays["l2.tags"]) if tag >= 0}
    assert set(found) == set(naive.valid)
    assert {line: int(arrays["l2.lines"][row].valid) for line, row in found.items()} == naive.valid
    assert {line: int(arrays["l2.lines"][row].dirty) for line, row in found.items()} == naive.dirty
    assert len(naive.valid) > 400  # the cache is full, so that lines were replaced
    engine.close()


def warp_of(number: int, length: int) -> list:
    """Loads that depend on each other, a store, an atomic and a barrier now and then."""
    rows = []
    for k in range(length):
        rows += [load(k % 8, [number * 97 + 13 * k, 31 * k], wait=1 << (k - 1) % 8), alu(6, 2, wait=1 << k % 8)]
        rows += [store([number + k])] if k % 5 == 0 else []
        rows += [atomic(k % 7, 2)] if k % 9 == 0 else []
        rows += [shared(9, 2), barrier()] if k % 10 == 9 else []
    return rows


def run(engine, ctas: int, length: int):
    engine.begin(launch(ctas, 4))
    for first in range(0, ctas, 64):
        count = min(64, ctas - first)
        warps = [warp_of(4 * first + k, length + length * (k % 3) // 2) for k in range(4 * count)]
        engine.chunk(chunk(warps, count))
    return engine.end()


def test_nothing_is_lost_in_leaps():
    engine = SampledEngine(load_machine("tx1"), sample=20)
    run(engine, 600, 60)
    arrays, (launched,) = engine._arena.arrays, engine.sampled
    assert len(launched.leaps) >= 3
    assert launched.timed.ctas_dispatched == launched.timed.ctas_completed == 600
    assert not arrays["sms"]["warps_resident"].any() and not arrays["sms"]["ops_in_flight"].any()
    assert not arrays["sm.slots"]["count"].any() and arrays["noc"][0].in_use == 0
    assert not arrays["l1.sms"]["mshrs_used"].any() and not arrays["l2.slices"]["fills_in_flight"].any()
    assert not engine._live, "every chunk is let go"
    engine.close()


def test_leaps_and_windows_are_all_of_the_work():
    engine = SampledEngine(load_machine("tx1"), sample=20)
    run(engine, 600, 60)
    (launched,) = engine.sampled
    leapt = sum(leap.work for leap in launched.leaps)
    full = run(Engine(load_machine("tx1")), 600, 60).counters
    assert leapt[2] + launched.timed.warp_instructions == full.warp_instructions
    assert 0 < launched.timed.warp_instructions < full.warp_instructions / 2
    engine.close()


def test_a_short_launch_is_timed_in_full():
    engine, whole = SampledEngine(load_machine("tx1"), sample=20), Engine(load_machine("tx1"))
    assert run(engine, 8, 4).counters == run(whole, 8, 4).counters
    assert not engine.sampled[0].leaps
    engine.close()


def test_a_unit_that_learns_from_what_it_sees_is_refused():
    unit = resolve("next-line")
    with pytest.raises(EngineError, match="cannot be sampled: what it has seen decides what it does; leave out"):
        SampledEngine(load_machine("gtx980"), unit.components(), sample=20)


def leapt_engine(pace: float, until: int):
    """One SM in which the load-store unit takes so many cycles for a line; behind a leap of so many cycles."""
    engine = SampledEngine(load_machine("tx1", {"sm.count": 1}), sample=20)
    streams = [[load(0, [64 * number + line for line in range(32)], wait=1)] * 200 for number in range(8)]
    Engine.begin(engine, launch(len(streams), 1))
    engine._push(chunk(streams, len(streams)))
    engine._latency, engine._pace = 100, round(pace * leap_order.PACE_ONE)
    engine._command_latency = 100
    engine._give_order(until)
    engine._order[leap_order.FINAL] = engine._order[leap_order.FLOOR] = 1
    leap(engine._S, engine._p_order)
    return engine


def done_by_age(engine) -> list[int]:
    """Records that each resident warp is through with, the oldest first."""
    warps = engine._arena.arrays["sm.warps"]
    resident = warps[warps["state"] != sm_state.EMPTY]
    in_order = resident[np.argsort(resident["age"])]
    return (in_order["pc"] - in_order["end"] + 200).tolist()


def test_the_oldest_warps_go_first_where_the_load_store_unit_is_behind():
    free, held = leapt_engine(0.01, 6400), leapt_engine(1.0, 6400)
    everyone, served = done_by_age(free), done_by_age(held)
    assert len(everyone) == len(served) == 8
    assert max(everyone) - min(everyone) <= 1 and min(everyone) > 40  # a turn per latency of 100 cycles
    assert sum(served) == pytest.approx(6400 / 32, rel=0.05)  # 32 lines each, one per cycle
    assert served == sorted(served, reverse=True) and served[0] > 40 and served[-1] < served[0] / 4
    free.close()
    held.close()


def random_warp(random: np.random.Generator, length: int, commands: bool) -> list:
    """Loads of one to 32 lines, stores, atomics, shared memory, ALU chains; a barrier every ten, so that warps meet.

    With commands to a unit in the place of some loads, or without.
    """
    rows = []
    for k in range(length):
        lines = random.integers(0, 5000, random.choice([1, 1, 2, 8, 32])).tolist()
        slot, wait = int(random.integers(0, 4)), int(random.integers(0, 16)) if random.random() < 0.4 else 0
        kinds = [load(slot, lines, wait), store(lines, wait), atomic(lines[0], 2, slot, wait), shared(slot, 3, wait)]
        kinds[0] = command(slot, len(lines), wait) if commands and len(lines) == 2 else kinds[0]
        rows.append([*kinds, alu(5, 3, wait)][random.choice(5, p=[0.4, 0.1, 0.1, 0.2, 0.2])])
        rows += [barrier()] if k % 10 == 9 else []
    return rows


@pytest.mark.parametrize("commands", [False, True])
@pytest.mark.parametrize("pace", [0.5, 4.0])
@pytest.mark.parametrize("wakes", ["oldest", "next"])
def test_turns_are_those_of_a_naive_clock(pace, wakes, commands):
    """With commands as a rehearsal, which asks no unit."""
    random = np.random.default_rng(7)
    warps = [random_warp(random, 10 * int(random.integers(3, 12)), commands) for _ in range(24)]
    for until in (500, 3000, 1 << 40):
        machine = load_machine("tx1", {"sm.count": 2, "sm.lsu_wakes": wakes})
        engine = SampledEngine(machine, sample=20)
        Engine.begin(engine, launch(12, 2))
        engine._push(chunk(warps, 12))
        engine._latency, engine._pace = 130, round(pace * leap_order.PACE_ONE)
        engine._command_latency = 700
        engine._give_order(until, 1 << 40 if commands else 0)
        engine._order[leap_order.FINAL], engine._order[leap_order.FLOOR] = 1, 0
        leap(engine._S, engine._p_order)
        numbers = {"quantum": QUANTUM, "latency": 130, "pace": pace, "in_turn": wakes == "next", "command_latency": 700}
        spec = {"shared_latency": machine.sm.shared_latency_cycles, "alu_latency": machine.sm.alu_latency_cycles}
        naive = NaiveTurns(warps, 2, 2, numbers | spec)
        assert int(engine._order[leap_order.REACHED]) == naive.run(until)
        assert (int(engine._order[leap_order.COMMANDS]) > 0) == commands
        told = [int(engine._order[word]) for word in (leap_order.OPS, leap_order.TRANSACTIONS, leap_order.INSTRUCTIONS)]
        assert told == [naive.ops, naive.lines, naive.instructions]
        table = engine._arena.arrays["sm.warps"]
        left = table["end"] - table["pc"]
        assert sorted(left[table["state"] != sm_state.EMPTY].tolist()) == sorted(
            len(warp.rows) - warp.at for warp in naive.warps if not warp.through
        )
        engine.close()


def test_what_is_left_of_a_launch_follows_from_ctas_to_come_or_from_its_warps():
    opened = np.zeros(6, [("state", np.int64), ("age", np.int64), ("pc", np.int64), ("end", np.int64)])
    opened["state"], opened["age"], opened["end"] = sm_state.BLOCKED, range(6), 100
    closed = opened.copy()
    closed["pc"] = 10  # of the 100 records
    assert windows_left(40, 8, opened, closed) == 5
    assert windows_left(40, 0, opened, closed) == 40
    assert windows_left(0, 0, opened, closed) == 9
    closed["state"][:2] = sm_state.EMPTY
    closed["age"][2] = 9  # another warp than before
    closed["pc"][3:] = 20
    assert windows_left(0, 0, opened, closed) == 4
    closed["state"] = sm_state.EMPTY
    assert windows_left(0, 0, opened, closed) == 0


def test_commands_took_as_long_as_littles_law_says():
    ops = np.zeros(sm_state.MEMORY_OPS + 5, sm_state.MEMORY_OP)
    ops["issued"] = 1
    second = ops[sm_state.MEMORY_OPS :]  # the second SM's
    second["kind"], second["warp"] = [COMMAND, COMMAND, COMMAND, LOAD, COMMAND], [3, 5, 7, 9, 11]
    second["remaining"], second["issued"] = [1, 3, 0, 1, 0], [1, 1, 0, 1, 1]  # the last one is through
    assert commands_in_flight(ops).tolist() == [sm_state.WARPS + warp for warp in (3, 5, 7)]
    assert commands_took(3, 4000, 12, 100) == 1000
    assert commands_took(0, 4000, 12, 100) == 1
    assert commands_took(3, 4000, 0, 100) == 100


def test_a_long_launch_that_repeats_is_timed_once_and_touched_at_its_end(monkeypatch):
    monkeypatch.setattr(sampled_engine, "HELD_BYTES", 1 << 10)
    engine = SampledEngine(load_machine("tx1"), sample=20)
    engine._touched_lines = 20_000
    touched = []
    touch = engine._touch_chunk
    monkeypatch.setattr(engine, "_touch_chunk", lambda chunk: touched.append(chunk.ctas) or touch(chunk))
    for length in (20, 20, 20, 60):
        run(engine, 600, length)
    assert [each.timed is not None for each in engine.sampled] == [True, False, False, True]
    assert [each.touched_sectors for each in engine.sampled] == [0, None, None, 0]
    assert 0 < sum(touched) < 600  # 200 transactions or so of each CTA, of two launches
    engine.close()


def test_short_launches_that_repeat_are_touched_as_a_whole_and_more_ctas_are_another_size():
    engine = SampledEngine(load_machine("tx1"), sample=20)
    for ctas in (8, 8, 8, 8, 8, 8, 16):
        run(engine, ctas, 4)
    assert [each.timed is not None for each in engine.sampled] == [True] * 4 + [False] * 2 + [True]
    assert all(each.touched_sectors is not None for each in engine.sampled)
    engine.close()


def test_the_first_windows_of_a_kind_have_no_leap_behind_them():
    """Two windows say too little: a BFS of the MFF was 28 % off."""
    plan = schedule.Schedule(20)
    assert [plan.has_seen("kind") for _ in range(4)] == [False, False, True, True]
    assert not plan.has_seen("another")


def test_leaps_do_not_grow_beyond_all_bounds():
    """A kind of launch that was seen tens of thousands of times: SSSP on a deep graph."""
    plan = schedule.Schedule(20)
    plan.windows["kind"] = 100_000
    assert 1e5 < plan.leap_windows("kind", 20_000) < 1e9
