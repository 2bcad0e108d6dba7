"""The Python interface: run an algorithm on a graph, on a modelled GPU or only counted.

import warpsift
result = warpsift.simulate("bfs", "delaunay-14")
print(result.check, result.transactions)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from warpsift.algorithms import ALGORITHMS, Algorithm, Options, Outcome
from warpsift.errors import WarpsiftError
from warpsift.graph import CsrGraph, load_graph
from warpsift.results.record import RunResult, by_phase
from warpsift.simt import Counter, Gpu
from warpsift.simt.stream import Chunk, LaunchInfo

STYLES = ("frontier", "vertex")


class RequestError(WarpsiftError):
    """A request that names something warpsift does not have."""


class Watched(Counter):
    """A counter that tells someone about every chunk (for a progress line)."""

    def __init__(self, notify: Callable[[str, int], None] | None) -> None:
        super().__init__()
        self._notify = notify
        self._phase = ""

    def begin(self, launch: LaunchInfo) -> None:
        super().begin(launch)
        self._phase = launch.phase

    def chunk(self, chunk: Chunk) -> None:
        super().chunk(chunk)
        if self._notify is not None:
            self._notify(self._phase, len(self.launches))


def algorithm_named(name: str) -> Algorithm:
    if name not in ALGORITHMS:
        raise RequestError(f"unknown algorithm '{name}': choose one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]


def simulate(
    algorithm: str,
    graph: str | CsrGraph,
    *,
    style: str = "frontier",
    options: Options | None = None,
    check: bool = True,
    visibility_ctas: int | None = None,
    notify: Callable[[str, int], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    **choices: Any,
) -> RunResult:
    """Run an algorithm and check its answer. `choices` are fields of `Options`, such as source=0 or delta=100."""
    chosen = algorithm_named(algorithm)
    if style not in chosen.styles:
        raise RequestError(f"unknown style '{style}': choose one of {', '.join(chosen.styles)}")
    unknown = set(choices) - set(Options.__dataclass_fields__)
    if unknown:
        valid = ", ".join(Options.__dataclass_fields__)
        raise RequestError(f"unknown option '{sorted(unknown)[0]}': choose among {valid}")
    loaded = load_graph(graph) if isinstance(graph, str) else graph
    loaded, resolved = chosen.prepare(loaded, replace(options or Options(), **choices))
    counter = Watched(notify)
    gpu = Gpu(counter, visibility_ctas=visibility_ctas, seed=resolved.seed)
    gpu.on_progress = on_progress
    start = time.perf_counter()
    outcome = chosen.styles[style](gpu, loaded, resolved)
    seconds = time.perf_counter() - start
    verdict, reason = _verdict(chosen, loaded, outcome, resolved) if check else ("skipped", "not asked for")
    return RunResult(
        algorithm=algorithm,
        style=style,
        unit="none",
        graph=_graph_dict(loaded),
        options=asdict(resolved),
        check=verdict,
        check_reason=reason,
        iterations=outcome.iterations,
        work=outcome.work.as_dict(),
        notes=outcome.notes,
        phases=by_phase(counter.launches),
        values=outcome.values,
        launches=counter.launches,
        host_seconds=seconds,
    )


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
