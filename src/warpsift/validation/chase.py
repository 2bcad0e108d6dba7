"""Pointer-chase latency: one thread follows links through a footprint that fits L1, L2 or neither.

Cycles per dependent load, as the difference of two runs of different length divided by the further hops, so that
launch, first misses and the end of the kernel drop out. One link per 128-byte line.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.engine import Engine
from warpsift.machines import Machine
from warpsift.simt import Gpu, Residency, kernel

LINE_WORDS = 32


@kernel(guard=False)
def chase(t, links, out, hops):
    at = t.var(0)
    with t.where(t.id < 1):
        for _ in t.range(0, t.id + hops):
            at.set(t.load(links, at))
        t.store(out, t.id, at)


def _links(lines: int, shuffled: bool) -> np.ndarray:
    order = np.arange(lines)
    if shuffled:
        order[1:] = 1 + np.random.default_rng(3).permutation(lines - 1)
    words = np.zeros(lines * LINE_WORDS, np.int32)
    words[order * LINE_WORDS] = np.roll(order, -1) * LINE_WORDS
    return words


def _cycles(machine: Machine, links: np.ndarray, hops: tuple[int, ...]) -> list[int]:
    engine = Engine(machine)
    gpu = Gpu(sink=engine, residency=Residency(machine.sm.count, machine.sm.threads))
    array, out = gpu.memory.array("links", links), gpu.memory.empty("out", 32, np.int32)
    for count in hops:
        gpu.launch(chase, 32, array, out, count, phase="chase", threads_per_cta=32)
    return [result.counters.cycles for result in engine.launches]


def l1_latency(machine: Machine, hops: int = 400) -> float:
    """Hits in L1: a footprint of a quarter of it, L2 warmed before."""
    lines = machine.l1.size_bytes // 4 // 128
    _, short, long = _cycles(machine, _links(lines, False), (lines, lines, lines + hops))
    return (long - short) / hops


def l2_latency(machine: Machine, hops: int = 1000) -> float:
    """Misses in L1 and hits in L2: cyclic through four times L1 at least (a quarter of L2), L2 warmed before."""
    lines = max(4 * machine.l1.size_bytes if machine.l1.cached_loads else 0, machine.l2.size_bytes // 4) // 128
    _, short, long = _cycles(machine, _links(lines, False), (lines, hops, 2 * hops))
    return (long - short) / hops


def dram_latency(machine: Machine, hops: int = 1500, megabytes: int = 32) -> float:
    """Misses everywhere: shuffled lines of a footprint far beyond L2, caches cold."""
    links = _links(megabytes << 13, True)
    (short,), (long,) = _cycles(machine, links, (hops,)), _cycles(machine, links, (2 * hops,))
    return (long - short) / hops
