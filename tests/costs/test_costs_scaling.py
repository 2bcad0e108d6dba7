"""Scaling between nodes against the vectors of Stillmaker & Baas, and its refusals."""

import pytest

from warpsift.costs import scaling
from warpsift.costs.cost_errors import ScalingError


def test_energy_vector_45_to_32_nm():
    assert scaling.scale_energy(1.0, 45, 0.9, 32, 0.78) == pytest.approx(0.487, abs=0.001)


def test_energy_polynomial_at_a_row():
    assert scaling.energy_factor(20, 1.0) == pytest.approx(0.373 - 0.1582 + 0.04104)
    assert scaling.energy_factor(32, 1.0, "lp") == pytest.approx(0.9559 - 0.7823 + 0.471)


@pytest.mark.parametrize(
    ("source", "target", "factor"), [(45, 32, 0.46), (32, 20, 0.46), (20, 7, 0.28), (65, 45, 0.66)]
)
def test_area_table(source, target, factor):
    assert scaling.scale_area(1.0, source, target) == pytest.approx(factor, rel=0.02)


@pytest.mark.parametrize(("above", "node", "below"), [(45, 40, 32), (32, 28, 20), (32, 22, 20)])
def test_nodes_between_rows_lie_between_them(above, node, below):
    assert scaling.energy_factor(below, 0.9) < scaling.energy_factor(node, 0.9) < scaling.energy_factor(above, 0.9)
    assert scaling.scale_area(1, 45, below) < scaling.scale_area(1, 45, node) < scaling.scale_area(1, 45, above)


def test_there_and_back_is_the_identity():
    there = scaling.scale_energy(3.0, 45, 0.9, 28, 1.2)
    assert scaling.scale_energy(there, 28, 1.2, 45, 0.9) == pytest.approx(3.0)
    assert scaling.scale_area(scaling.scale_area(3.0, 40, 28), 28, 40) == pytest.approx(3.0)


def test_energy_rises_with_voltage():
    factors = [scaling.energy_factor(28, v / 100) for v in range(70, 131, 5)]
    assert factors == sorted(factors)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: scaling.energy_factor(5, 0.8),
            "5 nm lies outside the scaling equations; write a node of 7 to 180 nm.",
        ),
        (
            lambda: scaling.energy_factor(32, 1.8),
            "1.8 V lies outside the scaling equations; write a voltage of 0.5 to 1.3 V.",
        ),
        (lambda: scaling.energy_factor(32, 1.0, "fast"), "unknown transistor flavour 'fast'; write 'hp' or 'lp'."),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ScalingError) as error:
        call()
    assert str(error.value) == message
