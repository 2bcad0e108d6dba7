"""Whether a small machine's SMs hold the CTAs that a run will launch, asked before the run.

What a CTA takes is known when its kernel runs. So the same text runs once on a graph of a few nodes, counted and not
timed. A launch that such a graph does not lead to is still refused, by the engine, when it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from warpsift.algorithms import Algorithm, Options, Outcome
from warpsift.engine.cta_room import check_fits
from warpsift.graph import load_graph
from warpsift.simt import Gpu
from warpsift.simt.stream import LaunchInfo
from warpsift.simt.stream_counter import Counter

if TYPE_CHECKING:
    from warpsift.machines import Machine

FEW_NODES = "kron-5"
# An SM with as much room holds any CTA: CUDA allows 1024 threads, 48 KiB and 64 Ki registers to each.
THREADS, SHARED_BYTES, REGISTERS = 1024, 48 * 1024, 65536


class _Shapes(Counter):
    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine

    def begin(self, launch: LaunchInfo) -> None:
        check_fits(self._machine, launch)
        super().begin(launch)


def rehearse(driver: Callable[..., Outcome], chosen: Algorithm, options: Options, machine: Machine) -> None:
    """Refuse a machine whose SMs are too small for a CTA of this run."""
    sm = machine.sm
    if sm.threads >= THREADS and sm.shared_bytes >= SHARED_BYTES and (not sm.registers or sm.registers >= REGISTERS):
        return
    if getattr(options, "source", None) is not None:
        options = replace(options, source=0)  # type: ignore[call-arg]  # the options of this algorithm have one
    graph, options = chosen.prepare(load_graph(FEW_NODES), options)
    driver(Gpu(_Shapes(machine), unroll=machine.compiler.unroll), graph, options)
