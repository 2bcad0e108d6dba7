"""Temporal coalescing of a launch's stream, held against a count line by line."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import naive_mff
from support.tapes import Tape
from warpsift.algorithms import ALGORITHMS
from warpsift.algorithms.options import OptionError
from warpsift.graph import load_graph
from warpsift.run.execute import simulate
from warpsift.simt import Gpu
from warpsift.simt.stream import LINE_SHIFT, LOAD
from warpsift.simt.temporal_window import Windowed

ARRAYS = ("in_sources", "shares")


def pull_stream(window=1):
    """The compute launch of PageRank, as the plain GPU runs it or through a window."""
    tape = Tape()
    algorithm = ALGORITHMS["pagerank"]
    graph, options = algorithm.prepare(
        load_graph("rmat-9"), algorithm.options(max_iterations=1, temporal_window=window)
    )
    algorithm.styles["vertex"](Gpu(tape, memory_bytes=16 << 20), graph, options)
    return tape.launches[0]


def steps_by_warp(launch, chunk):
    """For each warp the lines of each load of C or V, in program order."""
    tags = [launch.arrays.index(name) for name in ARRAYS]
    for w in range(chunk.warps):
        ops = chunk.ops[chunk.warp_first[w] : chunk.warp_first[w + 1]]
        ops = ops[(ops["kind"] == LOAD) & np.isin(ops["array"], tags)]
        yield [
            (chunk.transactions[op["first"] : op["first"] + op["transactions"]] >> LINE_SHIFT).tolist() for op in ops
        ]


@pytest.mark.parametrize("window", [1, 2, 3, 16, 64])
def test_windowed_streams_match_the_slow_count(window):
    launch, plain = pull_stream()
    _, windowed = pull_stream(window)
    for before, after in zip(plain, windowed, strict=True):
        steps = zip(steps_by_warp(launch, before), steps_by_warp(launch, after), strict=True)
        for mine, left in steps:
            assert sum(map(len, left)) == naive_mff.window_requests(mine, window)


def test_other_launches_and_arrays_stay_as_they_are():
    tapes = []
    for window in (1, 64):
        tape = Tape()
        algorithm = ALGORITHMS["pagerank"]
        graph, options = algorithm.prepare(
            load_graph("rmat-9"), algorithm.options(max_iterations=1, temporal_window=window)
        )
        algorithm.styles["vertex"](Gpu(tape, memory_bytes=16 << 20), graph, options)
        tapes.append(tape.launches)
    (_, plain), (_, commit) = tapes[0][0], tapes[0][1]
    (_, merged), (_, same) = tapes[1][0], tapes[1][1]
    for before, after in zip(commit, same, strict=True):
        assert np.array_equal(before.ops, after.ops) and np.array_equal(before.transactions, after.transactions)
    tags = [tapes[0][0][0].arrays.index(name) for name in ARRAYS]
    for before, after in zip(plain, merged, strict=True):
        others = ~np.isin(before.ops["array"], tags) | (before.ops["kind"] != LOAD)
        assert np.array_equal(before.ops["transactions"][others], after.ops["transactions"][others])


def test_the_answer_is_checked_and_traffic_falls():
    plain = simulate("pagerank", "rmat-11", gpu="gtx480", style="vertex", max_iterations=2)
    merged = simulate("pagerank", "rmat-11", gpu="gtx480", style="vertex", max_iterations=2, temporal_window=16)
    assert merged.check == "pass"
    assert merged.transactions < plain.transactions and merged.l2_accesses < plain.l2_accesses
    assert np.array_equal(plain.values, merged.values)


def test_windows_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="a window holds at least 1 operation, not 0"):
        Windowed(Tape(), 0, ARRAYS)
    with pytest.raises(OptionError, match="temporal_window is for the plain GPU"):
        simulate("pagerank", "rmat-6", gpu="gtx480", unit="mff", temporal_window=16)
