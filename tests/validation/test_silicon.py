"""The comparison with measured cards: rows become cases, numbers are kept, and tables say what they should."""

from __future__ import annotations

import pytest

from warpsift.machines import load_machine
from warpsift.validation import card_bandwidth, silicon
from warpsift.validation.hop_latency import cycles_per_hop
from warpsift.validation.silicon_cases import Case, cases, rows_of


def fake(label, measured, ours, group="spmv", place=1.0):
    return silicon.Found(Case(group, "v100", label, place, measured, "us", lambda: ours), ours)


def test_every_measured_curve_has_cases():
    found = cases(("latency", "bandwidth", "cache", "spmv"), ("v100",), None, False)
    by_group = {group: [c for c in found if c.group == group] for group in ("latency", "bandwidth", "cache", "spmv")}
    assert len(by_group["latency"]) == 7 and len(by_group["bandwidth"]) == 40 and len(by_group["cache"]) == 5
    assert {c.label.split(",")[0] for c in by_group["spmv"]} == {"delaunay_n17", "kron_g500-logn16"}  # no files given
    assert len({c.key for c in found}) == len(found)
    assert all(c.measured > 0 for c in found)


def test_numbers_are_kept_and_not_run_again(tmp_path):
    runs = []
    case = Case("latency", "v100", "16 KB", 16, 28.0, "cycles", lambda: runs.append(1) or 27.0)
    for _ in range(2):
        (found,) = silicon.run_cases([case], lambda text: None, silicon.Kept(tmp_path))
        assert found.ours == 27.0 and found.error == pytest.approx(-1 / 28)
    assert len(runs) == 1


def test_summary_of_the_multiplications():
    rows = [fake("a, thread_mapped", 100, 120), fake("b, thread_mapped", 50, 40), fake("c, merge_path", 200, 200)]
    rows.append(fake("d, merge_path", 12, 120))  # mostly the launch: not counted
    (section,) = silicon.sections(rows)
    assert section["notes"] == [
        "above 30 us: mean absolute error 13.3 % (thread_mapped 20 %, merge_path 0 %), rank correlation 1.000"
    ]
    assert silicon.rank_correlation([fake("a", 1, 3), fake("b", 2, 2), fake("c", 3, 1)]) == pytest.approx(-1)


def test_measured_rows_have_no_gaps():
    for name in ("latency", "stream", "cache_bandwidth", "bfs"):
        for row in rows_of(name):
            assert all(row.values()), row


@pytest.mark.parametrize(("kilobytes", "cycles"), [(16, 27.9), (1128, 212.0), (13284, 425.3)])
def test_plateaus_of_the_v100(kilobytes, cycles):
    """gpu-latency on a V100: L1, L2, DRAM."""
    assert cycles_per_hop(load_machine("v100"), kilobytes) == pytest.approx(cycles, rel=0.05)


def test_short_ctas_leave_bandwidth_unused():
    """gpu-stream on a V100, one warp on each SM at a time: 78 and 36 GB/s."""
    assert card_bandwidth.stream_gbs("v100", "init", 32, 1) == pytest.approx(78, rel=0.15)
    assert card_bandwidth.stream_gbs("v100", "read", 32, 1) == pytest.approx(36, rel=0.15)


@pytest.mark.parametrize(("what", "gbs"), [("read", 867), ("scale", 809), ("triad", 788)])
def test_full_occupancy_reaches_the_cards_bandwidth(what, gbs):
    """gpu-stream on a V100, 163840 threads; init is 5.1 % low (docs/validation.md)."""
    assert card_bandwidth.stream_gbs("v100", what, 1024, 2) == pytest.approx(gbs, rel=0.05)
