"""Bandwidth of a card as RRZE-HPC/gpu-benches measures it: the same kernels, smaller arrays.

gpu-stream: every thread moves one element of eight bytes and ends, and the number of CTAs that an SM holds is bounded,
so that bandwidth is seen against resident threads. gpu-cache: every SM sums the same block again and again.
gpu-l2-cache: many CTAs of 1024 threads sum 32 doubles each out of a footprint that all share.

How many loads of a sum run ahead of its additions is the compiler's choice and decides what is in flight. The numbers
are those of the machine code: gpu-benches' kernels, compiled for each card (NVRTC 11.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warpsift.engine import Engine
from warpsift.machines import Machine, load_machine
from warpsift.simt import Gpu, Kernel, Residency, kernel

WAVES = 8  # of resident CTAs that are timed, and of resident threads at least
L2_BEFORE = 4  # times the L2, moved before: until as much is written to DRAM as to the L2 (2: 5 % more, 4: 0.4 %)
UNROLLED = 32  # loads in the body of both sums (pragmas in gpu-benches)
WHOLE = 64  # loads of a round: fewer stand in one body (a pragma, too)
L2_CTA = 1024
L2_LOADS = 32
L1_CTA = 256


@dataclass(frozen=True)
class SumCode:
    """The sums as a card ran them: element type, loads in front of the first addition (then one of each in turn)."""

    element: type[np.generic]  # of gpu-cache: double until the revision that measured the L40, which has floats
    ahead: int  # in gpu-cache, a round in one body
    ahead_in_parts: int  # ... a round in bodies of 32
    l2_ahead: int  # in gpu-l2-cache
    joins_rounds: bool  # a body of fewer than 32 loads holds several rounds (a pragma of later revisions)


SUM_CODE = {
    "v100": SumCode(np.float64, 9, 7, 11, joins_rounds=True),  # sm_70
    "a100": SumCode(np.float64, 9, 7, 10, joins_rounds=False),  # sm_80
    "l40": SumCode(np.float32, 27, 23, 14, joins_rounds=True),  # sm_89
}


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
def sum_block(t, out, values, loads, joined, rounds, ahead):
    """A CTA reads `loads` elements per thread, `rounds` times; so many rounds stand in one body."""
    total = t.var(0.0, values.dtype)
    for _ in t.range(0, t.id * 0 + rounds):
        _sum(t, values, t.in_cta, [k * L1_CTA for k in range(loads)] * joined, ahead, total)
    with t.where(total == 1233.0):
        t.store(out, t.id, total)


@kernel
def sum_shared(t, out, values, runs, ahead):
    """CTA k reads its part of `runs` parts; consecutive loads of a thread are `runs` CTAs apart."""
    total = t.var(0.0, np.float64)
    first = (t.cta % runs) * L2_CTA + t.in_cta
    _sum(t, values, first, [k * runs * L2_CTA for k in range(L2_LOADS)], ahead, total)
    with t.where(total == 23.12):
        t.store(out, t.in_cta, total)


def _sum(t, values, first, offsets, ahead, total) -> None:
    """Loads run ahead of the additions by so many; the window closes at the end of an unrolled body."""
    size = UNROLLED if len(offsets) >= WHOLE else len(offsets)
    for start in range(0, len(offsets), size):
        body = offsets[start : start + size]
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
    before = L2_BEFORE * machine.l2.size_bytes // (8 * stream.arrays) if what != "read" else 0
    elements = max(WAVES * resident, machine.sm.count * 64 * block, 1 << 19)
    for n in (before, elements):
        arrays = [gpu.memory.empty(f"{letter}{n}", max(n, 1), np.float64) for letter in "abcd"]
        gpu.launch(stream.kernel, n, *arrays, phase=what, threads_per_cta=block if n == elements else 1024)
    cycles = engine.launches[-1].counters.cycles
    engine.close()
    return _bytes_per_second(machine, 8 * stream.arrays * elements, cycles) / 1e9


def block_gbs(name: str, kilobytes: float, overrides: dict[str, Any] | None = None) -> float:
    """GB/s of all SMs together, one CTA of 256 threads on each, all reading the same block over and over."""
    machine, code = load_machine(name, overrides), SUM_CODE[name]
    gpu, engine = _gpu(machine)
    size = np.dtype(code.element).itemsize
    loads = max(1, round(kilobytes * 1024 / (size * L1_CTA)))
    values = gpu.memory.empty("values", loads * L1_CTA, code.element)
    out = gpu.memory.empty("out", machine.sm.count * L1_CTA, code.element)
    joined = max(1, UNROLLED // loads) if code.joins_rounds else 1
    ahead = code.ahead if loads < WHOLE else code.ahead_in_parts
    rounds = max(2, -(-6144 // (loads * joined)))
    for count in (1, rounds, 2 * rounds):  # the first brings it into the L2
        work = (out, values, loads, joined, count, ahead)
        gpu.launch(sum_block, machine.sm.count * L1_CTA, *work, phase="sum", threads_per_cta=L1_CTA)
    short, long = (launch.counters.cycles for launch in engine.launches[1:])
    engine.close()
    return _bytes_per_second(machine, machine.sm.count * values.size_bytes * joined * rounds, long - short) / 1e9


def shared_gbs(name: str, kilobytes: float, overrides: dict[str, Any] | None = None) -> float:
    """GB/s of all SMs together out of a footprint that all share, the L2 warm."""
    machine = load_machine(name, overrides)
    gpu, engine = _gpu(machine)
    runs = max(1, round(kilobytes * 1024 / (8 * L2_CTA * L2_LOADS)))
    values = gpu.memory.empty("values", runs * L2_CTA * L2_LOADS, np.float64)
    out = gpu.memory.empty("out", L2_CTA, np.float64)
    resident = machine.sm.count * (machine.sm.threads // L2_CTA)
    ctas = max(3 * resident, runs)
    for count in (ctas, ctas, 2 * ctas):  # the first by all SMs: both halves of an A100's L2 must hold the data
        work = (out, values, runs, SUM_CODE[name].l2_ahead)
        gpu.launch(sum_shared, count * L2_CTA, *work, phase="sum", threads_per_cta=L2_CTA)
    _, short, long = (launch.counters.cycles for launch in engine.launches)
    engine.close()
    return _bytes_per_second(machine, ctas * L2_CTA * L2_LOADS * 8, long - short) / 1e9
