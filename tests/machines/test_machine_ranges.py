"""Every key of a machine has a range with a reason; nonsense is refused before any memory is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import pytest

from warpsift.engine.engine import Engine
from warpsift.machines import MachineError, load_machine, machine_keys, machine_names, machine_parameters
from warpsift.machines.footprint import LIMIT_VARIABLE, machine_bytes
from warpsift.machines.ranges import Bounds, declared, powers, range_problems
from warpsift.machines.spec import Machine
from warpsift.machines.unit_sections import spec_types
from warpsift.units import unit_named

SECTIONS = [(Machine, ""), *((kind, f"{section}.") for section, kind in spec_types().items())]
KEYS = {key.key: key for struct, prefix in SECTIONS for key in declared(struct, prefix)}
NUMBERS = {name: key for name, key in KEYS.items() if key.bounds is not None}


def refused(overrides, machine="gtx980") -> str:
    with pytest.raises(MachineError) as error:
        load_machine(machine, overrides)
    return str(error.value)


def test_every_key_is_declared_with_range_unit_and_reason():
    assert list(KEYS) == machine_keys()
    for key in KEYS.values():
        assert key.range, key.key
        if key.bounds is not None:
            assert key.unit and len(key.reason) > 5, key.key
            assert key.bounds.low < key.bounds.high, key.key
            assert key.default is msgspec.NODEFAULT or key.bounds.allows(key.default), key.key


@pytest.mark.parametrize("name", machine_names())
def test_the_machines_lie_within_their_ranges(name):
    parameters = machine_parameters(load_machine(name))
    for key in NUMBERS.values():
        assert key.bounds.allows(parameters[key.key]), key.key


@pytest.mark.parametrize("name", NUMBERS)
def test_one_step_outside_is_refused_with_key_value_range_and_reason(name):
    key = NUMBERS[name]
    for value in (key.bounds.low - 1, key.bounds.high + 1):
        written = float(value) if name.endswith("_mhz") else value
        wanted = f"{name} = {written}: write {key.bounds} {key.unit} ({key.reason})"
        assert refused({name: value}) == f"machine 'gtx980': {wanted}"


@pytest.mark.parametrize("name", NUMBERS)
def test_astronomical_values_are_refused_in_a_short_line(name):
    for value in (10**30, -(10**30), 10**3000):
        message = refused({name: value})
        assert name in message and len(message) < 500


@pytest.mark.parametrize("name", ["clocks.core_mhz", "clocks.noc_mhz", "clocks.l2_mhz", "dram.clock_mhz"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "nan", "inf"])
def test_clocks_are_numbers(name, value):
    assert refused({name: value}).startswith(f"machine 'gtx980': {name} = {float(value)}: write 10 to 10000 MHz (")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"dram.request_bytes": 3},
            "dram.request_bytes = 3: write 32, 64 or 128 bytes (one, two or four sectors of a line)",
        ),
        (
            {"dram.timing.rcd_rd": -500},
            "dram.timing.rcd_rd = -500: write 0 to 4000 clocks (no rule of a JEDEC device is longer; 0: no such rule)",
        ),
        (
            {"dram.timing.rfc": 9000, "dram.timing.refi": 9000},
            "dram.timing.refi = 9000: a refresh of 9000 clocks, and opening, using and closing a row before the next "
            "one, take 9394; write more, or 0 for no refresh",
        ),
        (
            {"dram.timing.refi": 700, "dram.refresh": "per_bank"},
            "dram.timing.refi = 700: 16 refreshes in that time, each after up to 72 clocks for open rows to close, "
            "need more than 1168; write more, or 0 for no refresh",
        ),
        (
            {"dram.address_map": "row14 bank2 group1 col1 group1 col3 col3 burst999"},
            "dram.address_map: 1024 bits; write at most 60, addresses are 64-bit words",
        ),
        (
            {"noc.buffer_flits": 4, "l2.reply_queue_entries": 8, "noc.flit_bytes": 36},
            "noc.buffer_flits = 4 cannot hold a fast-forward command of 5 flits",
        ),
        (
            {"noc.buffer_flits": 5, "l2.reply_queue_entries": 1, "noc.flit_bytes": 36},
            "noc.buffer_flits = 5 and l2.reply_queue_entries = 1 cannot hold a reply of 8 flits",
        ),
    ],
)
def test_combinations_that_cannot_move_are_refused(overrides, message):
    assert refused(overrides) == f"machine 'gtx980': {message}"


def test_choices_are_named():
    message = "machine 'gtx980': key 'dram.arbitration': 'best'; write 'column_first', 'oldest' or 'round_robin'"
    assert refused({"dram.arbitration": "best"}) == message
    assert refused({"l1.fill_bytes": 64}) == "machine 'gtx980': key 'l1.fill_bytes': 64; write 32 or 128"


def test_a_number_without_a_range_is_a_mistake():
    class Careless(msgspec.Struct):
        size: int = 1

    with pytest.raises(TypeError, match=r"Careless\.size has no Bounds"):
        list(declared(Careless))


def test_bounds_say_what_they_allow():
    @dataclass
    class Case:
        bounds: Bounds
        inside: tuple
        outside: tuple

    for case in (
        Case(Bounds(1, 4, "x", "y"), (1, 4), (0, 5, math.nan)),
        Case(Bounds(1, 8, "x", "y", powers(1, 8)), (1, 2, 8), (3, 16)),
    ):
        assert all(map(case.bounds.allows, case.inside))
        assert not any(map(case.bounds.allows, case.outside))
    assert list(range_problems(load_machine("tx1"))) == []


# ------------------------------------------------------------------------------------- memory
LARGE = [
    {},
    {"l1.mshrs": 8192, "l1.mshr_merges": 100},
    {"l2.size_bytes": 1 << 30},
    {"mff.tags_per_memory_unit": 16384, "mff.work_registers": 1 << 20},
    {"ideal.noc": True},
    {"noc.buffer_flits": 16384, "l2.queue_entries": 65536, "l2.mshrs": 65536, "dram.queue_entries": 65536},
]


@pytest.mark.parametrize("overrides", LARGE)
def test_the_estimate_is_what_an_engine_takes(overrides):
    machine = load_machine("gtx980", overrides)
    units = [part for name in ("scu-slice", "mff", "next-line", "iru") for part in unit_named(name).components()]
    units.append(unit_named("iscu").components()[-1])  # its SCU is there
    engine = Engine(machine, units)
    taken = sum(array.nbytes for array in engine._arena.arrays.values())
    engine.close()
    assert taken <= machine_bytes(machine) < 1.3 * taken


def test_a_machine_that_takes_too_much_is_refused_before_it_does(monkeypatch):
    overrides = {"l1.mshrs": 8192, "l1.mshr_merges": 2048}
    assert refused(overrides) == (
        "machine 'gtx980': the model would take 2.1 GiB of memory, most of it (2.0 GiB) for l1.mshrs x l1.mshr_merges; "
        "write less there, or allow more than 2.0 GiB with WARPSIFT_MAX_MACHINE_BYTES"
    )
    monkeypatch.setenv(LIMIT_VARIABLE, str(4 << 30))
    load_machine("gtx980", overrides)
