"""Bandwidth of a card as RRZE-HPC/gpu-benches measures it: the same kernels, smaller arrays.

gpu-stream: every thread moves one element of eight bytes and ends, and the number of CTAs that an SM holds is bounded,
so that bandwidth is seen against resident threads. gpu-cache: every SM sums the same block of floats again and again.
gpu-l2-cache: many CTAs of 1024 threads sum 32 doubles each out of a footprint that all share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warpsift.engine import Engine
from warpsift.machines import Machine, load_machine
from warpsift.simt import Gpu, Kernel, Residency, kernel

WAVES = 8  # of resident CTAs that are timed, and of resident threads at least
UNROLLED = 32  # loads of the body of both sums (pragmas in gpu-benches), in the order of ptxas 12.4 for sm_70:
L1_AHEAD = 16  # ... sixteen loads, then an addition and a load in turn, as registers become free
L2_AHEAD = 11  # ... eleven, of doubles
L2_CTA = 1024
L2_LOADS = 32
L1_CTA = 256


@kernel
def init(t, a, b, c, d):
    t.store(a, t.id, 0.23)


@kernel
def read(t, a, b, c, d):
    value = t.load(b, t.id)
    with t.where(value == 123.0):
        t.store(a, t.id, value)


@kernel
def scale(t, a, b, c, d):
    t.store(a, t.id, t.load(b, t.id) * 1.2)


@kernel
def triad(t, a, b, c, d):
    first, second, third = t.load(b, t.id), t.load(d, t.id), t.load(c, t.id)
    t.store(a, t.id, t.fma(first, second, third))


@dataclass(frozen=True)
class Stream:
    kernel: Kernel
    arrays: int  # that it moves


STREAMS = {"init": Stream(init, 1), "read": Stream(read, 1), "scale": Stream(scale, 2), "triad": Stream(triad, 4)}


@kernel
def sum_block(t, out, values, loads, rounds):
    """A CTA reads `loads` elements per thread, `rounds` times."""
    total = t.var(0.0)
    for _ in t.range(0, t.id * 0 + rounds):
        _sum(t, values, t.in_cta, [k * L1_CTA for k in range(loads)], L1_AHEAD, total)
    with t.where(total == 1233.0):
        t.store(out, t.id, total)


@kernel
def sum_shared(t, out, values, runs):
    """CTA k reads its part of `runs` parts; consecutive loads of a thread are `runs` CTAs apart."""
    total = t.var(0.0, np.float64)
    first = (t.cta % runs) * L2_CTA + t.in_cta
    _sum(t, values, first, [k * runs * L2_CTA for k in range(L2_LOADS)], L2_AHEAD, total)
    with t.where(total == 23.12):
        t.store(out, t.in_cta, total)


def _sum(t, values, first, offsets, ahead, total) -> None:
    """Loads run ahead of the additions by so many; the window closes at the end of an unrolled body."""
    for start in range(0, len(offsets), UNROLLED):
        body = offsets[start : start + UNROLLED]
        words = [t.load(values, first, offset=offset) for offset in body[:ahead]]
        for k in range(len(body)):
            total += words[k]
            if k + ahead < len(body):
                words.append(t.load(values, first, offset=body[k + ahead]))


def _gpu(machine: Machine) -> tuple[Gpu, Engine]:
    engine = Engine(machine)
    return Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads)), engine


def _bytes_per_second(machine: Machine, count: int, cycles: int) -> float:
    return count * machine.clocks.core_mhz * 1e6 / cycles


def stream_gbs(name: str, what: str, block: int, ctas_per_sm: int, overrides: dict[str, Any] | None = None) -> float:
    """GB/s of a stream kernel in CTAs of `block` threads, so many on an SM at once; the L2 full of the same work."""
    machine = load_machine(name, {**(overrides or {}), "sm.ctas": ctas_per_sm})
    gpu, engine = _gpu(machine)
    stream = STREAMS[what]
    resident = machine.sm.count * block * ctas_per_sm
    before = 2 * machine.l2.size_bytes // (8 * stream.arrays) if what != "read" else 0
    elements = max(WAVES * resident, machine.sm.count * 64 * block, 1 << 19)
    for n in (before, elements):
        arrays = [gpu.memory.empty(f"{letter}{n}", max(n, 1), np.float64) for letter in "abcd"]
        gpu.launch(stream.kernel, n, *arrays, phase=what, threads_per_cta=block if n == elements else 1024)
    cycles = engine.launches[-1].counters.cycles
    engine.close()
    return _bytes_per_second(machine, 8 * stream.arrays * elements, cycles) / 1e9


def block_gbs(machine: Machine, kilobytes: float) -> float:
    """GB/s of all SMs together, one CTA of 256 threads on each, all reading the same block over and over."""
    gpu, engine = _gpu(machine)
    loads = max(1, round(kilobytes * 1024 / (4 * L1_CTA)))
    values = gpu.memory.empty("values", loads * L1_CTA, np.float32)
    out = gpu.memory.empty("out", machine.sm.count * L1_CTA, np.float32)
    rounds = max(2, -(-6144 // loads))
    for count in (1, rounds, 2 * rounds):  # the first brings it into the L2
        gpu.launch(sum_block, machine.sm.count * L1_CTA, out, values, loads, count, phase="sum", threads_per_cta=L1_CTA)
    short, long = (launch.counters.cycles for launch in engine.launches[1:])
    engine.close()
    return _bytes_per_second(machine, machine.sm.count * values.size_bytes * rounds, long - short) / 1e9


def shared_gbs(machine: Machine, kilobytes: float) -> float:
    """GB/s of all SMs together out of a footprint that all share, the L2 warm."""
    gpu, engine = _gpu(machine)
    runs = max(1, round(kilobytes * 1024 / (8 * L2_CTA * L2_LOADS)))
    values = gpu.memory.empty("values", runs * L2_CTA * L2_LOADS, np.float64)
    out = gpu.memory.empty("out", L2_CTA, np.float64)
    resident = machine.sm.count * (machine.sm.threads // L2_CTA)
    ctas = max(3 * resident, runs)
    for count in (runs, ctas, 2 * ctas):
        gpu.launch(sum_shared, count * L2_CTA, out, values, runs, phase="sum", threads_per_cta=L2_CTA)
    _, short, long = (launch.counters.cycles for launch in engine.launches)
    engine.close()
    return _bytes_per_second(machine, ctas * L2_CTA * L2_LOADS * 8, long - short) / 1e9
