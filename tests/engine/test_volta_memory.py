"""What Volta's L1 and atomics have: several tags per cycle, shared memory out of the L1's array, lanes added up."""

from dataclasses import replace

import pytest

from support.engine_streams import alu, atomic, chunk, launch, load_sectors, simulate, transaction
from warpsift.engine import Engine
from warpsift.engine.l1.l1_state import ways_beside
from warpsift.machines import load_machine

V100 = {"sm.count": 1, "l2.slices": 32, "dram.channels": 32, "l2.size_bytes": 3145728}


def reads(lines: int, sectors: int, rounds: int = 200, tags: int = 4) -> int:
    """Cycles of a load of so many lines, each with these sectors, again and again out of the L1."""
    machine = load_machine("v100", {**V100, "l1.tags_per_cycle": tags})
    wanted = [transaction(line, sectors) for line in range(lines)]
    few, many = (
        simulate(
            [[load_sectors(k % 16, wanted, wait=1 << k % 16) for k in range(n)] + [alu(1, 1, wait=65535)]], machine
        )
        for n in (rounds, 2 * rounds)
    )
    assert many.l1_read_misses == few.l1_read_misses == lines
    return many.cycles - few.cycles


@pytest.mark.parametrize(
    ("lines", "sectors", "per_load"),
    [(8, 0b0001, 2), (9, 0b0001, 3), (32, 0b0100, 8), (8, 0b0011, 4), (8, 0b1111, 8), (3, 0b0111, 3)],
)
def test_four_tags_and_a_line_of_sectors_per_cycle(lines, sectors, per_load):
    assert reads(lines, sectors) == pytest.approx(200 * per_load, rel=0.02)


def test_one_tag_per_cycle_is_a_line_per_cycle():
    assert reads(32, 1, tags=1) == pytest.approx(200 * 32, rel=0.02)


@pytest.mark.parametrize(("repeat", "operations"), [(1, 1), (16, 1), (17, 2), (32, 2)])
def test_lanes_on_one_address_are_added_up_by_sixteen(repeat, operations):
    machine = load_machine("v100", V100)
    many = simulate([[atomic(0, repeat=repeat)] for _ in range(512)], machine, warps_per_cta=8)
    assert many.l2_atomic_operations == 512 * operations
    one_by_one = load_machine("v100", {**V100, "l2.atomic_lanes": 1})
    apart = simulate([[atomic(0, repeat=repeat)] for _ in range(512)], one_by_one, warps_per_cta=8)
    assert apart.l2_atomic_operations == 512 * repeat
    assert repeat <= 16 or apart.cycles > 3 * many.cycles


def test_shared_memory_takes_its_part_of_the_array():
    v100, gtx980 = load_machine("v100", {"l1.holds_shared": True}), load_machine("gtx980")
    assert [ways_beside(v100, kb * 1024) for kb in (0, 1, 8, 9, 16, 33, 64, 65, 96)] == [16, 15, 15, 14, 14, 8, 8, 4, 4]
    assert ways_beside(gtx980, 40000) == gtx980.l1.ways


@pytest.mark.parametrize(("shared_bytes", "misses"), [(0, 700), (3072, 1400)])  # 32 CTAs of 3 KB leave 32 KB of L1
def test_a_launch_with_shared_memory_has_a_smaller_l1(shared_bytes, misses):
    lines = [transaction(line, 15) for line in range(700)]  # 88 KB
    work = [[load_sectors(k % 16, [line], wait=1 << k % 16) for k, line in enumerate(2 * lines)]]
    engine = Engine(load_machine("v100", {**V100, "l1.holds_shared": True}), checks=True)
    engine.begin(launch(1, 1, shared_bytes))
    engine.chunk(chunk(work, 1))
    assert engine.end().counters.l1_read_misses == misses


def test_code_is_fetched_line_after_line_the_first_time():
    def cycles(fetch: int) -> list[int]:
        engine = Engine(load_machine("v100", {**V100, "launch.cold_fetch_cycles": fetch}), checks=True)
        for _ in range(2):
            engine.begin(replace(launch(1), code_bytes=1000))
            engine.chunk(chunk([[alu(5, 3)]], 1))
            engine.end()
        return [timed.counters.cycles for timed in engine.launches]

    (first, again), (cold, warm) = cycles(0), cycles(212)
    assert (cold - first, warm - again) == (8 * 212, 0)


def eight_streams(lanes: int = 32) -> int:
    """Cycles of 400 further loads of each of eight warps, all of one line in the L1."""
    machine = load_machine("v100", {**V100, "sm.lsu_lanes": lanes})
    fewer, more = (
        simulate([[load_sectors(k % 16, [transaction(0, 15)], wait=1 << k % 16) for k in range(n)]] * 8, machine, 8)
        for n in (400, 800)
    )
    return more.cycles - fewer.cycles


def test_warps_that_take_turns_keep_the_port_busy():
    assert eight_streams() == pytest.approx(8 * 400, rel=0.05)


def test_half_the_load_store_lanes_take_twice_the_time():
    assert eight_streams(16) == pytest.approx(2 * 8 * 400, rel=0.05)
