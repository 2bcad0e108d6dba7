"""The Python interface: run an algorithm on a graph, on a modelled GPU or only counted.

import warpsift
result = warpsift.simulate("bfs", "delaunay-14", gpu="gtx980")
print(result.check, result.cycles, result.dram_reads)

`simulate` makes a request of its arguments; `run_request` runs any request: command line, sweeps, studies and
benchmarks all come through it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from warpsift.algorithms import Algorithm, Options, Outcome
from warpsift.graph import CsrGraph
from warpsift.graph.objects import graph_of
from warpsift.run.choices_help import with_choices
from warpsift.run.observer import Observer
from warpsift.run.reached import add_reach, weights_note
from warpsift.run.record import RunResult, by_phase, graph_facts
from warpsift.run.rehearsal import rehearse
from warpsift.run.request import LOADING, Request, RequestError, algorithm_named, make_request
from warpsift.run.run_energy import add_energy
from warpsift.run.sampling.sampled_result import add_estimate
from warpsift.run.set_up import engine_of, gpu_of, machine_of
from warpsift.run.sinks import Observed
from warpsift.run.timing import add_floor, add_timing
from warpsift.run.two_stages import stages_on
from warpsift.units import resolve
from warpsift.watching import describe, watcher

if TYPE_CHECKING:
    from warpsift.machines import Machine

__all__ = ["Observer", "run_request", "simulate"]


def simulate(
    algorithm: str, graph: Any, *, observer: Observer | None = None, threads: int | None = None, **choices: Any
) -> RunResult:
    """Run an algorithm and check its answer.

    `graph` is a file's path, a name such as "kron-14", a CsrGraph, a networkx graph or a SciPy sparse matrix.
    Everything else is given by name: simulate("bfs", "kron-14", gpu="gtx980", unit="scu", source=0).
    Where there are two cores, one records while the other times; threads=1 keeps to one. The result is the same.
    """
    if isinstance(graph, (str, os.PathLike)):
        request = make_request(algorithm, os.fspath(graph), choices)
        return run_request(request, request.load(), observer, threads)
    graph = graph_of(graph)
    for name in choices:
        if name in LOADING:
            raise RequestError(
                f"'{name}' is about loading a graph, but {graph.name!r} is loaded already: give its name instead, "
                f"or load_graph(..., {LOADING[name]}={choices[name]!r})"
            )
    return run_request(make_request(algorithm, graph.name, choices), graph, observer, threads)


simulate.__doc__ = with_choices(simulate.__doc__ or "")


def run_request(
    request: Request, graph: CsrGraph, observer: Observer | None = None, threads: int | None = None
) -> RunResult:
    """Run a request on a graph that is already loaded; `threads` as for `simulate`."""
    observer = observer or Observer()
    if (watches := watcher()) is not None:
        watches.running(describe(request.algorithm, graph.name, request.unit, request.gpu))
    chosen = algorithm_named(request.algorithm)
    machine = machine_of(request)
    driver = _driver(request, chosen, machine)
    if machine is not None and request.timed:
        rehearse(driver, chosen, request.options, machine)
    given = graph
    graph, options = chosen.prepare(given, request.options)
    with stages_on(threads) as stages:
        engine = engine_of(machine, request, replace(observer, on_cycles=stages.heed(observer.on_cycles)))
        timed = engine if engine is None or observer.before_engine is None else observer.before_engine(engine)
        sink = Observed(stages.feeding(timed), observer.on_launch, observer.also)
        gpu = gpu_of(sink, machine, request, observer)
        start = time.perf_counter()
        outcome = driver(gpu, graph, options)
        stages.wait()
        host_seconds = time.perf_counter() - start
    verdict, reason = _verdict(chosen, graph, outcome, options) if request.check else ("skipped", "not asked for")
    result = RunResult(
        algorithm=request.algorithm,
        style=request.style,
        unit=request.unit,
        graph=graph_facts(graph),
        options=asdict(options),
        check=verdict,
        check_reason=reason,
        iterations=outcome.iterations,
        work=outcome.work.as_dict(),
        notes=outcome.notes,
        phases=by_phase(sink.launches, sink.operations),
        values=outcome.values,
        launches=sink.launches,
        host_seconds=host_seconds,
        reading=request.reading,
    )
    weights = weights_note(given, graph, options.seed)
    result.notes |= {"weights": weights} if weights else {}
    add_reach(result, graph, options)
    if engine is not None and machine is not None:
        if request.sample:
            add_estimate(result, engine, machine, request, sink)
        else:
            add_timing(result, engine, machine, result.edges_reached)
            add_floor(result, engine, machine)
            add_energy(result, engine, machine, request)
        engine.close()
    return result


def _driver(request: Request, chosen: Algorithm, machine: Machine | None) -> Callable[..., Outcome]:
    unit = resolve(request.unit)
    if unit is None or unit.style is None:
        return chosen.styles[request.style]
    return unit.driver(chosen.name, machine)


def _verdict(chosen: Algorithm, graph: CsrGraph, outcome: Outcome, options: Options) -> tuple[str, str]:
    """Ask the independent oracle."""
    if options.max_iterations is not None and not chosen.checks_partial:
        return "skipped", "stopped after max_iterations, so the answer is partial"
    verdict = chosen.check(graph, outcome, options)
    return "pass" if verdict.passed else "fail", verdict.reason
