"""warpsift and Accel-Sim on the same traces, one after the other: seconds, cycles, and how many times faster.

Needs an Accel-Sim build: ACCELSIM=/path/to/accel-sim.out, and ACCELSIM_CONFIG with its configuration files, such as
"SM6_TITANX/gpgpusim.config SM6_TITANX/trace.config". warpsift exports the traces (kernels of its own on generated
graphs), then each simulator reads and times them from the files. `with recording` is warpsift's usual way, without a
trace: the kernels run and are timed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import warpsift
from benchmarks.history import note
from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine
from warpsift.run.observer import Observer
from warpsift.traces.writer import TraceWriter

GPU = "titanx"  # Accel-Sim has a configuration of it
GRAPH = os.environ.get("ACCELSIM_GRAPH", "kron-12")
CASES: dict[str, dict[str, Any]] = {
    "bfs": {},
    "pagerank": {"max_iterations": 1},
    "sssp": {},
}
CYCLES = re.compile(r"^gpu_tot_sim_cycle\s*=\s*(\d+)", re.MULTILINE)


def export(algorithm: str, graph: CsrGraph, choices: dict[str, Any], folder: Path) -> tuple[float, int]:
    """Write the traces; gives wall seconds of a whole run without them, and its cycles."""
    with TraceWriter(folder, compute_capability=load_machine(GPU).compute_capability) as writer:
        warpsift.simulate(algorithm, graph, gpu=GPU, check=False, observer=Observer(also=writer), **choices)
    begun = time.perf_counter()
    result = warpsift.simulate(algorithm, graph, gpu=GPU, check=False, **choices)
    return time.perf_counter() - begun, result.cycles


def ours(folder: Path) -> tuple[float, float, int]:
    """Wall and processor seconds, and cycles."""
    begun, clock = time.perf_counter(), time.process_time()
    result = warpsift.time_trace(folder, GPU)
    return time.perf_counter() - begun, time.process_time() - clock, result.cycles


def theirs(program: str, configuration: str, folder: Path) -> tuple[float, float, int]:
    command = [program, "-trace", str(folder / "kernelslist.g")]
    for file in shlex.split(configuration):
        command += ["-config", file]
    begun, clock = time.perf_counter(), os.times()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begun, os.times()
    processor = after.children_user + after.children_system - clock.children_user - clock.children_system
    cycles = CYCLES.findall(ended.stdout)
    if ended.returncode or not cycles:
        raise SystemExit(f"{shlex.join(command)} ended with {ended.returncode}: {ended.stderr.strip()[-300:]}")
    return wall, processor, int(cycles[-1])


def main() -> None:
    program, configuration = os.environ.get("ACCELSIM"), os.environ.get("ACCELSIM_CONFIG", "")
    if not program:
        print("no ACCELSIM: set it to an accel-sim.out, and ACCELSIM_CONFIG to its configuration files")
        return
    graph = load_graph(GRAPH)
    columns = ("Accel-Sim s", "ours s", "with rec. s", "cpu ratio", "wall ratio", "with rec.", "cycles")
    print(f"{GRAPH} on {GPU}" + "".join(f"{name:>13}" for name in columns))
    for algorithm, choices in CASES.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "traces"
            whole, _ = export(algorithm, graph, choices, folder)
            ours(folder)  # compiles
            mine, other = ours(folder), theirs(program, configuration, folder)
        ratios = (other[1] / mine[1], other[0] / mine[0], other[0] / whole)
        seconds = f"{other[0]:13.2f}{mine[0]:13.2f}{whole:13.2f}"
        print(
            f"{algorithm:17}{seconds}" + "".join(f"{ratio:13.0f}" for ratio in ratios) + f"{mine[2] / other[2]:13.3f}"
        )
        note(f"{algorithm} on {GRAPH}: times Accel-Sim's speed on its trace, processor", ratios[0], "x")
        note(f"{algorithm} on {GRAPH}: times Accel-Sim's speed, recording and timing, wall", ratios[2], "x")


if __name__ == "__main__":
    main()
