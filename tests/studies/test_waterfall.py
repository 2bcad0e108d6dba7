"""Waterfalls: steps build on each other, over the graphs that are asked for."""

from pathlib import Path

import pytest

from warpsift.studies import waterfall
from warpsift.studies.mff import mff_waterfall
from warpsift.studies.scale import FULL
from warpsift.studies.scu import scu_waterfall
from warpsift.studies.waterfall import Step, WaterfallError, cumulative
from warpsift.sweep import SweepOptions


def test_steps_build_on_each_other():
    first, second, third = cumulative(
        [Step("a", {"x": 1}), Step("b", {"y": 2}, "authors"), Step("c", {"x": 3}, ideal=True)]
    )
    assert (first.unit, first.reading) == ({"x": 1}, None)
    assert (second.unit, second.reading) == ({"x": 1, "y": 2}, "authors")
    assert (third.unit, third.reading, third.ideal) == ({"x": 3, "y": 2}, "authors", True)


@pytest.mark.parametrize("module", [scu_waterfall, mff_waterfall])
def test_graphs_can_be_chosen(module):
    asked = module.matrix(FULL, ["cond", "kron@1/8"])
    assert {request.graph for request in asked} == {"cond", "kron@1/8"}
    assert len(asked) == len(module._cases(FULL)) * 2 * 2 * len(module.STEPS)  # claims, graphs, plain and unit


def test_a_paper_without_one():
    with pytest.raises(WaterfallError, match=r"^unknown paper 'isca'"):
        waterfall.study("isca", ["cond"], Path("none.db"), SweepOptions())
    with pytest.raises(WaterfallError, match=r"^no graph: write --graphs"):
        waterfall.study("scu", [], Path("none.db"), SweepOptions())
