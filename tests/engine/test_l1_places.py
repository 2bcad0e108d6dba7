"""When a missing line gets its place in the L1, what may wait on it, and how the L2 passes on what DRAM brings."""

from __future__ import annotations

import numpy as np
import pytest

from support.engine_streams import alu, load, load_sectors, simulate, transaction
from warpsift.engine.leap.sampled_engine import SampledEngine
from warpsift.machines import load_machine
from warpsift.run.execute import simulate as run

TINY = {"sm__count": 1, "l1__size_bytes": 512, "l1__ways": 4}  # one set of four lines


def wait(slot: int):
    return alu(1, 1, wait=1 << slot)


def test_a_line_keeps_its_place_until_the_data_of_the_next_is_there():
    """Four lines are in; a fifth is asked for, and the oldest once more before the fifth has come."""
    held = [row for line in range(4) for row in (load(0, [line]), wait(0))]
    work = [[*held, load(1, [9]), load(2, [0]), wait(1), wait(2), load(3, [9]), wait(3)]]
    at_miss, at_fill = (simulate(work, l1__allocate=when, **TINY) for when in ("miss", "fill"))
    assert (at_miss.l1_read_hits, at_miss.l1_read_misses) == (1, 6)  # 9 has taken the place of 0
    assert (at_fill.l1_read_hits, at_fill.l1_read_misses) == (2, 5)


def test_the_least_recently_used_line_at_the_time_of_the_fill_makes_room():
    """The oldest line is read while the new one is on its way: the next in age goes instead."""
    held = [row for line in range(4) for row in (load(0, [line]), wait(0))]
    work = [[*held, load(1, [9]), load(2, [0]), wait(1), wait(2), load(3, [0]), wait(3), load(4, [1]), wait(4)]]
    c = simulate(work, l1__allocate="fill", **TINY)
    assert (c.l1_read_hits, c.l1_read_misses) == (2, 6)  # 0 twice; 1 has gone


def test_more_lines_of_a_set_may_be_on_their_way_than_it_has_places():
    work = [[load(0, list(range(32))), wait(0)]]
    at_miss, at_fill = (simulate(work, l1__allocate=when, **TINY) for when in ("miss", "fill"))
    assert at_miss.l1_reservation_fails > 0 == at_fill.l1_reservation_fails
    assert at_fill.cycles < at_miss.cycles
    assert at_fill.l1_mshr_peak > 4 >= at_miss.l1_mshr_peak


def test_a_line_on_its_way_without_a_place_is_joined():
    work = [[load(k, [5]) for k in range(8)] + [wait(k) for k in range(8)]]
    c = simulate(work, l1__allocate="fill", **TINY)
    assert (c.l1_read_misses, c.l1_read_merged) == (1, 7)
    others = [[load_sectors(k, [transaction(5, 1 << k)]) for k in range(4)] + [wait(k) for k in range(4)]]
    c = simulate(others, l1__allocate="fill", **TINY)
    assert (c.l1_read_misses, c.l1_fills) == (4, 4)  # a sector each


@pytest.mark.parametrize("fill", [32, 128])
def test_without_pressure_both_kinds_are_equal_to_the_cycle(fill):
    """A load at a time, and no set over its places: then it does not matter when a line gets one."""
    rng = np.random.default_rng(fill)
    rows = [(load(0, rng.integers(0, 100, 8).tolist()), wait(0)) for _ in range(40)]
    work = [[row for pair in rows for row in pair]]
    machine = {"sm__count": 1, "l1__fill_bytes": fill}
    assert simulate(work, l1__allocate="fill", **machine) == simulate(work, l1__allocate="miss", **machine)


def test_as_many_may_wait_on_each_sector_where_sectors_are_fetched():
    """Sixteen warps on one line, four on each sector: with four merges none is refused; all on one sector: they are."""
    apart = [[load_sectors(0, [transaction(1, 1 << warp % 4)]), wait(0)] for warp in range(16)]
    together = [[load_sectors(0, [transaction(1, 1)]), wait(0)] for _ in range(16)]
    machine = {"sm__count": 1, "l1__mshr_merges": 4}
    assert simulate(apart, **machine).l1_reservation_fails == 0
    assert simulate(together, **machine).l1_reservation_fails > 100
    assert simulate(apart, l1__fill_bytes=128, **machine).l1_reservation_fails > 100  # a line comes as a whole


def test_fills_with_a_port_of_their_own_leave_the_slice_to_hits():
    """A slice answers hits for half of the SMs and misses for the other half."""
    slice_, sets = {"sm__count": 2, "l1__cached_loads": False, "ideal__dram": False, "l2__port_bytes_per_cycle": 32}, 16
    chunk = load_machine("gtx980").l2.interleave_bytes // 128
    hot = [[load_sectors(0, [transaction(0, 15)] * 8), wait(0)] * 12 for _ in range(32)]
    cold = [[load(0, [chunk * sets * (32 * k + w) for k in range(12)]), wait(0)] for w in range(32)]
    work = [row for pair in zip(hot, cold, strict=True) for row in pair]
    with_port, apart = (
        simulate(work, l2__fills_take_port=taken, l2__mapping="modulo", **slice_) for taken in (True, False)
    )
    assert with_port.l2_fills == apart.l2_fills > 1000
    assert with_port.l2_busy_cycles - apart.l2_busy_cycles >= with_port.l2_fills
    assert apart.cycles < with_port.cycles


def test_no_line_has_two_places_after_a_leap(monkeypatch):
    """A leap touches lines that are on their way without a place; their data then finds them there."""
    twice, left_out = [], SampledEngine._leap

    def leap_and_look(self, *arguments):
        answer = left_out(self, *arguments)
        for tags in self._arena.arrays["l1.tags"].reshape(self.machine.sm.count, -1):
            lines = tags[tags >= 0]
            twice.append(len(lines) - len(np.unique(lines)))
        return answer

    monkeypatch.setattr(SampledEngine, "_leap", leap_and_look)
    run("pagerank", "kron-13", gpu="v100", style="vertex", max_iterations=2, sample=20, check=False, threads=1)
    assert len(twice) > 160 and not any(twice)
