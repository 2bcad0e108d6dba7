"""With a written line that is replaced go the written lines of its DRAM rows: which, how often, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsift.engine import Engine
from warpsift.engine.core.jit import from_python
from warpsift.engine.l2.address_map import dram_address, first_row, line_at, local_line, slice_of
from warpsift.engine.l2.l2_tags import replace_line
from warpsift.errors import WarpsiftError
from warpsift.hardware import SECTOR_BYTES
from warpsift.machines import load_machine
from warpsift.machines.dram_address import field_value, parse_address_map
from warpsift.simt import Gpu, kernel

at, local, home, set_of, replace, address_of = map(
    from_python, (line_at, local_line, slice_of, first_row, replace_line, dram_address)
)
MACHINES = {
    "one slice per channel": ("v100", {}),
    "two slices per channel": ("l40", {"l2.size_bytes": 48 * 16 * 128 * 8}),
    "consecutive chunks": ("v100", {"l2.mapping": "modulo"}),
}


def engine_of(case, writeback="row", **more):
    name, overrides = MACHINES[case]
    keys = {"l2.writeback": writeback, **overrides, **{key.replace("__", "."): value for key, value in more.items()}}
    return Engine(load_machine(name, keys), checks=True)


@pytest.mark.parametrize("case", MACHINES)
def test_a_channel_knows_its_lines(case):
    """line_at is the way back from a line's channel and its number there."""
    engine = engine_of(case)
    per_channel = engine.machine.l2.slices // engine.machine.dram.channels
    for line in np.random.default_rng(3).integers(0, 1 << 32, 300):
        assert at(engine._S, home(engine._S, line) // per_channel, local(engine._S, line)) == line


def naive_mates(machine, S, line, lines):
    """Lines of the same slice in the same rows: walking over the address map's bits, for every line of the L2."""
    pieces = parse_address_map(machine.dram.address_map)
    top = max(shift + width for shift, width in pieces["col"])
    above = {name: [part for part in parts if part[0] >= top] for name, parts in pieces.items()}

    def rows(other):
        return [field_value(address_of(S, other), above[name]) for name in ("row", "bank", "group")]

    return {other for other in lines if other != line and home(S, other) == home(S, line) and rows(other) == rows(line)}


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(MACHINES)), st.integers(0, 1 << 20), st.data())
def test_the_lines_of_the_rows_leave_and_no_others(case, victim, data):
    engine = engine_of(case, l2__dram_queue_entries=256)  # all of them at once
    S, arrays = engine._S, engine._arena.arrays
    channels = engine.machine.dram.channels
    near = victim // (64 * channels) * 64 * channels
    others = data.draw(st.lists(st.integers(near, near + 64 * channels - 1), max_size=60, unique=True))
    states = {}
    for line in [victim, *others]:
        way = data.draw(st.integers(1, 3)) if line != victim else 0
        row = set_of(S, home(S, line), line) + way
        if arrays["l2.tags"][row] < 0:
            arrays["l2.tags"][row] = line
            valid = data.draw(st.integers(0, 15))
            states[line] = row, valid, data.draw(st.integers(0, 15)) if line != victim else 15
            arrays["l2.lines"][row].valid, arrays["l2.lines"][row].dirty = states[line][1:]
    replace(S, home(S, victim), states[victim][0], 1 << 40)
    expected = [(victim, 15)]
    for mate in naive_mates(engine.machine, S, victim, states):
        row, valid, dirty = states[mate]
        expected.append((mate, valid & dirty))
        assert arrays["l2.lines"][row].dirty == dirty & ~valid  # written in part: it waits for the rest
    mates = {line for line, _ in expected}
    for line, (row, _, dirty) in states.items():
        assert line in mates or arrays["l2.lines"][row].dirty == dirty
    slices = arrays["l2.slices"][home(S, victim)]
    sent = arrays[f"l2.write_address{home(S, victim)}"][: slices.write_tail].tolist()
    sectors = [address_of(S, line) + SECTOR_BYTES * k for line, mask in expected for k in range(4) if mask >> k & 1]
    assert sorted(sent) == sorted(sectors)


@kernel
def put(t, out):
    t.store(out, t.id, t.id)


@kernel
def put_scattered(t, out, lines):
    """Line by line, in an order that has nothing to do with DRAM's rows."""
    t.store(out, (t.id & 31) + ((t.id >> 5) * 12289 % lines) * 32, t.id)


def stream(writeback, scattered=False, footprints=3, **more):
    """Write an array of several times the L2; counters, and what is dirty or on its way at the end, in sectors."""
    engine = engine_of("one slice per channel", writeback, l2__size_bytes=64 * 8 * 128 * 24, **more)
    words = footprints * engine.machine.l2.size_bytes // 4
    gpu = Gpu(engine)
    out = gpu.memory.empty("out", words)
    if scattered:
        gpu.launch(put_scattered, words, out, words // 32, phase="put")
    else:
        gpu.launch(put, words, out, phase="put")
    arrays = engine._arena.arrays
    slices = arrays["l2.slices"]
    queued = slices["dram_tail"] - slices["dram_head"] + slices["write_tail"] - slices["write_head"]
    dirty = int(np.bitwise_count(arrays["l2.lines"]["dirty"]).sum())
    on_the_way = int(queued.sum() + arrays["dram.channels"]["requests"].sum())
    return engine.total, dirty, on_the_way, words * 4 // SECTOR_BYTES


@pytest.mark.parametrize("writeback", ["line", "row"])
def test_what_is_written_once_reaches_dram_once(writeback):
    counters, dirty, on_the_way, sectors = stream(writeback)
    assert counters.l2_writebacks + dirty == sectors
    assert counters.dram_writes + on_the_way == counters.l2_writebacks
    assert (counters.l2_row_writebacks > 0) == (writeback == "row")


def test_rows_are_opened_less_often():
    line, row = (stream(writeback, scattered=True)[0] for writeback in ("line", "row"))
    assert row.dram_writes / row.dram_activates > 1.5 * line.dram_writes / line.dram_activates


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({"l2.mapping": "random"}, "l2.writeback = 'row' needs l2.mapping = 'modulo' or 'hashed'"),
        ({"l2.written_sectors": "fetched"}, "l2.writeback = 'row' needs l2.written_sectors = 'whole' or 'masked'"),
    ],
)
def test_what_does_not_go_together_is_said(overrides, message):
    with pytest.raises(WarpsiftError, match=message):
        load_machine("v100", {"l2.writeback": "row", **overrides})


def test_a_short_queue_only_delays():
    """Eight writes have room: the rows' lines follow one by one."""
    counters, dirty, on_the_way, sectors = stream("row", l2__dram_queue_entries=8)
    assert counters.l2_writebacks + dirty == sectors
    assert counters.dram_writes + on_the_way == counters.l2_writebacks
    assert counters.l2_row_writebacks > 0
