"""The contract that every registered unit passes; a new unit is tested by being registered."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest

from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine
from warpsift.errors import WarpsiftError
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.run.run_energy import energy_of
from warpsift.simt import Gpu, Residency
from warpsift.units import resolve, units

NAMES = [*units(), "scu+mff"]
MACHINES = ("gtx980", "tx1", "gtx480")


def algorithms_of(name):
    """(algorithm, style) that a unit runs; one under any software is tried with each algorithm's first style."""
    unit = resolve(name)
    if unit.style is None:
        return [(algorithm.name, next(iter(algorithm.styles))) for algorithm in ALGORITHMS.values()]
    return [(algorithm, unit.style) for algorithm in unit.drivers(None)]


CASES = [(name, algorithm, style) for name in NAMES for algorithm, style in algorithms_of(name)]


@cache
def prepared(algorithm, graph_name):
    chosen = ALGORITHMS[algorithm]
    return chosen.prepare(load_graph(graph_name), replace(_defaults(chosen), seed=3))


def _defaults(chosen):
    from warpsift.algorithms import Options

    return getattr(chosen, "options", Options)()


def run(name, algorithm, style, machine, graph_name="kron-7"):
    """The run on an engine that checks every balance; gives (outcome, engine)."""
    unit, chosen = resolve(name), ALGORITHMS[algorithm]
    graph, options = prepared(algorithm, graph_name)
    plain = unit is None or unit.style is None
    driver = chosen.styles[style] if plain else unit.driver(algorithm, machine)
    engine = Engine(machine, unit.components() if unit is not None else (), checks=True)
    outcome = driver(Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads)), graph, options)
    return outcome, engine


@pytest.mark.parametrize(("name", "algorithm", "style"), CASES)
def test_answers_are_the_plain_gpus_and_the_checks(name, algorithm, style):
    machine = load_machine("gtx980")
    outcome, engine = run(name, algorithm, style, machine)
    graph, options = prepared(algorithm, "kron-7")
    assert ALGORITHMS[algorithm].check(graph, outcome, options).passed
    plain, _ = run("none", algorithm, style, machine)
    if np.asarray(plain.values).dtype.kind == "f":
        np.testing.assert_allclose(outcome.values, plain.values, rtol=1e-4)
    else:
        np.testing.assert_array_equal(outcome.values, plain.values)
    own = [counter for unit in engine.units.values() for counter in unit.counters]
    assert sum(engine.total[counter] for counter in own) > 0, "the unit had nothing to do"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_requests_in_are_replies_out(name, machine):
    algorithm, style = algorithms_of(name)[0]
    _, engine = run(name, algorithm, style, load_machine(machine))  # the engine checks the balances of each launch
    arrays = engine._arena.arrays
    assert int(arrays["noc"][0].in_use) == 0
    for unit in engine.units.values():
        for what, (found, wanted) in unit.balances(arrays, engine.launches[-1].counters).items():
            assert found == wanted, what


@pytest.mark.parametrize("name", NAMES)
def test_same_counters_twice(name):
    algorithm, style = algorithms_of(name)[0]
    first, second = (run(name, algorithm, style, load_machine("tx1"))[1].total for _ in range(2))
    assert dict(first) == dict(second)


def _smallest(machine_name, section, key):
    """The machine with one number of a unit as small as the unit accepts."""
    for value in (1, 2, 4, 16, 32, 256, 512, 1024, 4096):
        try:
            return load_machine(machine_name, {f"{section}.{key}": value})
        except WarpsiftError:
            continue
    return None


def sizes_of(name):
    """The numbers of a unit; switches are no sizes."""
    fields = msgspec.structs.fields(resolve(name).spec_type)
    return [f.name for f in fields if isinstance(f.default, int) and not isinstance(f.default, bool)]


SIZES = [(name, key) for name in units() for key in sizes_of(name)]


@pytest.mark.parametrize(("name", "key"), SIZES)
def test_every_structure_at_its_smallest_works(name, key):
    unit = resolve(name)
    machine = _smallest("gtx980", unit.section, key)
    assert machine is not None, f"no small value of {unit.section}.{key} is accepted"
    algorithm, style = algorithms_of(name)[0]
    outcome, _ = run(name, algorithm, style, machine, "kron-6")
    graph, options = prepared(algorithm, "kron-6")
    assert ALGORITHMS[algorithm].check(graph, outcome, options).passed


@pytest.mark.parametrize("name", NAMES)
def test_energy_and_area_are_computable(name):
    unit, machine = resolve(name), load_machine("gtx980")
    report = unit.area(machine)
    assert report.total_mm2 > 0
    assert all(part.mm2 > 0 for part in report.parts.values())
    algorithm, style = algorithms_of(name)[0]
    _, engine = run(name, algorithm, style, machine)
    spent = energy_of(engine.total, machine, name, 0.0, {})
    assert 0 < spent.unit_joules < spent.energy_joules
    counters = {counter for part in engine.units.values() for counter in part.counters}
    for event in unit.events():
        assert set(event.counters) <= counters, f"{event.coefficient} is paid for counters that the unit has not"
    floor = unit.floor(machine, engine)
    assert 0 < floor["cycles"] <= engine.total.cycles


@pytest.mark.parametrize("name", list(units()))
def test_area_reads_the_spec_that_timing_reads(name):
    """More bytes, entries or ports never make the unit smaller, and some make it larger (CACTI's arrays have a least
    size, so that doubling a small one changes nothing)."""
    unit = resolve(name)
    base = unit.area(load_machine("gtx980")).total_mm2
    grown = []
    for key in sizes_of(name):
        value = getattr(unit.spec_type(), key)
        for factor in (64, 8, 2):
            try:
                grown.append(unit.area(load_machine("gtx980", {f"{unit.section}.{key}": factor * value})).total_mm2)
                break
            except WarpsiftError:  # more than the unit accepts, or than CACTI's table has
                continue
    assert min(grown) >= base * (1 - 1e-9)
    assert max(grown) > base


def test_a_unit_that_is_not_used_is_neither_imported_nor_allocated():
    text = (
        "import sys, warpsift\n"
        "result = warpsift.simulate('bfs', 'kron-5', gpu='tx1')\n"
        "used = [n for n in sys.modules if n.startswith('warpsift.units.') and n.endswith('_socket')]\n"
        "counted = [c for c in result.timing['counters'] if c.split('_')[0] in sys.argv[1:]]\n"
        "print(used, list(result.engine.units), counted)\n"
    )
    sections = [unit.section for unit in units().values()]
    done = subprocess.run([sys.executable, "-c", text, *sections], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] [] []"
