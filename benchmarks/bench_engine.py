"""Speed of the timing engine on one core: instructions, L1 transactions and DRAM transactions per second.

Streams are recorded first, so that only the simulation is timed. Medians of five; processor time of this thread beside
wall time, as other work on the machine disturbs only the latter. The engine is the one for every machine; `known` says
how many times as fast the one for this machine alone is (least of five each, in turn).
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.history import note
from warpsift.engine import Engine, machine_code
from warpsift.machines import load_machine
from warpsift.simt import Gpu, Residency, kernel
from warpsift.simt.stream import Chunk, LaunchInfo

ROUNDS = 5


@kernel
def triad(t, a, b, c):
    t.store(c, t.id, t.load(a, t.id) + t.load(b, t.id))


@kernel
def read(t, a, b):
    t.load(a, t.id) + t.load(b, t.id)


@kernel
def gather(t, index, v, out):
    t.store(out, t.id, t.load(v, t.load(index, t.id)))


@kernel
def arithmetic(t, a, out):
    x = t.load(a, t.id)
    for _ in range(100):
        x = x * 3.0 + 1.0
    t.store(out, t.id, x)


class Recording:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.launches: list[tuple[LaunchInfo, list[Chunk]]] = []

    def begin(self, launch: LaunchInfo) -> None:
        self.launches.append((launch, []))

    def chunk(self, chunk: Chunk) -> None:
        self.launches[-1][1].append(chunk)

    def end(self) -> None:
        pass

    def play(self, engine: Engine) -> None:
        for launch, chunks in self.launches:
            engine.begin(launch)
            for chunk in chunks:
                engine.chunk(chunk)
            engine.end()


def record(what: str, n: int, footprint_bytes: int = 0) -> Recording:
    sink = Recording()
    gpu = Gpu(sink=sink, residency=Residency())
    m = gpu.memory
    out = m.empty("out", n, np.float32)
    if what == "gather":
        words = footprint_bytes // 4
        index = m.array("index", np.random.default_rng(1).integers(0, words, n).astype(np.int32))
        gpu.launch(gather, n, index, m.empty("v", words, np.float32), out, phase=what)
    elif what == "read":
        gpu.launch(read, n, m.empty("a", n, np.float32), m.empty("b", n, np.float32), phase=what)
    elif what == "stream":
        gpu.launch(triad, n, m.empty("a", n, np.float32), m.empty("b", n, np.float32), out, phase=what)
    else:
        gpu.launch(arithmetic, n, m.empty("a", n, np.float32), out, phase=what)
    return sink


def measure(recording: Recording, machine_name: str) -> tuple[Engine, float, float, float]:
    """The last engine, median processor and wall seconds, and how many times as fast code for this machine is."""
    machine = load_machine(machine_name)
    processor, wall, known = [], [], []
    for number in range(-1, ROUNDS):  # once before, for making that code
        for seconds, machine_code.PATIENCE_S in ((processor, math.inf), (known, 0.0)):
            engine = Engine(machine)
            begun, clock = time.perf_counter(), time.process_time()
            recording.play(engine)
            if number >= 0:
                seconds.append(time.process_time() - clock)
            if number >= 0 and seconds is processor:
                wall.append(time.perf_counter() - begun)
    return engine, statistics.median(processor), statistics.median(wall), min(processor) / min(known)


def line(name: str, recording: Recording, machine: str) -> float:
    """Print one row; microseconds per transaction (L1 line, L2 sector, DRAM command)."""
    engine, seconds, wall, known = measure(recording, machine)
    c = engine.total
    dram = c.dram_reads + c.dram_writes
    rates = (c.warp_instructions, c.l1_accesses, dram, c.cycles)
    columns = " ".join(f"{count / seconds / 1e6:8.2f}" for count in rates)
    stands = note(f"engine, {name}, {machine}", c.warp_instructions / seconds / 1e6, "M inst/s")
    print(f"{name:23} {machine:8} {columns} {seconds:8.3f} {wall:8.3f} {known:7.2f}x  {stands}", flush=True)
    return seconds / (c.l1_accesses + c.l2_accesses + dram) * 1e6


def start_up() -> None:
    """Cold compilation and warm start to the first simulated cycle, in new processes."""
    text = (
        "from warpsift.engine import Engine; from warpsift.machines import load_machine; import numpy as np;"
        "from warpsift.simt.stream import *; e = Engine(load_machine('gtx980'));"
        "e.begin(LaunchInfo('k', 'p', False, 1, 32));"
        "e.chunk(Chunk(np.array([(0, 32, 255, 0, 0, 1, 0, 0, 1)], OP), np.array([0, 1]), np.zeros(0, np.int64), 1));"
        "e.end()"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "WARPSIFT_CACHE_DIR": folder}
        for name in ("cold compile", "warm start"):
            begun, clock = time.perf_counter(), os.times()
            subprocess.run([sys.executable, "-c", text], env=environment, check=True, stderr=subprocess.DEVNULL)
            after = os.times()
            processor = after.children_user + after.children_system - clock.children_user - clock.children_system
            wall, stands = time.perf_counter() - begun, note(name, processor, "s")
            print(f"{name:22} {processor:8.2f} s processor {wall:8.2f} s wall  {stands}", flush=True)


def main() -> None:
    print(
        f"{'':32} {'M inst/s':>8} {'M L1/s':>8} {'M DRAM/s':>8} {'M cyc/s':>8} {'cpu s':>8} {'wall s':>8} {'known':>8}"
    )
    line("arithmetic", record("arithmetic", 1 << 18), "gtx980")
    line("stream (DRAM-bound)", record("stream", 1 << 19), "gtx980")
    line("gather in L1, 16 KB", record("gather", 1 << 18, 1 << 14), "gtx980")
    line("gather in L2, 1 MB", record("gather", 1 << 19, 1 << 20), "gtx980")
    line("the same, first quarter", record("gather", 1 << 17, 1 << 20), "gtx980")  # one gather in four misses L2
    line("gather in DRAM, 64 MB", record("gather", 1 << 16, 1 << 26), "gtx980")
    line("gather in L2, 512 KB", record("gather", 1 << 16, 1 << 19), "gtx480")
    # Without stores: those of a small stream stay in L2, so its transactions would be another mix.
    small = line("reads, 1x", record("read", 1 << 16), "gtx980")
    large = line("reads, 64x", record("read", 1 << 22), "gtx980")
    print(f"time per transaction at 64x the work: {large / small:.2f} of that at 1x")
    start_up()


if __name__ == "__main__":
    main()
