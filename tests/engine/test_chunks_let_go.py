"""A chunk of the stream is let go only when nobody will read it: on Volta a CTA may end before its stores are sent."""

from __future__ import annotations

import numpy as np
import pytest

from warpsift.engine import Engine
from warpsift.engine.core.arena import Arena
from warpsift.machines import load_machine
from warpsift.simt import Gpu, Residency, kernel

THREADS = 1 << 16


@kernel(races=True)  # a chunk is then no larger than what is resident
def scatter(t, out):
    """A warp is through long before its 32 lines are sent."""
    t.store(out, (t.id * 37) % THREADS, t.id)


def counters_of(name: str, **overrides) -> dict[str, int]:
    machine = load_machine(name, overrides)
    engine = Engine(machine)
    gpu = Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads))
    out = gpu.memory.empty("out", THREADS, np.int32)
    gpu.launch(scatter, THREADS, out, phase="scatter", threads_per_cta=256)
    result = dict(engine.total)
    engine.close()
    return result


@pytest.mark.parametrize("name", ["v100", "gtx980"])
def test_nothing_is_read_of_a_chunk_that_was_let_go(monkeypatch, name):
    """What lies there afterwards makes no difference."""
    plain = counters_of(name, **{"sm.count": 4})
    overwritten = 0
    release = Arena.release

    def overwrite(self, table: str) -> None:
        nonlocal overwritten
        if table.endswith(".transactions"):
            self.arrays[table][:] = 0x1234_0001  # another line, one sector
            overwritten += 1
        release(self, table)

    monkeypatch.setattr(Arena, "release", overwrite)
    assert counters_of(name, **{"sm.count": 4}) == plain
    assert overwritten > 4, "chunks were let go while the launch ran"


@pytest.mark.parametrize("name", ["a100", "l40"])
def test_machines_of_more_than_a_hundred_sms_repeat_to_the_last_digit(name):
    assert counters_of(name) == counters_of(name)
