"""The memory fast-forward unit in the engine: the paper's examples, exact words and bits, small sizes, watchdog."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter as Multiset
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_mff
from support.fast_forward import MACHINE, Setup, csr, engine_with_unit, random_lists, timed
from support.places import TESTS
from warpsift.engine.engine import Engine, EngineError
from warpsift.machines import MachineError, load_machine
from warpsift.simt import kernel
from warpsift.simt.stream import LINE_SHIFT, LOAD

# ------------------------------------------------------------------------------------- examples of the paper
# Figs. 1 and 3: R = 0, 8, 9, 15, ...; C[0]=0, C[1]=3, C[8]=3, C[9]=1, C[10]=3, C[15]=0, C[16]=1.
FIGURE_1_STEPS = [[0, 3], [3], [1, 3], [0, 1]]  # the first two in-neighbours (steps a and b) of vertices 0 to 3


def requests_to_array(tape, array):
    """Line requests of the plain GPU's loads of an array, warp instruction by warp instruction."""
    lines = []
    for launch, chunks in tape.launches:
        tag = launch.arrays.index(array)
        for chunk in chunks:
            for op in chunk.ops[(chunk.ops["kind"] == LOAD) & (chunk.ops["array"] == tag)]:
                lines += (chunk.transactions[op["first"] : op["first"] + op["transactions"]] >> LINE_SHIFT).tolist()
    return lines


def test_figure_3_v3_is_requested_twice_by_the_plain_gpu_and_once_by_the_unit():
    setup = Setup(FIGURE_1_STEPS, vertices=4)
    wanted_by = [thread for thread, row in enumerate(FIGURE_1_STEPS) if 3 in row]
    assert wanted_by == [0, 1, 2]
    line_of_v3 = (setup.values.address + 3 * 4) // 128
    assert requests_to_array(setup.plain(), "values").count(line_of_v3) == 2
    counters, _ = timed(setup.gather())
    assert counters.mff_v_reads == 1
    assert counters.mff_words_sent == 7


def test_figure_1_the_whole_lists():
    lists = [[0, 3, 1, 2, 4, 5, 6, 7], [3], [1, 3, 0, 2, 4, 5], [0, 1]]
    offsets, columns = csr(lists)
    assert offsets.tolist()[:4] == [0, 8, 9, 15]
    assert {k: int(columns[k]) for k in (0, 1, 8, 9, 10, 15, 16)} == {0: 0, 1: 3, 8: 3, 9: 1, 10: 3, 15: 0, 16: 1}
    counters, log = timed(Setup(lists, vertices=8).gather(), log_rows=17)
    assert counters.mff_gather_commands == 1
    assert sorted(log[:, 3].tolist()) == sorted(int(np.float32(v + 0.5).view(np.int32)) for row in lists for v in row)


# Fig. 4: at t1 four requests to one block, at t2 three to the same; 11 coalesced requests to 4 blocks up to t8.
A, B, C, D = 0, 32, 64, 96  # first words of four blocks
FIGURE_4 = {  # time: what threads 0 to 3 ask for
    1: [A, A + 1, A + 2, A + 3],
    2: [A + 4, A + 5, A + 6, None],
    3: [B, B + 1, C, None],
    4: [C + 1, D, None, None],
    5: [B + 2, None, None, None],
    6: [D + 1, A + 7, None, None],
    7: [C + 2, None, None, None],
    8: [B + 3, None, None, None],
}


def test_figure_4_eleven_requests_to_four_blocks():
    steps = [{v // 32 for v in row if v is not None} for row in FIGURE_4.values()]
    assert naive_mff.window_requests(steps, 1) == 11
    lists = [[row[t] for row in FIGURE_4.values() if row[t] is not None] for t in range(4)]
    setup = Setup(lists, vertices=128)
    counters, _ = timed(setup.gather())
    assert counters.mff_v_reads == 4
    assert counters.mff_words_sent == sum(len(row) for row in lists)


def test_scatter_merges_1024_bits_into_one_line():
    lists = [list(range(32 * t, 32 * t + 32)) for t in range(32)]
    counters, _ = timed(Setup(lists, vertices=1024).scatter())
    assert counters.mff_scatter_bits == 1024
    assert counters.mff_active_reads == counters.mff_lines_written == 1


def test_gather_merges_32_words_into_one_line():
    lists = [[t] for t in range(32)]
    counters, _ = timed(Setup(lists, vertices=32).gather())
    assert (counters.mff_c_reads, counters.mff_v_reads, counters.mff_words_sent) == (1, 1, 32)
    assert counters.mff_completion_messages == 1


# ------------------------------------------------------------------------------------- exact words and bits
SIZES = {
    "mff.issue_engines": [1, 2, 32],
    "mff.jobs_per_engine": [1, 3, 8],
    "mff.work_registers": [1, 7, 8192],
    "mff.tags_per_memory_unit": [1, 2, 256],
    "mff.lines_per_memory_unit": [1, 2, 20],
    "mff.line_allocation": ["fill", "issue"],
    "mff.fetch_bytes": [32, 128],
    "mff.lookups_per_cycle": [1, 4],
    "mff.updates_per_cycle": [1, 4],
    "mff.replies_per_cycle": [1, 2],
    "mff.words_per_reply": [1, 3, 8],
    "l2.fill_bytes": [32, 128],
}
structures = st.fixed_dictionaries({key: st.sampled_from(values) for key, values in SIZES.items()})
graphs = st.tuples(st.integers(0, 10_000), st.sampled_from([1, 33, 200]), st.sampled_from([3, 40]), st.just(3000))


def check_gather(graph, overrides):
    setup = Setup(random_lists(*graph), vertices=graph[3])
    tape = setup.gather()
    wanted = naive_mff.words_of_commands(tape.launches)
    values = setup.values.host.view(np.int32)
    counters, log = timed(tape, log_rows=len(wanted), **overrides)
    expected = Multiset((lane, k, int(values[setup.columns[c]])) for lane, k, c in wanted)
    found = Multiset(tuple(row) for row in (log[:, 1:].tolist() if log is not None else []))
    assert found == expected
    assert counters.mff_words == counters.mff_words_sent == len(wanted)


def check_scatter(graph, overrides, dtype=np.uint32):
    setup = Setup(random_lists(*graph), graph[3], dtype)
    tape = setup.scatter()
    expected = setup.active.host.copy()
    setup.active.host[:] = 0  # what the functional run has set: now the unit itself must set it
    counters, _ = timed(tape, **overrides)
    assert np.array_equal(setup.active.host, expected)
    assert counters.mff_scatter_bits == counters.mff_words == len(setup.columns) * bool(setup.offsets.host[-1])
    assert counters.mff_lines_written == counters.mff_active_reads or overrides["mff.fetch_bytes"] == 32


@settings(max_examples=30, deadline=None)
@given(graph=graphs, overrides=structures)
def test_gather_delivers_exactly_the_words_whatever_the_sizes(graph, overrides):
    check_gather(graph, overrides)


@settings(max_examples=30, deadline=None)
@given(graph=graphs, overrides=structures, dtype=st.sampled_from([np.uint32, np.uint8]))
def test_scatter_sets_exactly_the_bits_whatever_the_sizes(graph, overrides, dtype):
    check_scatter(graph, overrides, dtype)


@pytest.mark.parametrize("allocation", ["fill", "issue"])
def test_one_of_everything(allocation):
    least = {key: values[0] for key, values in SIZES.items()} | {"mff.line_allocation": allocation}
    check_gather((1, 100, 40, 3000), least)
    check_scatter((1, 100, 40, 3000), least)


def test_more_of_everything_is_never_needed_for_the_answer_but_saves_reads():
    graph = (5, 200, 40, 3000)
    tape = Setup(random_lists(*graph), graph[3]).gather()
    few, _ = timed(tape, **{"mff.tags_per_memory_unit": 1, "mff.work_registers": 32})
    many, _ = timed(tape)
    assert many.mff_words_sent == few.mff_words_sent
    assert many.mff_c_reads + many.mff_v_reads < few.mff_c_reads + few.mff_v_reads
    assert few.mff_stall_tag_cycles > 0 and few.mff_stall_register_cycles > 0
    assert many.mff_stall_register_cycles == 0


def test_every_lookup_is_a_read_or_a_hit():
    graph = (7, 300, 40, 3000)
    counters, _ = timed(Setup(random_lists(*graph), graph[3]).gather())
    reads = counters.mff_c_reads + counters.mff_v_reads + counters.mff_active_reads
    hits = counters.mff_hits_same_warp + counters.mff_hits_other_warp + counters.mff_hits_resident
    assert counters.mff_tag_searches == reads + hits
    assert counters.mff_v_lookups == counters.mff_words
    assert counters.mff_hits_same_warp > 0 and counters.mff_hits_other_warp > 0


def test_equal_runs_give_equal_counters():
    tape = Setup(random_lists(3, 300, 40, 3000), 3000).gather()
    assert dict(timed(tape)[0]) == dict(timed(tape)[0])


def test_an_ideal_network_loses_nothing():
    check_gather((2, 300, 40, 3000), {"ideal.noc": True, "mff.issue_engines": 1, "mff.jobs_per_engine": 1})


@kernel
def scatter_one_by_one(t, offsets):
    begin, end = t.load(offsets, t.id), t.load(offsets, t.id, offset=1)
    for first in t.range(begin, end):
        t.pc_scatter_set(first, 1)


def test_an_ideal_network_takes_more_commands_than_the_queues_of_a_real_one_hold():
    setup = Setup([list(range(64)), *[[]] * 31] * 120, vertices=64)  # one thread of each of 120 warps, 64 commands
    slow = {"mff.issue_engines": 1, "mff.jobs_per_engine": 1}
    counters, _ = timed(setup.stream(scatter_one_by_one, setup.offsets), **{"ideal.noc": True}, **slow)
    assert counters.mff_scatter_commands == counters.mff_scatter_bits == 120 * 64


# ------------------------------------------------------------------------------------- refusals
def test_the_watchdog_names_the_stuck_part():
    tape = Setup([[0, 1]] * 32, vertices=64).gather()
    engine = engine_with_unit()
    engine._arena.arrays["mff.units"]["tag_free"] = -1  # all tags are taken and never come back
    with pytest.raises(EngineError) as caught:
        tape.replay(engine)
    text = str(caught.value)
    assert text.startswith("deadlock: nothing moved for 131072 cycles")
    assert "fast-forward unit: 1 commands are not finished; fast-forward unit: memory unit" in text
    assert "waits for a tag" in text


def test_a_command_without_its_unit_is_an_error():
    tape = Setup([[0, 1]] * 32, vertices=64).gather()
    with pytest.raises(EngineError) as caught:
        tape.replay(Engine(load_machine(MACHINE)))
    assert str(caught.value) == ("the stream commands a unit that is not plugged in: the engine has units=[]")


def test_a_command_without_a_binding_is_an_error():
    tape = Setup([[0, 1]] * 32, vertices=64).gather()
    launch = tape.launches[0][0]
    object.__setattr__(launch, "bindings", {})
    with pytest.raises(EngineError) as caught:
        engine = engine_with_unit()
        tape.replay(engine)
    assert str(caught.value) == (
        "the stream holds a command to the memory fast-forward unit, but its edges, values or active list are not "
        f"bound: call bind_fast_forward(gpu, ...) before the launch, at cycle {engine.cycle}"
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "mff.work_registers",
            0,
            "machine 'gtx480': mff.work_registers = 0: write 1 to 1048576 registers "
            "(every entry is a row of the model's memory, and no such table in hardware has more)",
        ),
        (
            "mff.issue_engines",
            65,
            "machine 'gtx480': mff.issue_engines = 65: write 1 to 64 engines (they are the bits of one 64-bit word)",
        ),
    ],
)
def test_impossible_units(key, value, message):
    with pytest.raises(MachineError) as caught:
        load_machine(MACHINE, {key: value})
    assert str(caught.value) == message


# ------------------------------------------------------------------------------------- plain Python
def small_counters():
    """A gather and a scatter small enough for plain Python."""
    graph = (11, 40, 4, 300)
    setup = Setup(random_lists(*graph), graph[3])
    least = {"mff.tags_per_memory_unit": 2, "mff.lines_per_memory_unit": 1}
    total = timed(setup.gather(), **least)[0] + timed(setup.scatter(), **least)[0]
    return {name: int(value) for name, value in total.items()}


def test_plain_python_runs_the_same_unit():
    command = "import json, test_mff_unit; print(json.dumps(test_mff_unit.small_counters()))"
    here = Path(__file__).parent
    paths = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", command], env=environment, cwd=here, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == small_counters()
