"""What a unit saves of the plain GPU's accesses."""

from __future__ import annotations

import pytest

from support.command_line import call, complaints
from warpsift.studies.unit_accesses import means, saved


def run(seconds, joules, transactions, l2, reads, writes):
    return {
        "seconds": seconds, "energy_by_gpu_idle": {"power_gate": joules}, "transactions": transactions,
        "l2_accesses": l2, "dram_reads": reads, "dram_writes": writes,
    }  # fmt: skip


def test_shares_are_of_the_plain_gpu_and_speed_is_a_factor():
    found = saved(run(2.0, 4.0, 100, 50, 30, 10), run(1.0, 1.0, 25, 60, 20, 20))
    assert found == pytest.approx(
        {"speedup": 2.0, "energy": 0.75, "SM accesses": 0.75, "L2 accesses": -0.2, "DRAM accesses": 0.0}
    )


def test_means_are_geometric_for_speed_and_over_all_algorithms_last():
    rows = [
        {"gpu": "tx1", "algorithm": "bfs", "graph": graph, "speedup": speed}
        | dict.fromkeys(("energy", "SM accesses", "L2 accesses", "DRAM accesses"), share)
        for graph, speed, share in (("a", 1.0, 0.0), ("b", 4.0, 0.5))
    ]
    rows.append({**rows[0], "algorithm": "sssp"})
    by_name = {row["algorithm"]: row for row in means(rows)}
    assert by_name["bfs"]["speedup"] == pytest.approx(2.0) and by_name["bfs"]["energy"] == 0.25
    assert list(by_name) == ["bfs", "sssp", "all"] and by_name["all"]["graphs"] == 3


def test_an_unknown_unit_and_a_store_without_it(tmp_path):
    from warpsift.store.store import Store

    with Store(tmp_path / "empty.db"):
        pass
    store = ("study", "accesses", "--store", str(tmp_path / "empty.db"))
    assert "unit of this study" in " ".join(complaints(call(*store, "--unit", "iscu").stderr))
    assert "no run of ISCU beside one in the frontier style" in " ".join(complaints(call(*store).stderr))
