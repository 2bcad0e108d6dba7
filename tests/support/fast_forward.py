"""Gathers and scatters of the memory fast-forward unit on small graphs, as streams and timed."""

from __future__ import annotations

import numpy as np

from support.tapes import Tape
from warpsift.engine.engine import Engine
from warpsift.machines import load_machine
from warpsift.simt import Gpu, kernel
from warpsift.units import unit_named
from warpsift.units.mff import mff_state
from warpsift.units.mff.mff_threads import bind_fast_forward

MACHINE = "gtx480"


@kernel
def gather_all(t, offsets, words):
    """Gather every list of its vertex, 32 words at a time, and throw the words away."""
    target = t.pc_target(np.float32, words)
    begin, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    for first in t.range(begin, end, step=words):
        t.pc_gather(target, first, t.minimum(end - first, words))
        t.pc_wait()


@kernel
def scatter_all(t, offsets):
    begin, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    for first in t.range(begin, end, step=32):
        t.pc_scatter_set(first, t.minimum(end - first, 32))


@kernel
def plain_gather(t, offsets, edges, values):
    """The plain GPU's loop: a load of C and a load of V per edge."""
    for edge in t.range(t.load(offsets, t.id), t.load(offsets, t.id, offset=1)):
        t.load(values, t.load(edges, edge))


def csr(lists):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int32)
    return offsets, np.array([v for row in lists for v in row] or [0], np.int32)


class Setup:
    """A graph on a device, and the streams of the three kernels on it."""

    def __init__(self, lists, vertices, active_dtype=np.uint32):
        self.gpu = Gpu(Tape(), memory_bytes=8 << 20)
        offsets, columns = csr(lists)
        memory = self.gpu.memory
        self.threads = len(lists)
        self.columns = columns
        self.offsets, self.edges = memory.array("offsets", offsets), memory.array("edges", columns)
        self.values = memory.array("values", np.arange(vertices, dtype=np.float32) + 0.5)
        length = -(-vertices // 32) if active_dtype is np.uint32 else vertices
        self.active = memory.empty("active", length, active_dtype)
        bindings = {"in_edges": self.edges, "out_edges": self.edges}
        bind_fast_forward(self.gpu, **bindings, values=self.values, active=self.active)

    def stream(self, function, *arguments):
        tape = self.gpu.sink = Tape()
        self.gpu.launch(function, self.threads, *arguments, phase="compute", threads_per_cta=32)
        return tape

    def gather(self, words=32):
        return self.stream(gather_all, self.offsets, words)

    def scatter(self):
        return self.stream(scatter_all, self.offsets)

    def plain(self):
        return self.stream(plain_gather, self.offsets, self.edges, self.values)


def engine_with_unit(checks=False, **overrides):
    return Engine(load_machine(MACHINE, overrides), unit_named("mff").components(), checks=checks)


def timed(tape, log_rows=0, **overrides):
    """Replay a stream with conservation checks on; gives the counters and the log of delivered words."""
    engine = engine_with_unit(checks=True, **overrides)
    log = mff_state.log_words(engine._arena, log_rows) if log_rows else None
    counters = tape.replay(engine)
    if log_rows:
        assert engine._arena.arrays["mff"][0].logged == log_rows
        log = log.copy()
    engine._arena.close()
    return counters, log


def random_lists(seed, threads, longest, vertices):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, vertices, rng.integers(0, longest + 1)).tolist() for _ in range(threads)]
