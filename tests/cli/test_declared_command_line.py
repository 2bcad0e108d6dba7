"""The command line is derived from the declarations: every option is there, and only where it belongs."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from typer.testing import CliRunner

from warpsift.algorithms import ALGORITHMS, Options
from warpsift.algorithms.options import declaration_of, flags_of
from warpsift.cli import (
    application,
)
from warpsift.run.request import DECLARED_FIELDS, all_options
from warpsift.units import units


def call(*words: str):
    return CliRunner().invoke(application(), list(words))


def flags_in(text: str) -> set[str]:
    return {word.strip(",") for line in text.splitlines() for word in line.split()[:3] if word.startswith("--")}


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_help_of_an_algorithm_has_its_options_and_no_others(command, name):
    shown = flags_in(call(command, name, "--help").stdout)
    own = {each.name for each in fields(ALGORITHMS[name].options)}
    for each in fields(ALGORITHMS[name].options):
        assert flags_of(each)[0] in shown
    for other in set(all_options()) - own:
        assert "--" + other.replace("_", "-") not in shown
    wanted = [f for f in DECLARED_FIELDS if declaration_of(f).on_command_line]
    left_out = {"style", "unit"} if command == "compare" else set()
    assert {flags_of(each)[0] for each in wanted if each.name not in left_out} <= shown


@pytest.mark.parametrize("command", ["run", "compare"])
def test_the_help_of_the_command_lists_algorithms_and_common_options(command):
    text = call(command, "--help").stdout
    assert all(f"  {name} " in text for name in ALGORITHMS)
    assert {flags_of(each)[0] for each in fields(Options)} <= flags_in(text)
    assert "--delta" not in text and "--graph-seed" in text


def test_the_algorithm_may_stand_behind_its_options():
    first = call("run", "bfs", "--graph", "grid-6x6", "--json")
    behind = call("run", "--json", "--graph", "grid-6x6", "bfs")
    assert first.exit_code == behind.exit_code == 0
    assert json.loads(first.stdout)["transactions"] == json.loads(behind.stdout)["transactions"]


def test_options_that_were_out_of_reach():
    words = ("run", "pagerank", "--graph", "rmat-7", "--normalize", "--dangling", "--json")
    options = json.loads(call(*words).stdout)["options"]
    assert options["normalize"] and options["dangling"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("run", "bfs", "--graf", "kron-7"),
            "unknown option '--graf': did you mean '--graph'? 'warpsift run bfs --help' lists all",
        ),
        (
            ("run", "bfs", "--delta", "3", "--graph", "kron-7"),
            "'--delta' is an option of sssp, not of 'warpsift run bfs': leave it out",
        ),
        (
            ("sweep", "x.toml", "--wokers", "2"),
            "unknown option '--wokers': did you mean '--workers'? 'warpsift sweep --help' lists all",
        ),
        (("run", "bfs", "--graph", "kron-7", "--seed", "-1"), "seed must be at least 0, not -1"),
        (("run", "bfs", "--graph", "kron-7", "--max-iterations", "-1"), "max_iterations must be at least 1, not -1"),
        (("run", "bfs", "--graph", "kron-7", "--visibility-ctas", "-1"), "visibility_ctas must be at least 0, not -1"),
        (
            ("run", "bfs", "--graph", "kron-7", "--ideal", "dram"),
            "ideal.dram=true: this changes a machine, but none is named; add --gpu gtx980 (gpu='gtx980')",
        ),
        (
            ("compare", "bfs", "--graph", "kron-7"),
            "compare needs a GPU to time on: --gpu gtx980 (gpu='gtx980'; see 'warpsift list machines')",
        ),
    ],
)
def test_wrong_command_lines_to_the_letter(words, message):
    assert str(call(*words).exception) == message


def test_units_and_algorithms_are_listed_from_the_registries():
    listed = {row["name"]: row for row in json.loads(call("list", "units", "--json").stdout)}
    assert {name: (row["what"], row["style"]) for name, row in listed.items()} == {
        name: (unit.title, unit.style) for name, unit in units().items()
    }
    found = json.loads(call("list", "algorithms", "--json").stdout)
    assert [(row["name"], row["what"]) for row in found] == [(a.name, a.title) for a in ALGORITHMS.values()]
