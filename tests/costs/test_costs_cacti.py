"""The shipped CACTI table: exact at its grid, monotone between, equal to a live run, near the MFF paper's figures."""

import math
from dataclasses import fields
from itertools import pairwise

import pytest

from warpsift.costs import cacti, cacti_table
from warpsift.costs.cacti import Array, Figures
from warpsift.costs.cost_errors import CactiError


def test_every_array_of_the_grid_is_shipped():
    assert {array for array, _ in cacti_table.arrays()} == set(cacti.grid())


def test_interpolation_is_exact_at_the_grid():
    for array, expected in cacti_table.arrays():
        found = cacti_table.figures(array.kind, array.size_bytes, array.word_bits, array.node_nm, array.associativity)
        assert found == expected


def test_interpolation_is_monotone_between_neighbours():
    low, high = cacti_table.figures("ram", 32768, 256), cacti_table.figures("ram", 65536, 256)
    between = [cacti_table.figures("ram", 32768 * 2 ** (k / 8), 256) for k in range(9)]
    for f in fields(Figures):
        values = [getattr(x, f.name) for x in between]
        assert values == sorted(values), f.name
        assert values[0] == pytest.approx(getattr(low, f.name))
        assert values[-1] == pytest.approx(getattr(high, f.name))


def test_area_and_leakage_grow_with_size():
    rows = sorted(
        cacti_table.arrays(),
        key=lambda r: (r[0].kind, r[0].node_nm, r[0].word_bits, r[0].associativity, r[0].size_bytes),
    )
    for (a, fa), (b, fb) in pairwise(rows):
        if a.size_bytes < b.size_bytes and (a.kind, a.node_nm, a.word_bits, a.associativity) == (
            b.kind,
            b.node_nm,
            b.word_bits,
            b.associativity,
        ):
            assert fa.area_mm2 < fb.area_mm2, (a, b)
            assert fa.leakage_mw < fb.leakage_mw, (a, b)


def test_mff_papers_figures_for_a_sixteen_times_larger_l1():
    """MFF paper, section 6.2, with CACTI 6.5: 5.3x active power, 15.7x static power, 2.3x latency."""
    small, large = (cacti_table.figures("cache", size, 256, 32, 4) for size in (16 << 10, 256 << 10))
    assert large.leakage_mw / small.leakage_mw == pytest.approx(15.7, rel=0.1)
    assert large.access_ns / small.access_ns == pytest.approx(2.3, rel=0.25)
    assert 2.5 < large.read_pj / small.read_pj < 5.3  # the port's width decides: see docs/energy.md


def test_below_22_nm_the_table_is_scaled():
    at_22, at_20 = (cacti_table.figures("ram", 4096, 64, node) for node in (22, 20))
    assert 0.8 < at_20.area_mm2 / at_22.area_mm2 < 1
    assert 0.7 < at_20.read_pj / at_22.read_pj < 1


def test_voltage_factor_is_one_at_the_nodes_own_voltage():
    for node, volts in cacti_table.VOLTAGE_V.items():
        assert cacti_table.voltage_factor(node, volts) == pytest.approx(1.0)


def test_a_size_outside_the_table_is_refused():
    with pytest.raises(CactiError) as error:
        cacti_table.figures("cam", 16, 32)
    message = "a cam of 32-bit words of 16 bytes lies outside the CACTI table; write 64 to 8192 bytes."
    assert str(error.value) == message


def test_a_family_that_does_not_exist_is_refused():
    with pytest.raises(CactiError, match=r"^no CACTI table for a ram of 48-bit words, 1-way, 32 nm; there are: cache"):
        cacti_table.figures("ram", 4096, 48)
    with pytest.raises(CactiError, match=r"65 nm; there are"):
        cacti_table.figures("ram", 4096, 64, 65)


def test_an_unknown_kind_is_refused():
    with pytest.raises(CactiError) as error:
        cacti.config_text(Array("flash", 32, 64, 1, 1024))
    assert str(error.value) == "unknown kind of array 'flash'; write one of ram, fifo, cache, cam."


@pytest.fixture(scope="module")
def binary():
    try:
        return cacti.build()
    except CactiError as error:
        pytest.skip(f"no live CACTI to compare the shipped table with: {error}")


@pytest.mark.parametrize(
    "array",
    [
        Array("ram", 32, 256, 1, 32768),
        Array("fifo", 28, 64, 1, 4096),
        Array("cache", 40, 256, 4, 16384),
        Array("cam", 32, 32, 1, 1024),
    ],
    ids=lambda array: array.kind,
)
def test_shipped_table_equals_a_live_run(binary, array):
    shipped = dict(cacti_table.arrays())[array]
    live = cacti.run(array, binary)
    for f in fields(Figures):
        assert getattr(live, f.name) == pytest.approx(getattr(shipped, f.name), rel=1e-4), f.name


def test_interpolated_sizes_are_near_a_live_run(binary):
    """The SCU's three buffers lie between sizes of the grid."""
    for size_bytes in (5 * 1024, 18 * 1024, 38 * 1024):
        live = cacti.run(Array("fifo", 32, 64, 1, size_bytes), binary)
        ours = cacti_table.figures("fifo", size_bytes, 64)
        for name in ("area_mm2", "leakage_mw", "read_pj"):
            assert abs(math.log(getattr(ours, name) / getattr(live, name))) < math.log(1.25), (size_bytes, name)


def test_cacti_without_a_solution_is_an_error(binary):
    with pytest.raises(CactiError, match="CACTI has no solution for Array"):
        cacti.run(Array("ram", 32, 1024, 1, 512), binary)
