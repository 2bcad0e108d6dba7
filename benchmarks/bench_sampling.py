"""Sampled runs: processor seconds of the engine, in full and sampled one part in twenty, and the error of cycles.

The engine is handed its launches in one thread, and only the time inside it is counted; recording is the same for both.
WARPSIFT_BENCH_GRAPH names another graph than kron-15, such as kron-18.
"""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.history import note
from warpsift.graph import load_graph
from warpsift.run.execute import simulate
from warpsift.run.observer import Observer
from warpsift.run.record import RunResult
from warpsift.simt.stream import Chunk, LaunchInfo, Sink, UnitOperation

GPU, SAMPLE = "gtx980", 20
CASES: dict[str, dict[str, Any]] = {"bfs": {}, "sssp": {}, "pagerank": {"max_iterations": 2}}


class Clocked:
    """A sink in front of an engine that counts the processor time spent in it."""

    def __init__(self, engine: Sink) -> None:
        self.engine, self.seconds = engine, 0.0

    def _clocked(self, call: Any, *arguments: Any) -> Any:
        begun = time.process_time()
        answer = call(*arguments)
        self.seconds += time.process_time() - begun
        return answer

    def begin(self, launch: LaunchInfo) -> None:
        self._clocked(self.engine.begin, launch)

    def chunk(self, chunk: Chunk) -> None:
        self._clocked(self.engine.chunk, chunk)

    def end(self) -> object:
        return self._clocked(self.engine.end)

    def operation(self, operation: UnitOperation) -> object:
        return self._clocked(self.engine.operation, operation)


def run(algorithm: str, graph: Any, sample: int, choices: dict[str, Any]) -> tuple[RunResult, float]:
    """A result, and the engine's processor seconds."""
    clocks: list[Clocked] = []

    def before_engine(engine: Sink) -> Sink:
        clocks.append(Clocked(engine))
        return clocks[0]

    observer = Observer(before_engine=before_engine)
    result = simulate(algorithm, graph, gpu=GPU, sample=sample, threads=1, check=False, observer=observer, **choices)
    return result, clocks[0].seconds


def main() -> None:
    name = os.environ.get("WARPSIFT_BENCH_GRAPH", "kron-15")
    graph = load_graph(name)
    print(f"{name} on {GPU}, engine's processor seconds")
    print(f"{'':10} {'in full':>9} {'sampled':>9} {'times less':>11} {'error':>8} {'± 95 %':>8}")
    for algorithm, choices in CASES.items():
        for sample in (0, SAMPLE):
            run(algorithm, "kron-8", sample, choices)  # compile
        (full, seconds), (found, less) = (run(algorithm, graph, sample, choices) for sample in (0, SAMPLE))
        low, high = found.intervals["cycles"]
        error, half = found.cycles / full.cycles - 1, (high - low) / (high + low)
        print(f"{algorithm:10} {seconds:9.2f} {less:9.2f} {seconds / less:11.1f} {error:8.1%} {half:8.1%}", flush=True)
        note(f"sampling, {algorithm} on {name}", seconds / less, "times less engine time")


if __name__ == "__main__":
    main()
