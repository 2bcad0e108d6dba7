"""The Python interface: run an algorithm on a graph, on a modelled GPU or only counted.

import warpsift
result = warpsift.simulate("bfs", "delaunay-14", gpu="gtx980")
print(result.check, result.cycles, result.dram_reads)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from warpsift.algorithms import Algorithm, Options, Outcome
from warpsift.graph import CsrGraph
from warpsift.graph.objects import graph_of
from warpsift.run.choices_help import with_choices
from warpsift.run.reached import add_reach, weights_note
from warpsift.run.record import RunResult, by_phase
from warpsift.run.request import LOADING, Request, RequestError, algorithm_named, make_request
from warpsift.run.sinks import Observed
from warpsift.simt import Gpu, Residency
from warpsift.units import resolve
from warpsift.watching import describe, watcher

if TYPE_CHECKING:
    from warpsift.engine import Engine
    from warpsift.machines import Machine
    from warpsift.simt.stream import Sink


@dataclass(frozen=True)
class Observer:
    """Who wants to hear of a run while it goes on."""

    on_launch: Callable[[str, int], None] | None = None  # phase, number of launches so far
    on_progress: Callable[[float], None] | None = None  # share of the work done, roughly
    on_cycles: Callable[[int], None] | None = None  # simulated core cycles
    also: Sink | None = None  # gets every launch too: a trace writer


def simulate(algorithm: str, graph: Any, *, observer: Observer | None = None, **choices: Any) -> RunResult:
    """Run an algorithm and check its answer.

    `graph` is a file's path, a name such as "kron-14", a CsrGraph, a networkx graph or a SciPy sparse matrix.
    Everything else is given by name: simulate("bfs", "kron-14", gpu="gtx980", unit="scu", source=0).
    """
    if isinstance(graph, (str, os.PathLike)):
        request = make_request(algorithm, os.fspath(graph), choices)
        return run_request(request, request.load(), observer or Observer())
    graph = graph_of(graph)
    for name in choices:
        if name in LOADING:
            raise RequestError(
                f"'{name}' is about loading a graph, but {graph.name!r} is loaded already: give its name instead, "
                f"or load_graph(..., {LOADING[name]}={choices[name]!r})"
            )
    return run_request(make_request(algorithm, graph.name, choices), graph, observer or Observer())


simulate.__doc__ = with_choices(simulate.__doc__ or "")


def run_request(request: Request, graph: CsrGraph, observer: Observer) -> RunResult:
    """Run a request on a graph that is already loaded."""
    if (watches := watcher()) is not None:
        watches.running(describe(request.algorithm, graph.name, request.unit, request.gpu))
    chosen = algorithm_named(request.algorithm)
    machine = machine_of(request)
    driver = _driver(request, chosen, machine)
    given = graph
    graph, options = chosen.prepare(given, request.options)
    engine = engine_of(machine, request, observer)
    sink = Observed(engine, observer.on_launch, observer.also)
    gpu = _gpu(sink, machine, request, options)
    gpu.on_progress = observer.on_progress
    start = time.perf_counter()
    outcome = driver(gpu, graph, options)
    host_seconds = time.perf_counter() - start
    verdict, reason = _verdict(chosen, graph, outcome, options) if request.check else ("skipped", "not asked for")
    result = RunResult(
        algorithm=request.algorithm,
        style=request.style,
        unit=request.unit,
        graph=_graph_dict(graph),
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
    )
    weights = weights_note(given, graph, options.seed)
    result.notes |= {"weights": weights} if weights else {}
    add_reach(result, graph, options)
    if engine is not None and machine is not None:
        add_timing(result, engine, machine, result.edges_reached)
        add_floor(result, engine, machine)
        add_energy(result, engine, machine, request)
    return result


def _driver(request: Request, chosen: Algorithm, machine: Machine | None) -> Callable[..., Outcome]:
    unit = resolve(request.unit)
    if unit is None or unit.style is None:
        return chosen.styles[request.style]
    return unit.driver(chosen.name, machine)


def machine_of(request: Request) -> Machine | None:
    if request.gpu is None:
        return None
    from warpsift.machines import load_machine

    settings = {key: value for key, value in request.overrides.items() if not key.startswith("costs.")}
    return load_machine(request.gpu, settings)


def engine_of(machine: Machine | None, request: Request, observer: Observer) -> Engine | None:
    if machine is None:
        return None
    from warpsift.engine import Engine

    unit = resolve(request.unit)
    return Engine(
        machine,
        unit.components() if unit is not None else (),
        sample_interval_cycles=request.sample_interval_cycles,
        progress=observer.on_cycles,
    )


def _gpu(sink: Observed, machine: Machine | None, request: Request, options: Options) -> Gpu:
    residency = None if machine is None else Residency(machine.sm.count, machine.sm.threads)
    return Gpu(sink, residency=residency, visibility_ctas=request.visibility_ctas, seed=options.seed)


def add_timing(result: RunResult, engine: Engine, machine: Machine, edges: int) -> None:
    """Fill in what only the engine knows."""
    from warpsift.machines import machine_parameters
    from warpsift.run.launch_history import array_traffic, timeline
    from warpsift.run.timing import roofline, timing_of

    total = engine.total
    result.timing = timing_of(total, machine) | {"roofline": roofline(total, machine), "counters": dict(total)}
    if edges and result.timing["seconds"]:
        result.timing["mteps"] = round(edges / result.timing["seconds"] / 1e6, 3)  # arcs reached, once each
    unit_cycles = sum(timed.counters.cycles for timed in engine.operations)
    result.timing["unit_seconds"] = engine.seconds(unit_cycles)
    result.timing["gpu_seconds"] = result.timing["seconds"] - result.timing["unit_seconds"]
    result.machine = machine_parameters(machine)
    result.array_traffic, result.timeline = array_traffic(engine), timeline(engine)
    result.engine = engine
    for phase in result.phases:
        of_unit = [(done.info, done.counters) for done in engine.operations if done.info.unit == phase.unit]
        of_gpu = [(launch.launch, launch.counters) for launch in engine.launches]
        key = (phase.name, phase.compaction)
        mine = [c for info, c in (of_unit if phase.unit else of_gpu) if (info.phase, info.compaction) == key]
        if mine:
            summed = sum(mine[1:], mine[0])
            phase.timing = timing_of(summed, machine) | {"counters": dict(summed)}


def add_floor(result: RunResult, engine: Engine, machine: Machine) -> None:
    """The time below which no unit of these numbers could do what it did."""
    unit = resolve(result.unit)
    if unit is None:
        return
    floor = unit.floor(machine, engine)
    result.timing["unit_floor_seconds"] = engine.seconds(1) * floor["cycles"]
    result.timing["unit_floor_cycles_by_bound"] = {k: round(v) for k, v in floor.items() if k != "cycles"}


def add_energy(result: RunResult, engine: Engine, machine: Machine, request: Request) -> None:
    """Joules and watts, where the cost tables know the machine."""
    from warpsift.run.run_energy import energy_of, has_prices

    if not has_prices(machine):
        result.notes["energy"] = f"no cost table for {machine.name!r}"
        return
    waiting = sum(timed.counters.cycles for timed in engine.operations)
    result.energy_report = energy_of(engine.total, machine, request.unit, waiting, request.overrides)
    result.energy = result.energy_report.to_dict()
    for known in ("machine", "unit", "seconds"):
        result.energy.pop(known)
    for phase in result.phases:
        if phase.timing:
            counters = phase.timing["counters"]
            waited = counters["cycles"] if phase.unit else 0.0
            phase.energy = energy_of(counters, machine, request.unit, waited, request.overrides)


def _verdict(chosen: Algorithm, graph: CsrGraph, outcome: Outcome, options: Options) -> tuple[str, str]:
    """Ask the independent oracle. PageRank is compared after as many iterations; the others only when complete."""
    if options.max_iterations is not None and chosen.name != "pagerank":
        return "skipped", "stopped after max_iterations, so the answer is partial"
    verdict = chosen.check(graph, outcome, options)
    return "pass" if verdict.passed else "fail", verdict.reason


def _graph_dict(graph: CsrGraph) -> dict[str, Any]:
    return {
        "name": graph.name,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "stand_in_for": graph.stand_in_for,
        "content_hash": graph.content_hash,
    }
