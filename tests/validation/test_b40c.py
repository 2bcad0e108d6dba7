"""b40c's BFS finds a naive search's levels; its shares are those of its source; the M60 has Maxwell's latencies."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from warpsift.algorithms.conventions import INFINITY
from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine
from warpsift.simt import Gpu, Residency, kernel
from warpsift.simt.stream_counter import Counter
from warpsift.validation import b40c
from warpsift.validation.hop_latency import cycles_per_hop


def levels_of(graph, source):
    """One node after the other."""
    levels = np.full(graph.nodes, INFINITY, np.int64)
    levels[source] = 0
    waiting = deque([source])
    while waiting:
        node = waiting.popleft()
        for target in graph.targets[graph.offsets[node] : graph.offsets[node + 1]].tolist():
            if levels[target] == INFINITY:
                levels[target] = levels[node] + 1
                waiting.append(target)
    return levels


def hubs():
    """Lists on both sides of each border: 0, 31, 32, 511, 512, 2000 entries; some nodes that nobody reaches."""
    degrees = np.array([3, 31, 32, 511, 512, 2000, 0, 1] * 4)
    rng = np.random.default_rng(2)
    targets = [rng.choice(4096, degree, replace=False) for degree in degrees]
    targets[0] = np.array([1, 3, 5])
    offsets = np.zeros(4097, np.int64)
    offsets[1 : degrees.size + 1] = degrees
    return CsrGraph(np.cumsum(offsets), np.concatenate(targets).astype(np.int32), None, "hubs")


@pytest.mark.parametrize("name", ["kron-10", "grid-20x20", "hubs"])
def test_levels(name):
    graph = hubs() if name == "hubs" else load_graph(name)
    for source in (0, 5):
        gpu = Gpu(Counter(), residency=Residency(2, 1024))
        assert np.array_equal(b40c.search(gpu, graph, source), levels_of(graph, source))


def shares_of_the_source(tiles, ctas):
    """cta_work_distribution.cuh: CTAs in order, the first `tiles % ctas` have one tile more; round by round."""
    begins, counts = [], []
    for cta in range(ctas):
        begins.append(sum(counts))
        counts.append(tiles // ctas + (1 if cta < tiles % ctas else 0))
    return [begins[cta] + turn for turn in range(max(counts)) for cta in range(ctas) if turn < counts[cta]]


@kernel(guard=False)
def which_tile(t, out, shares):
    t.store(out, t.cta, shares.tile_of(t))


@pytest.mark.parametrize(("tiles", "ctas"), [(1, 8), (7, 8), (8, 8), (9, 8), (100, 8), (1000, 128), (5, 1)])
def test_tiles_lie_where_the_shares_do(tiles, ctas):
    gpu = Gpu(Counter())
    out = gpu.memory.empty("out", tiles, np.int32)
    gpu.launch(which_tile, 32 * tiles, out, b40c.Shares.of(tiles, ctas), phase="test", threads_per_cta=32)
    assert out.host.tolist() == shares_of_the_source(tiles, ctas)


def test_latencies_of_maxwell():
    """225 cycles in the L2 and 379 in DRAM (Arafa et al. 2019) set the machine's numbers."""
    machine = load_machine("m60")
    assert cycles_per_hop(machine, 1024) == pytest.approx(225, abs=1)
    assert cycles_per_hop(machine, 16000) == pytest.approx(379, abs=2)
