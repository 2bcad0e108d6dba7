"""Pointer chase over a footprint, as gpu-benches' gpu-latency runs it: one warp, absolute addresses, random order.

The word that a hop reads is the address of the next one, so a hop is one load and nothing else. A footprint that fits
the L2 is chased through once before hops are counted; one that does not misses on every hop, warm or not.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.engine import Engine
from warpsift.hardware import LINE_BYTES, WARP_SIZE
from warpsift.machines import Machine
from warpsift.simt import Gpu, Residency, kernel

HOPS = 1024  # counted
L1_LINES = 4096  # a footprint of more never fits an L1, so that an L1 that a launch has emptied shows nothing


@kernel(guard=False)
def chase(t, links, out, hops):
    at = t.load(links, t.id * 0)
    for _ in range(hops):
        at.addressed = {links.itemsize: {links.tag}}  # the word is the address itself
        at = t.load(links, at)
    with t.where(t.id < 0):  # never; the loop has an end that uses the result
        t.store(out, t.id, at)


def _ring(lines: int) -> np.ndarray:
    """A link in the first word of each line, through all lines in random order and back to the first."""
    words = LINE_BYTES // 8
    order = np.random.default_rng(3).permutation(lines)
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    links = np.zeros(lines * words, np.int64)
    links[order * words] = np.roll(order, -1) * words
    return links


def cycles_per_hop(machine: Machine, footprint_kb: float) -> float:
    """Core cycles per dependent load."""
    lines = max(2, int(footprint_kb * 1024) // LINE_BYTES)
    engine = Engine(machine)
    gpu = Gpu(sink=engine, residency=Residency(machine.sm.count, machine.sm.threads))
    array, out = gpu.memory.array("links", _ring(lines)), gpu.memory.empty("out", WARP_SIZE, np.int64)
    warm = lines if lines <= L1_LINES else 0  # in front of the hops that count, in the same launch
    before = lines if lines * LINE_BYTES <= machine.l2.size_bytes else 0
    for hops in (before, warm, warm + HOPS):
        gpu.launch(chase, WARP_SIZE, array, out, hops, phase="chase", threads_per_cta=WARP_SIZE)
    short, long = (launch.counters.cycles for launch in engine.launches[-2:])
    engine.close()
    return (long - short) / HOPS
