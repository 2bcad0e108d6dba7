"""Sampled runs: answers in full, exact where the stream is exact, near and honest where it is not."""

from __future__ import annotations

import numpy as np
import pytest

import warpsift
from warpsift.engine.counters import Counters
from warpsift.engine.leap.sampled_launch import Leap, SampledLaunch, Window
from warpsift.run.comparison import compare
from warpsift.run.request import RequestError
from warpsift.run.sampling.estimate import Estimate, Known, fitted
from warpsift.run.sampling.intervals import LEAP_ERROR, T_95, interval
from warpsift.run.sampling.relative_error import ratio_interval, relative_half
from warpsift.simt.stream import LaunchInfo

CASES = [
    ("bfs", "kron-12", {"gpu": "tx1"}),
    ("pagerank", "kron-11", {"gpu": "gtx980", "max_iterations": 8}),
    ("bfs", "delaunay-11", {"gpu": "tx1", "unit": "scu"}),
    ("pagerank", "kron-11", {"gpu": "gtx480", "unit": "mff", "max_iterations": 6}),
]


@pytest.mark.parametrize(("algorithm", "graph", "choices"), CASES)
def test_a_sampled_run_is_near_and_says_how_near(algorithm, graph, choices):
    full = warpsift.simulate(algorithm, graph, **choices)
    found = warpsift.simulate(algorithm, graph, sample=20, **choices)
    assert found.check == "pass" and np.array_equal(found.values, full.values)
    assert found.counters == full.counters
    for name in ("warp_instructions", "thread_instructions", "ctas_completed", "launches"):
        assert found.timing["counters"][name] == full.timing["counters"][name]
    assert 0 < found.sampling["timed_share"] < 0.9
    assert found.cycles == pytest.approx(full.cycles, rel=0.15)
    assert found.energy_joules == pytest.approx(full.energy_joules, rel=0.15)
    low, high = found.intervals["cycles"]
    assert low < found.cycles < high
    half = relative_half(found.intervals["cycles"])
    assert relative_half(found.intervals["seconds"]) == pytest.approx(half)
    assert abs(found.cycles / full.cycles - 1) < 3 * half
    assert "warp_instructions" in found.intervals["counters"]
    assert len(found.intervals["phases"]) == len(found.phases)


def test_one_core_and_two_agree_and_so_do_two_runs():
    runs = [warpsift.simulate("sssp", "kron-10", gpu="tx1", sample=10, threads=threads) for threads in (1, 2, 2)]
    first, *others = [run.as_dict() for run in runs]
    first.pop("host_seconds")
    for other in others:
        other.pop("host_seconds")
        assert other == first


def test_what_cannot_be_sampled_is_refused():
    with pytest.raises(RequestError, match="write 0, or 2 and more"):
        warpsift.simulate("bfs", "kron-8", gpu="tx1", sample=1)
    with pytest.raises(RequestError, match="add --gpu"):
        warpsift.simulate("bfs", "kron-8", sample=20)
    with pytest.raises(RequestError, match="a timeline needs every cycle"):
        warpsift.simulate("bfs", "kron-8", gpu="tx1", sample=20, sample_interval_cycles=100)


def test_a_comparison_of_sampled_runs_has_intervals():
    found = compare("bfs", warpsift.load_graph("kron-11"), ["none", "scu"], gpu="tx1", sample=20)
    plain, scu = (entry.as_dict() for entry in found.entries)
    low, high = scu["intervals"]["speedup"]
    assert low < scu["speedup"] < high
    half = np.hypot(*(relative_half(row["intervals"]["seconds"]) for row in (plain, scu)))
    assert relative_half([low, high]) == pytest.approx(half, rel=1e-6)


def test_an_interval_is_the_jackknife_of_its_replicates():
    replicates = [9.0, 11.0, 10.0, 10.5, 9.5, 10.0, 10.0, 10.0, 10.0, 10.0]
    spread = np.sqrt(0.9 * np.sum((np.array(replicates) - 10) ** 2))
    low, high = interval(10.0, [*replicates, 10.1])
    assert high - 10.0 == pytest.approx(np.hypot(T_95 * spread, LEAP_ERROR * 10)) == pytest.approx(10.0 - low)
    assert interval(7.0, [7.0] * 11) == [7.0, 7.0]
    assert interval(1.0, [9.0, *[1.0] * 10])[0] == 0.0  # nothing happens less than never


def test_what_follows_from_one_window_is_not_exact():
    assert interval(7.0, [7.0] * 10 + [7.01]) == pytest.approx([7 * (1 - LEAP_ERROR), 7 * (1 + LEAP_ERROR)])
    launch = sampled(np.array([1.5, 0.5, 0.1, 0.0]), 1, (1000, 2000, 9000, 50))
    known = [Known(np.array([1.0, 14000, 63000, 70]), {"launches": 1})]
    every = Estimate([launch], known)
    left_out = Estimate([launch], known, group=0, features=every.features)
    stretched = Estimate([launch], known, features=every.features, stretched=True)
    assert left_out.counters(0) == every.counters(0)  # there is nothing else to go by
    assert stretched.counters(0)["cycles"] > every.counters(0)["cycles"]
    assert stretched.counters(0)["dram_reads"] > every.counters(0)["dram_reads"]


def test_a_ratio_of_two_runs_errs_as_both_do():
    assert ratio_interval(2.0, None, None) is None
    assert ratio_interval(2.0, [97.0, 103.0], [192.0, 208.0]) == pytest.approx([1.9, 2.1])


def test_costs_are_found_and_never_negative():
    random = np.random.default_rng(2)
    work = random.random((30, 3)) * [10, 1000, 5000]
    assert fitted(work, work @ [7.0, 0.0, 0.2]) == pytest.approx([7.0, 0.0, 0.2], abs=1e-6)
    assert (fitted(work, work @ [7.0, -0.001, 0.2]) >= 0).all()


def sampled(costs, count, work):
    """A launch with a window in front of and behind every leap, all at the same costs."""
    window = np.array(work, float)
    cycles = int(window @ costs)
    seen = {"cycles": cycles, "dram_reads": 50, "l2_fills": 50, "l2_writebacks": 0}
    windows = [Window(window, seen) for _ in range(count + 1)]
    leaps = [Leap(5 * window, k + 1) for k in range(count)]
    timed = Counters({name: value * (count + 1) for name, value in seen.items()})
    info = LaunchInfo("k", "p", False, 9, 64)
    return SampledLaunch(info, "kind", timed=timed, windows=windows, leaps=leaps)


def test_what_was_leapt_over_and_left_out_is_estimated():
    launch = sampled(np.array([1.5, 0.5, 0.1, 0.0]), 6, (1000, 2000, 9000, 50))
    left_out = SampledLaunch(launch.info, "kind", touched_sectors=37 * 50)
    known = [Known(np.array([1.0, 74000, 333000, 370]), {}) for _ in range(2)]
    found = Estimate([launch, left_out], known)
    window = 1000 * 1.5 + 2000 * 0.5 + 9000 * 0.1
    for row in (0, 1):
        assert found.counters(row)["cycles"] == pytest.approx((7 + 6 * 5) * window, rel=1e-6)
        assert found.counters(row)["dram_reads"] == (7 + 6 * 5) * 50


def test_of_a_launch_that_was_touched_at_its_end_sectors_are_as_of_the_one_like_it():
    launch = sampled(np.array([1.5, 0.5, 0.1, 0.0]), 6, (1000, 2000, 9000, 50))
    left_out = SampledLaunch(launch.info, "kind", touched_sectors=None)
    works = ([1.0, 74000, 333000, 370], [1.0, 148000, 666000, 740])
    found = Estimate([launch, left_out], [Known(np.array(work), {}) for work in works])
    one, two = found.counters(0), found.counters(1)
    assert two["cycles"] == pytest.approx(2 * one["cycles"], rel=1e-6)
    assert two["dram_reads"] == pytest.approx(2 * one["dram_reads"], abs=1)
