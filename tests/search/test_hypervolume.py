"""Fronts and hypervolumes against their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.naive_hypervolume import naive_hypervolume
from warpsift.search.hypervolume import beats, front, hypervolume, scaled_to


def points(dimensions, most=7):
    number = st.integers(0, 6).map(float)
    return st.lists(st.tuples(*[number] * dimensions), min_size=0, max_size=most)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@given(data=st.data())
def test_hypervolume_is_the_volume_of_what_is_beaten(dimensions, data):
    found = data.draw(points(dimensions))
    reference = (5.0,) * dimensions
    assert hypervolume(found, reference) == pytest.approx(naive_hypervolume(found, reference))


def test_hypervolume_by_hand():
    assert hypervolume([(1, 3), (2, 1)], (4, 4)) == 1 * 3 + 2 * 3 - 2 * 1
    assert hypervolume([(4, 0)], (4, 4)) == 0, "a point at the reference beats nothing"
    assert hypervolume([], (1, 1, 1)) == 0


@given(points(3, 12))
def test_the_front_is_what_none_beats(found):
    best = front(found)
    for number, point in enumerate(found):
        if number in best:
            assert not any(beats(other, point) for other in found)
        else:
            assert any(beats(other, point) or (k < number and other == point) for k, other in enumerate(found))


def test_scaling_keeps_an_objective_that_does_not_vary():
    assert scaled_to([(2, 7)], [(1, 7), (3, 7)]) == [(0.5, 0.0)]
