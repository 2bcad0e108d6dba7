"""Recording and timing on two cores: equal results, errors and Ctrl-C in the caller, bounded memory."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from warpsift.engine import Engine
from warpsift.engine.engine import EngineError
from warpsift.machines import load_machine
from warpsift.run import two_stages
from warpsift.run.execute import simulate
from warpsift.run.observer import Observer
from warpsift.run.request import RequestError
from warpsift.simt import Gpu, kernel
from warpsift.simt.stream import OP, Chunk, LaunchInfo

CASES = [
    ("bfs", {"gpu": "gtx980"}),
    ("sssp", {"gpu": "tx1"}),
    ("bfs", {"gpu": "gtx980", "unit": "scu"}),
    ("pagerank", {"gpu": "gtx480", "unit": "mff", "max_iterations": 2}),
    ("wcc", {"gpu": "gtx980", "style": "vertex", "sample_interval_cycles": 1000}),
]


def engine_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "warpsift engine"]


@pytest.mark.parametrize(("algorithm", "choices"), CASES)
def test_two_threads_give_the_result_of_one(algorithm, choices):
    one, two = (simulate(algorithm, "kron-8", threads=threads, **choices).as_dict() for threads in (1, 2))
    for result in (one, two):
        result.pop("host_seconds")
    assert one == two
    assert not engine_threads()


class Slow:
    """A sink that takes its time and notes how much waits for it."""

    def __init__(self, stages: two_stages.TwoStages) -> None:
        self.stages, self.most, self.chunks = stages, 0, 0

    def begin(self, launch: LaunchInfo) -> None:
        pass

    def chunk(self, chunk: Chunk) -> None:
        time.sleep(0.01)
        self.most = max(self.most, self.stages._bytes)
        self.chunks += 1

    def end(self) -> None:
        pass


def empty_chunk() -> Chunk:
    return Chunk(np.zeros(1000, OP), np.zeros(2, np.int64), np.zeros(1, np.int64), 1)


def test_what_waits_is_bounded(monkeypatch):
    monkeypatch.setattr(two_stages, "QUEUED_BYTES", 40_000)
    with two_stages.TwoStages() as stages:
        slow = Slow(stages)
        sink = stages.feeding(slow)
        for _ in range(12):
            sink.chunk(empty_chunk())
        stages.wait()
        assert slow.chunks == 12 and 0 < slow.most <= 40_000


def test_an_error_of_the_engine_is_raised_in_the_caller():
    @kernel
    def copy(t, x):
        t.store(x, t.id, t.load(x, t.id))

    with pytest.raises(EngineError, match="needs 512 threads per CTA"), two_stages.TwoStages() as stages:
        engine = Engine(load_machine("gtx980", {"sm.threads": 256, "sm.warps": 8}), progress=stages.heed(None))
        gpu = Gpu(stages.feeding(engine), memory_bytes=1 << 20)
        x = gpu.memory.empty("x", 1024)
        for _ in range(10_000):
            gpu.launch(copy, 1024, x, phase="copy", threads_per_cta=512)
    assert not engine_threads()


def test_an_interrupt_stops_both():
    seen = []

    def interrupt(phase: str, launch: int) -> None:
        seen.append(launch)
        if launch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate("bfs", "kron-10", gpu="gtx980", threads=2, observer=Observer(on_launch=interrupt))
    assert max(seen) == 3
    assert not engine_threads()


def test_an_interrupt_while_the_engine_is_busy_ends_within_a_pause():
    cycles = []

    def busy(now: int) -> None:
        cycles.append(now)

    with two_stages.TwoStages() as stages:
        progress = stages.heed(busy)
        progress(1)
        stages._stop = True
        with pytest.raises(two_stages.Stopped):
            progress(2)
    assert cycles == [1]


def test_threads_must_be_positive():
    with pytest.raises(RequestError, match="threads=0: a run takes 1 or 2"):
        simulate("bfs", "kron-6", gpu="gtx980", threads=0)
