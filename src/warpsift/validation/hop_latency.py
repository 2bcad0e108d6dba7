"""Pointer chase over a footprint, as gpu-benches' gpu-latency runs it: one warp, absolute addresses, random order.

The word that a hop reads is the address of the next one, so a hop is one load and nothing else. A first kernel brings
the footprint through the L2 in the order of the chase, so that what is left there is what a chase round and round would
leave.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.engine import Engine
from warpsift.hardware import LINE_BYTES, WARP_SIZE
from warpsift.machines import Machine
from warpsift.simt import Gpu, Residency, kernel

HOPS = 1024  # counted
PIECE = 4096  # lines of one launch that brings them through the L2
L1_LINES = 4096  # a footprint of more never fits an L1, so that nothing of it need be warm


@kernel(guard=False)
def chase(t, links, out, hops):
    at = t.load(links, t.id * 0)
    for _ in range(hops):
        at.addressed = {links.itemsize: {links.tag}}  # the word is the address itself
        at = t.load(links, at)
    with t.where(t.id < 0):  # never; the loop has an end that uses the result
        t.store(out, t.id, at)


@kernel
def touch(t, links, order, out, first):
    word = t.load(links, t.load(order, t.id, offset=first))
    with t.where(word < 0):
        t.store(out, t.id, word)


def cycles_per_hop(machine: Machine, footprint_kb: float) -> float:
    """Core cycles per dependent load."""
    lines = max(2, int(footprint_kb * 1024) // LINE_BYTES)
    words = LINE_BYTES // 8
    order = np.random.default_rng(3).permutation(lines)
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    links = np.zeros(lines * words, np.int64)
    links[order * words] = np.roll(order, -1) * words
    engine = Engine(machine)
    gpu = Gpu(sink=engine, residency=Residency(machine.sm.count, machine.sm.threads))
    array, out = gpu.memory.array("links", links), gpu.memory.empty("out", lines, np.int64)
    touched = gpu.memory.array("order", (order * words).astype(np.int32))
    for first in range(0, lines, PIECE):  # one after the other, so that the order of the L2's lines is the chase's
        gpu.launch(touch, min(PIECE, lines - first), array, touched, out, first, phase="touch")
    warm = lines if lines <= L1_LINES else 0
    for hops in (warm, warm + HOPS):
        gpu.launch(chase, WARP_SIZE, array, out, hops, phase="chase", threads_per_cta=WARP_SIZE)
    short, long = (launch.counters.cycles for launch in engine.launches[-2:])
    engine.close()
    return (long - short) / HOPS
