"""The emitted Verilog passes the vectors of the hardware in an independent simulator."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("amaranth", reason="Amaranth is not installed (pip install 'warpsift[hdl]')")
pytest.importorskip("pyosys", reason="Yosys is not installed (pip install 'warpsift[hdl]')")

from support.hdl_vectors import SMALL, Recorded, added, best_cost, filtered, grouped, lists, masked
from warpsift.hdl.cosimulate import missing, run_vectors
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.same_bytes import difference
from warpsift.hdl.verilog import to_verilog
from warpsift.hdl.yosys import HdlToolError
from warpsift.units.scu.scu_spec import ScuSpec

needs_simulator = pytest.mark.skipif(missing() != "", reason=missing())


@needs_simulator
@pytest.mark.parametrize(("width", "ports"), [(1, 1), (2, 1), (4, 0)])
def test_the_verilog_passes_the_same_vectors(width, ports, tmp_path):
    """All five operations on elements of 1, 2, 4 and 8 bytes, filtering, best cost and grouping, in one simulation."""
    spec = ScuSpec(width=width, hash_ports=ports, **SMALL)
    recorded = Recorded(spec, 11, 24)
    for dtype in (np.uint8, np.int16, np.int32, np.float64):
        for work in (masked, lists, added):
            work(recorded, dtype, 0.6)
    for work in (filtered, best_cost, grouped):
        work(recorded, np.int32, 0.6)
    vectors = recorded.sink.vectors
    assert len({vector.name for vector in vectors}) == 5
    results = run_vectors(to_verilog(spec), ScuParameters.of(spec), vectors, tmp_path)
    assert [difference(vector, *result) for vector, result in zip(vectors, results, strict=True)] == [""] * len(vectors)


@needs_simulator
def test_a_unit_that_reads_elsewhere_is_noticed(tmp_path):
    spec = ScuSpec(width=1, **SMALL)
    recorded = Recorded(spec, 1, 24)
    recorded.scu.data_compaction(recorded.numbers(100), None)
    vector = recorded.sink.vectors[0]
    wrong = vector.__class__(
        vector.name, vector.command | {"data_address": 0}, vector.before, vector.after, vector.kept
    )
    ((kept, memory),) = run_vectors(to_verilog(spec), ScuParameters.of(spec), [wrong], tmp_path)
    assert "bytes differ" in difference(vector, kept, memory)


@needs_simulator
def test_verilog_that_does_not_compile_is_reported(tmp_path):
    with pytest.raises(HdlToolError, match=r"^the simulation of the Verilog failed: .*syntax error"):
        run_vectors("module scu(; endmodule", ScuParameters.of(ScuSpec(**SMALL)), [], tmp_path)
