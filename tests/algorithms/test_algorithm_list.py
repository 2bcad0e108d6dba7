"""The list of algorithms: complete, and what a unit says of an algorithm that it has no driver for."""

from __future__ import annotations

from pathlib import Path

import pytest

import warpsift.algorithms
from warpsift.algorithms import ALGORITHMS
from warpsift.graph import load_graph
from warpsift.run.comparison import compare
from warpsift.run.execute import simulate
from warpsift.units import resolve
from warpsift.units.unit import UnitError

WITHOUT_DRIVERS = [(a, unit) for a in ("bc", "tc") for unit in ("scu", "scu-basic", "mff")]


def test_every_folder_with_an_algorithm_is_listed():
    home = Path(warpsift.algorithms.__file__).parent
    declaring = {path.parent.name for path in home.glob("*/__init__.py") if " = Algorithm(" in path.read_text("utf-8")}
    assert declaring == set(ALGORITHMS) == {a.name for a in ALGORITHMS.values()}


def test_every_algorithm_says_what_it_is():
    for algorithm in ALGORITHMS.values():
        assert algorithm.title and algorithm.styles
        page = (Path(__file__).parents[2] / "docs" / "algorithms.md").read_text("utf-8")
        assert f"`{algorithm.name}`" in page, f"docs/algorithms.md does not describe {algorithm.name}"


@pytest.mark.parametrize(("algorithm", "unit"), WITHOUT_DRIVERS)
def test_a_unit_without_a_driver_is_one_sentence_before_anything_runs(algorithm, unit, monkeypatch):
    monkeypatch.setattr("warpsift.run.comparison.run_request", lambda *_: pytest.fail("ran although the unit cannot"))
    runs = ", ".join(resolve(unit).drivers(None))
    sentence = (
        f"unit '{unit}' has no driver for '{algorithm}'; it runs {runs}: "
        "leave out the unit, or choose another algorithm"
    )
    with pytest.raises(UnitError) as caught:
        compare(algorithm, load_graph("grid-4x4"), ["none", unit], gpu="tx1")
    assert str(caught.value) == sentence
    with pytest.raises(UnitError) as caught:
        simulate(algorithm, load_graph("grid-4x4"), unit=unit)
    assert str(caught.value) == sentence
