"""Streaming reads and atomics: how much of the peak a machine reaches, and how fast one address is updated.

The reading kernel decides the share (docs/validation.md has two others): this is the one that asks for most at once.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine import Engine
from warpsift.machines import Machine
from warpsift.simt import Gpu, Residency, kernel

STREAM_ELEMENTS = 1 << 21  # 8 MB: four times the largest L2 of the papers' machines
WORDS_PER_THREAD = 4
ATOMICS = 1 << 15


@kernel
def read(t, values, out):
    """A CTA reads a tile of consecutive words, several per thread and all in flight at once; none is 1."""
    first = t.cta * (WORDS_PER_THREAD * t.batch.threads_per_cta) + t.in_cta
    words = [t.load(values, first, offset=k * t.batch.threads_per_cta) for k in range(WORDS_PER_THREAD)]
    total = words[0]
    for word in words[1:]:
        total = total | word
    with t.where(total == 1):
        t.store(out, t.id, total)


@kernel
def add_to(t, where, counts):
    t.atomic_add(counts, t.load(where, t.id), 1, used=False)


def _gpu(machine: Machine) -> tuple[Gpu, Engine]:
    engine = Engine(machine)
    return Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads)), engine


def stream_utilisation(machine: Machine) -> float:
    """Share of the peak bandwidth that a streaming read reaches."""
    gpu, engine = _gpu(machine)
    values = gpu.memory.empty("values", STREAM_ELEMENTS)
    threads = STREAM_ELEMENTS // WORDS_PER_THREAD
    gpu.launch(read, threads, values, gpu.memory.empty("out", threads), phase="stream")
    seconds = engine.seconds(engine.total.cycles)
    return values.size_bytes / seconds / machine.peak_dram_bytes_per_second


def atomics_per_slice_cycle(machine: Machine, spread: bool) -> float:
    """Atomic operations per L2 slice and core cycle: to one address (of one slice), or to random addresses."""
    gpu, engine = _gpu(machine)
    where = np.zeros(ATOMICS, np.int32)
    if spread:
        where = np.random.default_rng(1).integers(0, 1 << 14, ATOMICS).astype(np.int32)
    counts = gpu.memory.empty("counts", 1 << 14)
    gpu.launch(add_to, ATOMICS, gpu.memory.array("where", where), counts, phase="atomics")
    return ATOMICS / engine.total.cycles / (machine.l2.slices if spread else 1)
