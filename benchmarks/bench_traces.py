"""Kernel traces: what reading the text costs beside timing what it says, and both on two cores.

warpsift exports traces of its own kernels, reads them again and times them. Processor seconds of one core, reading and
timing apart, medians of three; the goal: reading costs no more than timing. `both` is `warpsift.time_trace`, where
the next instructions are read while the last ones are timed: wall seconds, which need two idle cores to mean much.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import warpsift
from benchmarks.bench_engine import Recording
from benchmarks.history import note
from warpsift.engine import Engine
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.run.observer import Observer
from warpsift.traces.reader import replay
from warpsift.traces.writer import TraceWriter

GRAPH, GPU, ROUNDS = "kron-12", "titanx", 3
CASES: dict[str, dict[str, Any]] = {
    "bfs": {},
    "sssp": {},
    "pagerank": {"style": "vertex", "max_iterations": 2},
}


def export(algorithm: str, choices: dict[str, Any], folder: Path) -> tuple[int, float]:
    """Write the traces of a run: instructions, and MB of text."""
    with TraceWriter(folder) as writer:
        warpsift.simulate(algorithm, load_graph(GRAPH), check=False, observer=Observer(also=writer), **choices)
    return writer.instructions, sum(file.stat().st_size for file in folder.iterdir()) / 1e6


def measure(folder: Path) -> tuple[float, float, float]:
    """Median processor seconds of reading and of timing, and wall seconds of both together."""
    rounds = []
    replay(folder, Recording())  # compiles
    for _ in range(ROUNDS):
        recording, engine = Recording(), Engine(load_machine(GPU))
        begun = time.process_time()
        replay(folder, recording)
        read = time.process_time()
        recording.play(engine)
        timed, wall = time.process_time(), time.perf_counter()
        warpsift.time_trace(folder, GPU)
        rounds.append((read - begun, timed - read, time.perf_counter() - wall))
    reading, timing, both = (statistics.median(column) for column in zip(*rounds, strict=True))
    return reading, timing, both


def main() -> None:
    columns = ("M inst", "MB", "reading s", "timing s", "read/time", "MB/s", "both, wall s")
    print(f"{GRAPH} on {GPU:10}" + "".join(f"{name:>13}" for name in columns))
    for algorithm, choices in CASES.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "traces"
            instructions, size = export(algorithm, choices, folder)
            reading, timing, both = measure(folder)
        row = (instructions / 1e6, size, reading, timing, reading / timing, size / reading, both)
        stands = note(f"reading a trace, {algorithm}, {GRAPH}", instructions / reading / 1e6, "M inst/s")
        print(f"{algorithm:20}" + "".join(f"{number:13.2f}" for number in row) + f"  {stands}", flush=True)


if __name__ == "__main__":
    main()
