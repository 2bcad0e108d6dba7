"""What a request runs on: the machine with its changes, the engine with its units, the GPU with its waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpsift.run.observer import Observer
from warpsift.run.request import Request
from warpsift.run.run_energy import PREFIX
from warpsift.simt import Gpu, Residency
from warpsift.units import resolve

if TYPE_CHECKING:
    from warpsift.engine import Engine
    from warpsift.machines import Machine
    from warpsift.simt.stream import Sink


def machine_of(request: Request) -> Machine | None:
    """The machine that is named, with its changes; cost coefficients among them are none of its parameters."""
    if request.gpu is None:
        return None
    from warpsift.machines import load_machine

    return load_machine(request.gpu, {k: v for k, v in request.overrides.items() if not k.startswith(PREFIX)})


def engine_of(machine: Machine | None, request: Request, observer: Observer) -> Engine | None:
    """The engine with the unit plugged in; None where nothing is timed."""
    if machine is None or not request.timed:
        return None
    from warpsift.engine import Engine

    unit = resolve(request.unit)
    components = unit.components() if unit is not None else ()
    if request.sample:
        from warpsift.engine.leap.sampled_engine import SampledEngine

        return SampledEngine(machine, components, sample=request.sample, progress=observer.on_cycles)
    return Engine(
        machine,
        components,
        sample_interval_cycles=request.sample_interval_cycles,
        progress=observer.on_cycles,
    )


def gpu_of(sink: Sink, machine: Machine | None, request: Request, observer: Observer) -> Gpu:
    """The GPU that runs kernels: waves as large as the machine's SMs hold."""
    residency = None if machine is None else Residency(machine.sm.count, machine.sm.threads)
    unroll = 1 if machine is None else machine.compiler.unroll
    size = {} if machine is None else {"memory_bytes": machine.dram.size_mib << 20}
    gpu = Gpu(
        sink,
        **size,
        residency=residency,
        visibility_ctas=request.visibility_ctas,
        seed=request.options.seed,
        unroll=unroll,
    )
    gpu.on_progress = observer.on_progress
    return gpu
