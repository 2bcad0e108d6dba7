"""Code that knows its machine: same counters, its numbers are constants, made late, kept, never for other settings."""

import math
import os
from collections import Counter

import numpy as np
import pytest
from numba.core.errors import NumbaError

from support.engine_streams import atomic, barrier, chunk, launch, load, shared, simulate, store
from warpsift.engine import Engine, machine_code
from warpsift.engine.core import compiled_code
from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import JIT_ENABLED, compiled, from_python, void
from warpsift.engine.core.settings import settings_alone, settings_in
from warpsift.engine.l2.l2_state import L2, l2
from warpsift.engine.machine_code import MachineCode
from warpsift.engine.main_loop import run
from warpsift.machines import load_machine

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
WARPS = [[load(0, [3 * w, 40 + w]), shared(1, 2), atomic(w % 3, 2, wait=1), barrier(), store([w])] for w in range(24)]


@pytest.fixture
def ran(monkeypatch):
    """Names of the code that ran; no machine has been simulated before."""
    names = []
    call = MachineCode.call

    def watched(self, entry, *arguments):
        answer = call(self, entry, *arguments)
        names.append(self._chosen[entry.name].name)
        return answer

    monkeypatch.setattr(MachineCode, "call", watched)
    monkeypatch.setattr(machine_code, "_spent", Counter())
    return names


def counters(**overrides):
    return dict(simulate(WARPS, "gtx980", warps_per_cta=2, **overrides))


def values_of(**overrides):
    code = Engine(load_machine("gtx980", {key.replace("__", "."): value for key, value in overrides.items()}))._code
    code._choose(run)
    return code._values


def test_it_is_made_once_a_machine_has_been_simulated_for_long_and_counts_the_same(ran, monkeypatch):
    odd = {"l2__latency_cycles": 123, "sm__count": 3}
    monkeypatch.setattr(machine_code, "PATIENCE_S", math.inf)  # what an earlier run of this test has kept is not used
    before = counters(**odd)
    assert set(ran) == {run.name}
    monkeypatch.setattr(machine_code, "PATIENCE_S", 0.0)
    counters(**odd)
    ran.clear()
    assert counters(**odd) == before
    assert len(set(ran)) == 1
    assert ran[0].startswith(f"{run.name}.of.")


def test_the_machines_numbers_are_constants_in_it(ran, monkeypatch):
    """An engine that is given the code of a slower L2 has a slower L2."""
    quick, slow = counters(l2__latency_cycles=120), counters(l2__latency_cycles=320)
    assert slow["cycles"] > quick["cycles"] + 200
    foreign = run.of_machine(values_of(l2__latency_cycles=320), make=True)

    def choose(self, entry):
        self._chosen[entry.name] = foreign
        return foreign

    monkeypatch.setattr(MachineCode, "_choose", choose)
    assert counters(l2__latency_cycles=120) == slow


@pytest.mark.parametrize(
    "setting", ["l2__latency_cycles", "l1__mshrs", "noc__hop_latency_cycles", "dram__queue_entries"]
)
def test_other_settings_are_other_code(setting):
    assert run.of_machine(values_of(), make=True) is not None
    assert run.of_machine(values_of(**{setting: 7}), make=False) is None


def test_a_launch_that_changes_the_ways_of_the_l1_runs_other_code(ran, monkeypatch):
    """Where shared memory takes part of the L1's array, its size is of the launch."""
    monkeypatch.setattr(machine_code, "PATIENCE_S", 0.0)
    engine = Engine(load_machine("v100", {"l1.holds_shared": True}))
    whole = int(engine._record("l1").ways)
    for shared_bytes in (0, 65536, 0):
        engine.begin(launch(4, 1, shared_bytes))
        engine.chunk(chunk(WARPS[:4], 4))
        engine.end()
    assert int(engine._record("l1").ways) == whole
    assert len({name for name in ran if ".of." in name}) == 2


def test_the_settings_alone_count(monkeypatch):
    record = np.zeros(1, L2)
    record["ways"], record["cycle"], record["p_tags"] = 16, 12345, 99
    other = record.copy()
    other["cycle"], other["l2_evictions"], other["p_tags"] = 1, 2, 3
    assert settings_alone(record[0], L2) == settings_alone(other[0], L2)
    other["ways"] = 8
    assert settings_alone(record[0], L2) != settings_alone(other[0], L2)
    assert "ways" in settings_in(L2)
    assert not {"cycle", "p_tags", "l2_evictions"} & settings_in(L2)


def test_compiled_code_cannot_write_a_setting():
    @compiled(void, S_t)
    def widen(S):
        l2(S).ways = 3

    with pytest.raises((TypeError, NumbaError), match="'ways' is a setting of component 'l2'"):
        from_python(widen)(Engine(load_machine("tx1"))._S)


def test_a_sweep_over_machines_leaves_few_files(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled_code, "_KEEP_MACHINES", 3)
    for number in range(7):
        (tmp_path / f"run.of.{number}.o").write_bytes(b"")
        os.utime(tmp_path / f"run.of.{number}.o", (number, number))
    (tmp_path / "run.o").write_bytes(b"")
    compiled_code.keep_newest(tmp_path, "run.of.*.o")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.o", "run.of.4.o", "run.of.5.o", "run.of.6.o"]
