"""Cycles in which an SM has a warp: what an active SM costs is charged by them."""

import pytest

import warpsift
from support.engine_streams import alu, simulate


def test_one_cta_keeps_one_sm_active():
    one = simulate([[alu(1000)]])
    assert 1000 <= one.sm_active_cycles <= one.cycles
    two = simulate([[alu(1000)]] * 2)
    assert two.sm_active_cycles == pytest.approx(2 * one.sm_active_cycles, rel=0.01)


@pytest.mark.parametrize("gpu", ["gtx980", "tx1"])
def test_active_cycles_are_bounded_by_residency_and_by_time(gpu):
    """An active SM has 1 to `sm.warps` warps, and every cycle in which a scheduler issued was one of an active SM."""
    run = warpsift.simulate("bfs", "kron-9", gpu=gpu, check=False)
    total, sm = run.engine.total, run.engine.machine.sm
    assert total.resident_warp_cycles / sm.warps <= total.sm_active_cycles <= total.resident_warp_cycles
    assert total.issue_cycles / sm.schedulers <= total.sm_active_cycles <= total.cycles * sm.count
    waiting = total.stall_no_warp_cycles / sm.schedulers  # schedulers without a warp, some of them in active SMs
    assert total.cycles * sm.count - waiting <= total.sm_active_cycles + total.launches * sm.count
