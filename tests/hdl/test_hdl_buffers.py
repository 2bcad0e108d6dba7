"""Buffers without a memory compiler: the shipped synthesis, and a small one synthesised anew."""

import importlib.util

import pytest

from warpsift.hdl import buffers


def test_shipped_table():
    found = {(row.kind, row.width): row for row in buffers.shipped()}
    assert set(found) == {(kind, width) for kind in buffers.KINDS for width in (1, 4)}
    for (kind, _), row in found.items():
        assert row.flip_flops == 8 * row.size_bytes  # a bit is a flip-flop
        assert row.gates_per_bit == 0 if kind == "shift_register" else 1.5 < row.gates_per_bit < 4
    assert found["shift_register", 1].mm2() == pytest.approx(3.30, abs=0.01)
    assert found["shift_register", 4].mm2(copies=4) == pytest.approx(13.21, abs=0.01)
    assert found["flip_flop", 1].mm2() > 3.30 + 1.63  # NANDs alone make larger multiplexers than AND-OR gates


@pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="Yosys (pyosys) is not installed")
def test_synthesis_of_a_small_buffer():
    small = buffers.synthesise("flip_flop", 1, 64)
    assert small.flip_flops == 512
    assert 2.0 < small.gates_per_bit < 4.5
    assert buffers.synthesise("shift_register", 4, 64).nand2 == 0
