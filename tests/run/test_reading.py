"""Readings: named sets of choices with their evidence, and how they decide a run."""

import pytest

import warpsift
from warpsift.machines import load_machine, machine_names
from warpsift.run.comparison import check_comparison
from warpsift.run.reading import ReadingError, decide, reading_named, shipped
from warpsift.run.request import make_request
from warpsift.sweep.sweep_file import sweep_requests
from warpsift.units import resolve

OWN = """
title = "mine"
extends = "hardware"

[[choice]]
unit = "scu"
what = "width"
set = { scu.width = 2 }
evidence = "a test"
"""


def request(graph="kron-9", algorithm="bfs", **choices):
    return make_request(algorithm, graph, choices)


def own(tmp_path, text=OWN):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_every_shipped_choice_has_its_evidence_and_can_be_run():
    assert {"authors", "hardware"} <= set(shipped())
    for reading in shipped().values():
        for choice in reading.choices:
            assert len(choice.evidence) > 30, choice
            assert choice.set or choice.options or choice.machine, choice
            for gpu in choice.machine.values():
                assert gpu in machine_names()


@pytest.mark.parametrize("name", sorted(shipped()))
@pytest.mark.parametrize(("unit", "gpus"), [("scu", ("gtx980", "tx1")), ("mff", ("gtx480",))])
def test_readings_give_machines_that_exist(name, unit, gpus):
    reading = reading_named(name)
    if unit not in {choice.unit for choice in reading.choices}:
        pytest.skip("of the other unit")
    for gpu in gpus:
        for with_unit in (None, resolve(unit)):
            said = decide(reading, with_unit, resolve(unit).style, "bfs", gpu)
            load_machine(said.gpu, {k: v for k, v in said.overrides.items() if not k.startswith("costs.")})


def test_a_plain_run_has_the_choices_of_the_unit_it_is_compared_with():
    plain = request(gpu="gtx980", reading="hardware")
    assert plain.options.filter_kernel
    assert plain.overrides["sm.threads"] == 1024
    assert not any(key.startswith(("scu.", "mff.")) for key in plain.overrides)
    unit = request(gpu="gtx980", reading="hardware", unit="scu")
    assert unit.overrides["scu.resources"] == "lane" and "sm.threads" not in unit.overrides


def test_what_is_said_wins_over_the_reading():
    said = request(
        gpu="gtx980", unit="scu", reading="hardware", overrides={"scu.resources": "unit", "launch.overhead_cycles": 7}
    )
    assert said.overrides["scu.resources"] == "unit" and said.overrides["launch.overhead_cycles"] == 7
    assert not request(gpu="gtx980", reading="hardware", filter_kernel=False).options.filter_kernel


def test_a_request_with_a_reading_is_the_same_when_made_again():
    """Its command names the machine that stands for the GPU; that must mean the same run."""
    first = request(gpu="tx1", reading="authors", unit="scu")
    again = request(gpu=first.gpu, reading="authors", unit="scu")
    assert first == again


def test_machines_of_the_reading_stand_for_the_gpus():
    names = {choice.unit: choice.machine for choice in shipped()["authors"].choices if choice.machine}
    for unit, machines in names.items():
        for gpu, machine in machines.items():
            assert request(gpu=gpu, reading="authors", unit=unit).gpu == machine


def test_comparison_and_sweep_take_readings():
    runs = check_comparison("bfs", "kron-9", ["none", "scu"], {"gpu": "gtx980", "reading": "hardware"})
    assert {run.reading for run in runs.values()} == {"hardware"}
    tree = {"grid": {"algorithm": "bfs", "graph": "kron-9", "gpu": "gtx980", "reading": ["hardware", "authors"]}}
    assert [run.reading for run in sweep_requests(tree)] == ["hardware", "authors"]


def test_a_result_says_its_reading():
    result = warpsift.simulate("bfs", "grid-8x8", gpu="gtx980", reading="hardware")
    assert result.reading == "hardware" and result.as_dict()["reading"] == "hardware"


def test_a_reading_of_ones_own(tmp_path):
    mine = request(gpu="gtx980", unit="scu", reading=own(tmp_path))
    assert mine.overrides["scu.width"] == 2 and mine.overrides["scu.resources"] == "lane"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("scu.width", "scu.widht"), "did you mean 'scu.width'"),
        (('"a test"', '""'), "a choice needs its evidence"),
        (('unit = "scu"', 'unit = "sku"'), "did you mean 'scu'"),
        (('title = "mine"', ""), "title"),
        (("extends = ", "extend = "), "extend"),
        (("[[choice]]", "[[choice"), "reading mine.toml: "),
    ],
)
def test_wrong_readings_say_what_is_wrong(tmp_path, change, message):
    with pytest.raises(ReadingError) as error:
        reading_named(own(tmp_path, OWN.replace(*change)))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_unknown_and_silent_readings(tmp_path):
    with pytest.raises(ReadingError, match="did you mean 'authors'"):
        reading_named("author")
    with pytest.raises(ReadingError, match=r"no such file; shipped are .*authors"):
        reading_named("nowhere.toml")
    text = OWN.replace('extends = "hardware"\n', "")
    with pytest.raises(ReadingError, match="says nothing of unit 'mff'; it is for scu"):
        request(gpu="gtx480", unit="mff", reading=own(tmp_path, text))
    loop = own(tmp_path, OWN.replace('"hardware"', '"mine.toml"'))
    with pytest.raises(ReadingError, match="extends itself"):
        reading_named(loop)
