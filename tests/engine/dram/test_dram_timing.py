"""Every timing rule at its boundary: a probe says blocked at t-1 and ready at t (the manner of Ramulator 2's tests)."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from warpsift.engine.core.jit import from_python
from warpsift.engine.dram import dram_timing
from warpsift.engine.dram.dram_harness import Memory
from warpsift.machines.dram_spec import Dram, DramTiming

RULES = (
    "earliest_activate", "earliest_column", "earliest_precharge", "issue_activate", "issue_precharge",
    "issue_precharge_all", "issue_read", "issue_refresh", "issue_write", "leave_power_down",
)  # fmt: skip
rules = SimpleNamespace(**{name: from_python(getattr(dram_timing, name)) for name in RULES})

# All distances differ, so that a wrong rule cannot pass by chance.
TIMING = DramTiming(
    cl=11, cwl=7, rcd_rd=13, rcd_wr=12, rp=14, ras=33, rc=49, rrd_s=4, rrd_l=6, faw=37, aw32=401, ccd_s=3, ccd_l=5,
    wtr_s=8, wtr_l=9, wr=16, rtp=10, rtw=17, rtrs=1, ppd=3, rp_ab=18, refi=100000, rfc=90, xp=20,
)  # fmt: skip
SPEC = Dram(
    kind="test", channels=1, clock_mhz=1000.0, burst_clocks=2, burst_bytes=32, bank_groups=2, banks=8, ranks=2,
    address_map="row8 rank1 bank2 group1 col4 burst5", timing=TIMING, queue_entries=8,
)  # fmt: skip
# bank 0: group 0; bank 1: group 1; bank 2: group 0; bank 8: other rank
SAME, OTHER_GROUP, SAME_GROUP, OTHER_RANK = 0, 1, 2, 8


class Probe:
    """Issue commands by hand and ask when another may follow."""

    def __init__(self, spec=SPEC):
        self.memory = Memory(spec)
        self.D, self.C = self.memory.D, self.memory.C

    def bank(self, index):
        return self.memory.arena.arrays["dram.0.banks"][index]

    def issue(self, command, bank, clk):
        B = self.bank(bank)
        if command == "ACT":
            rules.issue_activate(self.D, self.C, B, clk, 5)
        elif command == "PRE":
            rules.issue_precharge(self.D, self.C, B, clk)
        elif command == "PREA":
            rules.issue_precharge_all(self.D, self.C, 0, clk)
        elif command == "REF":
            rules.issue_refresh(self.D, self.C, 0, 8, clk)
        elif command == "PDX":
            rules.leave_power_down(self.D, self.C, clk)
        else:
            {"RD": rules.issue_read, "WR": rules.issue_write}[command](self.D, self.C, B, clk)

    def ready(self, command, bank, clk):
        B = self.bank(bank)
        if command == "ACT":
            return rules.earliest_activate(self.D, self.C, B) <= clk
        if command == "PRE":
            return rules.earliest_precharge(self.D, self.C, B) <= clk
        return rules.earliest_column(self.D, self.C, B, int(command == "WR")) <= clk


BOUNDARIES = [
    ("tRCD read", "ACT", SAME, "RD", SAME, 13),
    ("tRCD write", "ACT", SAME, "WR", SAME, 12),
    ("tRAS", "ACT", SAME, "PRE", SAME, 33),
    ("tRC", "ACT", SAME, "ACT", SAME, 49),
    ("tRRD_S", "ACT", SAME, "ACT", OTHER_GROUP, 4),
    ("tRRD_L", "ACT", SAME, "ACT", SAME_GROUP, 6),
    ("tRP", "PRE", SAME, "ACT", SAME, 14),
    ("tPPD", "PRE", SAME, "PRE", OTHER_GROUP, 3),
    ("tRPab", "PREA", SAME, "ACT", SAME, 18),
    ("tCCD_S read", "RD", SAME, "RD", OTHER_GROUP, 3),
    ("tCCD_L read", "RD", SAME, "RD", SAME_GROUP, 5),
    ("tCCD_L same bank", "RD", SAME, "RD", SAME, 5),
    ("tCCD_S write", "WR", SAME, "WR", OTHER_GROUP, 3),
    ("tCCD_L write", "WR", SAME, "WR", SAME_GROUP, 5),
    ("tRTW", "RD", SAME, "WR", OTHER_GROUP, 17),
    ("tWTR_S", "WR", SAME, "RD", OTHER_GROUP, 7 + 2 + 8),
    ("tWTR_L", "WR", SAME, "RD", SAME_GROUP, 7 + 2 + 9),
    ("tRTP", "RD", SAME, "PRE", SAME, 10),
    ("tWR", "WR", SAME, "PRE", SAME, 7 + 2 + 16),
    ("tRTRS read", "RD", SAME, "RD", OTHER_RANK, 2 + 1),
    ("tRTRS write", "WR", SAME, "WR", OTHER_RANK, 2 + 1),
    ("rank read to write", "RD", SAME, "WR", OTHER_RANK, 17),
    ("rank write to read", "WR", SAME, "RD", OTHER_RANK, 1),
    ("tRFC", "REF", SAME, "ACT", OTHER_GROUP, 90),
    ("tXP activate", "PDX", SAME, "ACT", SAME, 20),
    ("tXP precharge", "PDX", SAME, "PRE", SAME, 20),
    ("tXP read", "PDX", SAME, "RD", SAME, 20),
    ("tXP write", "PDX", SAME, "WR", SAME, 20),
]


@pytest.mark.parametrize(("rule", "first", "a", "second", "b", "distance"), BOUNDARIES, ids=lambda v: str(v))
def test_boundary(rule, first, a, second, b, distance):
    probe = Probe()
    if first in ("PRE", "PREA"):
        probe.issue("ACT", a, 0)
    probe.issue(first, a, 1000)
    assert not probe.ready(second, b, 1000 + distance - 1)
    assert probe.ready(second, b, 1000 + distance)


@pytest.mark.parametrize(("second", "b"), [("ACT", OTHER_RANK), ("PRE", OTHER_RANK), ("RD", OTHER_RANK)])
def test_row_commands_leave_another_rank_alone(second, b):
    probe = Probe()
    probe.issue("ACT", SAME, 1000)
    assert probe.ready(second, b, 1000)


def test_four_activate_window():
    probe = Probe()
    for i in range(4):
        probe.issue("ACT", i, 1000 + 7 * i)
    assert not probe.ready("ACT", 4, 1036)
    assert probe.ready("ACT", 4, 1037)
    assert probe.ready("ACT", OTHER_RANK, 1022)


def test_thirty_two_activate_window():
    probe = Probe(msgspec.structs.replace(SPEC, timing=msgspec.structs.replace(TIMING, faw=0, rc=8)))
    for i in range(32):
        probe.issue("ACT", i % 8, 1000 + 10 * i)
    assert not probe.ready("ACT", 0, 1400)
    assert probe.ready("ACT", 0, 1401)


def test_the_data_bus_bounds_columns():
    """A burst longer than tCCD keeps the bus: the next column waits for it."""
    probe = Probe(msgspec.structs.replace(SPEC, burst_clocks=8))
    probe.issue("RD", SAME, 1000)
    assert not probe.ready("RD", OTHER_GROUP, 1007)
    assert probe.ready("RD", OTHER_GROUP, 1008)


def test_latency_of_a_lone_read_and_write():
    """Closed bank: activate at once, then tRCD, then CL (CWL) and the burst."""
    memory = Memory(SPEC)
    assert memory.run([0], [False])["cycles"] == 13 + 11 + 2
    memory = Memory(SPEC)
    assert memory.run([0], [True])["cycles"] == 12 + 7 + 2
