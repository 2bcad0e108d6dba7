"""Experiments on what holds a unit back: what is changed, and what is concluded."""

from __future__ import annotations

import pytest

from warpsift.machines import load_machine
from warpsift.studies import which_unit
from warpsift.studies.limit_experiments import EXPERIMENTS, requests, verdict
from warpsift.studies.scale import FULL


@pytest.mark.parametrize(
    ("change", "control", "said"),
    [
        (1.2, 1.0, "proven"),
        (1.19, 1.0, "in part"),
        (1.1, 1.0, "in part"),
        (1.09, 1.0, "not the cause"),
        (1.5, 1.1, "not alone"),
        (1.0, 1.1, "something else"),
        (1 / 1.1, None, "SMs are idle"),
        (1 / 1.15, None, "open"),
        (1 / 1.2, None, "SMs are needed"),
    ],
)
def test_verdicts(change, control, said):
    assert verdict(change, control) == said


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: f"{e.word}-{'-'.join(e.case)}")
def test_an_experiment_starts_from_the_maps_run_and_its_machines_can_be_built(experiment):
    first, *changed = requests(experiment)
    gpu, algorithm, graph = experiment.case
    in_map = which_unit.wanted((gpu, algorithm, graph.partition("@")[0]), FULL)[experiment.unit]
    assert first.overrides == in_map.overrides and first.unit == in_map.unit
    for request, change in zip(changed, (experiment.change, experiment.control), strict=False):
        assert dict(request.overrides) == {**first.overrides, **change} != dict(first.overrides)
        load_machine(gpu, request.overrides)


@pytest.mark.parametrize("experiment", [each for each in EXPERIMENTS if each.word == "width"])
def test_the_control_of_width_has_all_that_twice_the_lanes_have_but_the_lanes(experiment):
    wide, control = (load_machine(experiment.case[0], request.overrides) for request in requests(experiment)[1:])
    a, b = wide.unit("scu"), control.unit("scu")
    assert a.width == 2 * b.width and wide.noc.unit_ports == control.noc.unit_ports
    for name in ("vector_buffer_bytes", "fetch_fifo_bytes", "inflight_requests", "hash_buffer_bytes"):
        assert getattr(a, name) * a.copies == getattr(b, name) * b.copies
