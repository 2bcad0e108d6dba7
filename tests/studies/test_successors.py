"""The study of the SCU's successors: rows of designs that run and pass, and a clear word for a unit that it lacks."""

import pytest

from warpsift.graph import load_graph
from warpsift.studies import successors
from warpsift.units import UnitError


def test_rows_are_designs_over_the_plain_gpu():
    rows = successors.study(load_graph("kron-6"), ["bfs"], "tx1", {"sm.threads": 1024, "sm.warps": 32})
    assert [row["design"] for row in rows][:3] == ["scu", "scu-slice", "iscu"]
    assert {row["check"] for row in rows} == {"pass"}
    assert all(row["speedup"] > 0 and row["energy"] > 0 and row["mm2"] > 0 for row in rows)
    area = {row["design"]: row["mm2"] for row in rows}
    assert area["scu-slice"] > area["scu"] and area["iru"] < area["iru, 256 entries"]


def test_a_unit_that_the_study_lacks():
    with pytest.raises(UnitError, match="mff"):
        successors.study(load_graph("kron-5"), ["bfs"], "tx1", units=["mff"])
