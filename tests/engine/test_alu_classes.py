"""Classes of ALU instructions: what is recorded, and how long runs take."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import naive_alu
from support.engine_streams import alu, chunk, launch, load, shared, simulate
from warpsift.engine import Engine
from warpsift.engine.sm.alu_timing import PIPES, TWO_PIPES, pipe_cycles, run_cycles
from warpsift.errors import WarpsiftError
from warpsift.machines import load_machine
from warpsift.machines.alu_spec import ALU_CLASSES
from warpsift.simt import Gpu, kernel
from warpsift.simt.alu_classes import BESIDE, UNTOLD

# GPGPU-Sim's GTX 480: gpgpusim.config's latencies and six cycles of the pipeline around them.
GTX480 = {
    "sm.alu_by_class": "true",
    "sm.alu.int_add.latency_cycles": 10,
    "sm.alu.int_mul.latency_cycles": 10,
    "sm.alu.int_mul.initiation_cycles": 2,
    "sm.alu.int_div.latency_cycles": 151,
    "sm.alu.logic.latency_cycles": 7,
    "sm.alu.compare.latency_cycles": 7,
    "sm.alu.float_div.latency_cycles": 45,
    "sm.alu.double_add.latency_cycles": 14,
    "sm.alu.double_add.initiation_cycles": 8,
}
CHAINS = {
    "add": (lambda t, x: x + 1, np.int32, 10),
    "mul": (lambda t, x: x * 3, np.int32, 10),
    "shift": (lambda t, x: x << 1, np.int32, 7),
    "compare and select": (lambda t, x: t.select(x > 5, x, 7), np.int32, 14),
    "integer division": (lambda t, x: x // 3, np.int32, 151),
    "float division": (lambda t, x: x / np.float32(3), np.float32, 45),
    "double add": (lambda t, x: x + 1.0, np.float64, 14),
}


@kernel(guard=False)
def chained(t, out, step, length, dtype):
    value = t.lane.astype(dtype)
    for _ in range(length):
        value = step(t, value)
    t.store(out, t.id, value)


def cycles_of(step, dtype, length: int, threads: int = 32) -> int:
    engine = Engine(load_machine("gtx480-gpgpusim4", GTX480), checks=True)
    gpu = Gpu(engine)
    out = gpu.memory.empty("out", threads, dtype)
    gpu.launch(chained, threads, out, step, length, dtype, phase="test", threads_per_cta=threads)
    return engine.launches[-1].counters["cycles"]


@pytest.mark.parametrize("name", CHAINS)
def test_a_dependent_chain_takes_the_latency_of_its_class(name):
    step, dtype, latency = CHAINS[name]
    assert cycles_of(step, dtype, 120) - cycles_of(step, dtype, 20) == 100 * latency


def test_doubles_of_many_warps_pass_at_their_rate():
    step, dtype, _ = CHAINS["double add"]
    more, fewer = cycles_of(step, dtype, 120, 1024), cycles_of(step, dtype, 120, 512)
    assert more - fewer == pytest.approx(120 * 8 * 16 / 2, rel=0.03)  # 16 warps, 2 schedulers, 8 cycles each


def test_runs_agree_with_a_warp_that_is_stepped_cycle_by_cycle():
    rng = np.random.default_rng(5)
    for _ in range(300):
        latency = rng.integers(1, 20, len(ALU_CLASSES)).tolist()
        initiation = rng.integers(1, 5, len(ALU_CLASSES)).tolist()
        program = []
        for place in range(int(rng.integers(1, 12))):
            needs = rng.choice(place, min(place, int(rng.integers(3))), replace=False).tolist()
            waited_for = [k for k in needs if program[k][1:] != (BESIDE,)]
            needs = (BESIDE,) if rng.random() < 0.2 else waited_for
            program.append((int(rng.integers(len(ALU_CLASSES))), *needs))
        assert run_cycles(tuple(program), latency, initiation) == naive_alu.run_cycles(program, latency, initiation)


def test_two_pipes_agree_with_pipes_that_are_stepped_cycle_by_cycle():
    rng = np.random.default_rng(6)
    for _ in range(300):
        latency = rng.integers(4, 20, len(ALU_CLASSES)).tolist()
        initiation = rng.integers(1, 5, len(ALU_CLASSES)).tolist()
        program = []
        for place in range(int(rng.integers(1, 12))):
            needs = rng.choice(place, min(place, int(rng.integers(3))), replace=False).tolist()
            program.append((int(rng.integers(len(ALU_CLASSES))), *needs))
        given = (tuple(program), latency, initiation, TWO_PIPES)
        assert run_cycles(*given) == naive_alu.run_cycles_of_pipes(*given)


def test_integers_beside_floats_issue_in_every_cycle():
    logic, fma = (ALU_CLASSES.index(name) for name in ("logic", "float_mad"))
    times = ([4] * len(ALU_CLASSES), [2] * len(ALU_CLASSES))
    assert run_cycles(((logic,), (fma,)) * 8, *times, TWO_PIPES)[0] == 16
    assert run_cycles(((logic,), (fma,)) * 8, *times)[0] == 32
    assert run_cycles(((logic,),) * 16, *times, TWO_PIPES)[0] == 31  # one kind alone: every other cycle


def test_what_follows_a_run_issues_when_its_last_result_is_there_and_not_before():
    """An access behind an independent division and add: the division's latency decides, to the cycle."""
    names = {name: number for number, name in enumerate(ALU_CLASSES)}
    program = ((names["int_div"],), (names["int_add"],))

    def cycles(**overrides) -> int:
        machine = load_machine("gtx980", {"sm.alu_by_class": True, "sm.alu.int_add.latency_cycles": 6, **overrides})
        engine = Engine(machine, checks=True)
        engine.begin(launch(1))
        engine.chunk(chunk([[alu(2, 1, program=1), shared(0), alu(wait=1)]], 1, (UNTOLD, program)))
        return engine.end().counters["cycles"]

    short = cycles(**{"sm.alu.int_div.latency_cycles": 7})  # the add is done at 1 + 6
    assert cycles(**{"sm.alu.int_div.latency_cycles": 1}) == short
    assert cycles(**{"sm.alu.int_div.latency_cycles": 8}) == short + 1
    assert cycles(**{"sm.alu.int_div.latency_cycles": 500}) == short + 493


def test_a_machine_without_classes_reads_no_programs():
    plain = simulate([[alu(5, 3), load(0, [1])]], "gtx980")
    assert plain["cycles"] == simulate([[alu(5, 3, program=7), load(0, [1])]], "gtx980")["cycles"]


def test_a_program_that_the_chunk_does_not_have_is_refused():
    machine = load_machine("gtx980", {"sm.alu_by_class": True})
    engine = Engine(machine)
    engine.begin(launch(1))
    with pytest.raises(WarpsiftError, match="names program 7, but the chunk has 1"):
        engine.chunk(chunk([[alu(5, 3, program=7)]], 1))


def test_every_class_that_a_kernel_can_use_is_recorded():
    seen = set()

    class Programs:
        def begin(self, info): ...
        def end(self): ...

        def chunk(self, part):
            seen.update(ALU_CLASSES[which] for program in part.programs for which, *_ in program)

    @kernel
    def everything(t, x, y, out):
        a, b, c = t.load(x, t.id), t.load(y, t.id), t.lane
        d = a.astype(np.float64)
        ints = t.minimum(c + 1, 3) + c * 3 + t.fma(c, c, c) + c // 3
        floats = t.minimum(a + b, 3) + a * b + t.fma(a, b, a) + a / b
        doubles = t.minimum(d + d, 3) + d * d + t.fma(d, d, d) + d / d
        others = t.select(ints > 3, c & 1, t.popcount(t.ballot(floats < 1)))
        with t.where(others > 0):
            t.store(out, t.id, doubles)

    gpu = Gpu(Programs())
    x = gpu.memory.array("x", np.ones(64, np.float32))
    y = gpu.memory.array("y", np.ones(64, np.float32))
    gpu.launch(everything, 64, x, y, gpu.memory.empty("out", 64, np.float64), phase="test")
    assert seen == set(ALU_CLASSES)


def cycles_of_runs(programs, runs, **overrides) -> int:
    """Cycles of warps of one scheduler in turns, each with its runs of ALU instructions."""
    machine = load_machine("v100", {"sm.count": 1, "sm.policy": "lrr", **overrides})
    warps = [[alu(len(programs[k]), 1, program=k) for k in each] for each in runs for _ in range(4)]  # four schedulers
    engine = Engine(machine, checks=True)
    engine.begin(launch(1, len(warps)))
    engine.chunk(chunk(warps, 1, programs))
    return engine.end().counters["cycles"]


@pytest.mark.parametrize(
    ("name", "cycles"), [("logic", 2), ("float_mad", 2), ("double_add", 4), ("special", 8), ("control", 2)]
)
def test_runs_of_one_instruction_pass_their_pipe_at_its_rate(name, cycles):
    programs = (UNTOLD, ((ALU_CLASSES.index(name),),))
    fewer, more = (cycles_of_runs(programs, [[1] * n] * 8) for n in (100, 300))
    assert more - fewer == 200 * 8 * cycles


def test_runs_of_warps_share_the_port_and_wait_for_pipes():
    """Of two kinds of runs side by side, the port takes one instruction a cycle; of one kind, its pipe every other."""
    logic, fma = (ALU_CLASSES.index(name) for name in ("logic", "float_mad"))
    programs = (UNTOLD, ((logic,),), ((fma,),), ((logic,), (fma,), (logic,)))
    n = 200

    def cycles(*kinds: int) -> int:  # of so many further runs of each of eight warps
        fewer, more = (cycles_of_runs(programs, [[kind] * times for kind in kinds] * 4) for times in (n, 2 * n))
        return more - fewer

    assert cycles(1, 1) == 8 * n * 2
    assert cycles(1, 2) == pytest.approx(8 * n, rel=0.01)
    assert cycles(3, 3) == pytest.approx(8 * n * 4, rel=0.01)  # the pipe of integers takes four cycles of each
    assert cycles(3, 2) == pytest.approx(4 * n * 4, rel=0.01)  # which leaves the other pipe room


def test_what_a_run_leaves_busy_is_what_pipes_stepped_cycle_by_cycle_leave():
    rng = np.random.default_rng(7)
    for _ in range(300):
        initiation = rng.integers(1, 9, len(ALU_CLASSES)).tolist()
        program = tuple((int(which),) for which in rng.integers(0, len(ALU_CLASSES), int(rng.integers(1, 12))))
        free, port, kept, before = [0] * PIPES, 0, [0] * PIPES, [0] * PIPES
        for (which,) in program:
            while all(free[pipe] > port for pipe in TWO_PIPES[which]):
                port += 1
            pipe = next(pipe for pipe in TWO_PIPES[which] if free[pipe] <= port)
            free[pipe], before[pipe] = port + initiation[which], kept[pipe]
            kept[pipe] += initiation[which]
            port += 1
        expected = tuple(cycles for each in zip(kept, before, strict=True) for cycles in each)
        assert pipe_cycles(program, initiation, TWO_PIPES) == expected
