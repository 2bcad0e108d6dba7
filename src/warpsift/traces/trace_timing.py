"""Timing a trace: all its kernels, one after the other, on a modelled GPU."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from warpsift.run.observer import Observer
from warpsift.run.record import RunResult, by_phase
from warpsift.run.request import Request
from warpsift.run.run_energy import add_energy
from warpsift.run.sampling.sampled_result import add_estimate
from warpsift.run.set_up import engine_of, machine_of
from warpsift.run.sinks import Observed
from warpsift.run.timing import add_timing
from warpsift.run.two_stages import stages_on
from warpsift.traces.header import list_kernels


def time_trace(
    path: str | Path,
    gpu: str | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    sample: int = 0,
    sample_interval_cycles: int = 0,
    observer: Observer | None = None,
    threads: int | None = None,
) -> RunResult:
    """Read a trace folder (with kernelslist.g) or one .traceg file, and time it; without `gpu`, only count.

    Phases are kernels. There is no answer to check, and no graph; other fields are as `warpsift.simulate` gives them.
    """
    observer = observer or Observer()
    kernels = list_kernels(Path(path))
    from warpsift.traces.reader import replay_kernel  # compiled code: not before the files are known to be there

    interval = sample_interval_cycles
    request = Request(
        "trace", str(path), gpu=gpu, overrides=overrides or {}, sample=sample, sample_interval_cycles=interval
    )
    machine = machine_of(request)
    start = time.perf_counter()
    with stages_on(threads) as stages:
        engine = engine_of(machine, request, replace(observer, on_cycles=stages.heed(observer.on_cycles)))
        sink = Observed(stages.feeding(engine), observer.on_launch, observer.also)
        for number, kernel in enumerate(kernels):
            replay_kernel(kernel, sink)
            if observer.on_progress is not None:
                observer.on_progress((number + 1) / len(kernels))
        stages.wait()
    result = RunResult(
        algorithm="trace",
        style="",
        unit="none",
        graph={"name": str(path), "nodes": 0, "edges": 0, "stand_in_for": None, "content_hash": None},
        options={},
        check="skipped",
        check_reason="a trace has no answer",
        iterations=0,
        work={},
        notes={},
        phases=by_phase(sink.launches, []),
        values=None,
        launches=sink.launches,
        host_seconds=time.perf_counter() - start,
    )
    if engine is not None and machine is not None:
        if sample:
            add_estimate(result, engine, machine, request, sink)
        else:
            add_timing(result, engine, machine, 0)
            add_energy(result, engine, machine, request)
        engine.close()
    return result
