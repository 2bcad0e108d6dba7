"""Counters read at once beside each asked of its component's record."""

from __future__ import annotations

import numpy as np

from warpsift.engine import Engine
from warpsift.engine.counter_reader import OF_SMS
from warpsift.engine.counters import Counters, is_peak, total_of
from warpsift.machines import load_machine
from warpsift.simt import Gpu, kernel
from warpsift.units import unit_named


@kernel
def gather(t, index, values, out):
    t.store(out, t.id, t.load(values, t.load(index, t.id)))


def launched(engine: Engine, n: int) -> None:
    gpu = Gpu(engine)
    index = gpu.memory.array("index", np.random.default_rng(n).integers(0, 1 << 14, n).astype(np.int32))
    gpu.launch(
        gather, n, index, gpu.memory.empty("v", 1 << 14, np.float32), gpu.memory.empty("o", n, np.float32), phase="p"
    )


def test_every_counter_is_its_records():
    machine = load_machine("gtx980")
    engine = Engine(machine, unit_named("next-line").components())
    launched(engine, 4096)
    found = engine._counted.named(engine._counted.read())
    arrays = engine._arena.arrays
    for part, group in engine.counters.items():
        for name in group:
            assert found.pop(name) == int(arrays[part][0][name]), name
    assert found == {name: int(arrays["sms"][column].sum()) for name, column in OF_SMS.items()}
    assert engine.total.l1_read_accesses > 0


def test_launches_add_up_but_for_peaks():
    engine = Engine(load_machine("gtx980"))
    launched(engine, 64)
    launched(engine, 8192)
    launched(engine, 128)
    each = [result.counters for result in engine.launches]
    assert engine.total == total_of(each) == each[0] + each[1] + each[2]
    for name, value in engine.total.items():
        values = [counters[name] for counters in each]
        assert value == (max(values) if is_peak(name) else sum(values)), name
    peaks = [name for name in engine.total if is_peak(name)]
    assert peaks and any(each[2][name] < each[1][name] for name in peaks), "a peak begins anew with each launch"


def test_launches_of_other_engines_may_lack_counters():
    assert dict(total_of([Counters({"b": 1}), Counters({"a": 2, "b_peak": 3}), Counters({"b_peak": 2})])) == {
        "a": 2,
        "b": 1,
        "b_peak": 3,
    }
