"""Options are declared once: who has which, what they may be, and what a request makes of them."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields

import numpy as np
import pytest

from warpsift import simulate
from warpsift.algorithms import ALGORITHMS, OptionError, Options
from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.options import declaration_of, is_declared, joined, option
from warpsift.errors import WarpsiftError
from warpsift.graph import load_graph
from warpsift.run.comparison import check_comparison
from warpsift.run.observer import Observer
from warpsift.run.request import RequestError, all_options, make_request, options_type


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=lambda a: a.name)
def test_every_option_says_what_it_does_and_which_styles_read_it(algorithm):
    for each in fields(algorithm.options):
        if is_declared(each):
            assert declaration_of(each).help.endswith(".")
            assert set(declaration_of(each).styles) <= {s for a in ALGORITHMS.values() for s in a.styles}


@pytest.mark.parametrize(
    ("algorithm", "choices", "message"),
    [
        ("bfs", {"seed": -1}, "seed must be at least 0, not -1"),
        ("pagerank", {"max_iterations": -1}, "max_iterations must be at least 1, not -1"),
        ("bfs", {"visibility_ctas": -1}, "visibility_ctas must be at least 0, not -1"),
        ("sssp", {"delta": 0.0}, "delta must be more than 0, not 0.0"),
        ("pagerank", {"damping": 1}, "damping must lie between 0 and 1, not 1.0"),
        ("bfs", {"seed": "x"}, "'seed' = 'x': expected `int`, got `str`"),
        ("bfs", {"delta": 3}, "'delta' is an option of sssp, not of bfs: leave it out"),
        (
            "sssp",
            {"style": "vertex", "delta": 3},
            "option 'delta' is for the frontier style, but this run is in the vertex style: leave it out, or choose "
            "style 'frontier'",
        ),
        (
            "bfs",
            {"overrides": {"l2.ways": 8}},
            "l2.ways=8: this changes a machine, but none is named; add --gpu gtx980 (gpu='gtx980')",
        ),
    ],
)
def test_wrong_options_to_the_letter(algorithm, choices, message):
    with pytest.raises(WarpsiftError) as caught:
        make_request(algorithm, "kron-7", choices)
    assert str(caught.value) == message


def test_the_nearest_option_is_named():
    with pytest.raises(RequestError, match="unknown option of bfs 'sorce': did you mean 'source'"):
        make_request("bfs", "kron-7", {"sorce": 1})


def test_numbers_of_numpy_are_taken_and_kept_as_plain_ones():
    request = make_request("sssp", "kron-7", {"source": np.int64(3), "delta": 2})
    assert type(request.options.source) is int and type(request.options.delta) is float


@dataclass(frozen=True, kw_only=True)
class ToyOptions(Options):
    depth: int = option(4, "How far the toy looks.", minimum=1)


class Toy:
    options = ToyOptions


def test_a_unit_adds_options_that_travel_to_other_processes():
    kind = options_type(ALGORITHMS["bfs"], Toy())
    chosen = kind(depth=2, warp_culling=False)
    assert isinstance(chosen, BfsOptions) and chosen.depth == 2
    assert pickle.loads(pickle.dumps(chosen)) == chosen
    assert joined(BfsOptions, ToyOptions) is kind
    with pytest.raises(OptionError, match="depth must be at least 1, not 0"):
        kind(depth=0)


def test_a_comparison_gives_each_style_its_own_options():
    choices = {"gpu": "tx1", "bit_setting": "byte", "warp_culling": False}
    made = check_comparison("bfs", "kron-7", ["none", "scu", "mff"], choices)
    assert {key: (r.options.bit_setting, r.options.warp_culling) for key, r in made.items()} == {
        ("none", "frontier"): ("atomic", False),
        ("none", "vertex"): ("byte", True),
        ("scu", "frontier"): ("atomic", False),
        ("mff", "vertex"): ("byte", True),
    }
    with pytest.raises(RequestError, match="option 'bit_setting' is for the vertex style"):
        check_comparison("bfs", "kron-7", ["none", "scu"], choices)


def test_who_has_an_option():
    owners = all_options()
    assert owners["delta"] == ["sssp"] and set(owners["seed"]) == set(ALGORITHMS)


def test_a_run_may_count_on_a_machine_without_being_timed():
    counted = simulate("sssp", "kron-8", gpu="tx1", unit="scu", timed=False)
    assert counted.check == "pass" and counted.timing == {} and counted.engine is None
    timed = simulate("sssp", "kron-8", gpu="tx1", unit="scu")
    assert timed.warp_instructions == counted.warp_instructions


def test_what_passes_before_the_engine_is_what_is_timed():
    class FirstOnly:
        """Lets one launch through."""

        def __init__(self, sink):
            self.sink, self.launches = sink, 0

        def begin(self, launch):
            self.launches += 1
            if self.launches == 1:
                self.sink.begin(launch)

        def chunk(self, chunk):
            if self.launches == 1:
                self.sink.chunk(chunk)

        def end(self):
            if self.launches == 1:
                self.sink.end()

    run = simulate("bfs", load_graph("grid-8x8"), gpu="tx1", observer=Observer(before_engine=FirstOnly))
    assert run.check == "pass" and len(run.launches) > 1 and len(run.engine.launches) == 1
