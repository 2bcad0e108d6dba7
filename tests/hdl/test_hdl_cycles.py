"""The hardware and the engine's model of it take the same time under the same memory, within 5 %."""

from __future__ import annotations

import re

import pytest

from support.places import DOCS

pytest.importorskip("amaranth", reason="Amaranth is not installed (pip install 'warpsift[hdl]')")

from warpsift.hdl.cycles import CASES, LIMIT, Row, engine_counters, engine_cycles, measure, round_trip_cycles

PAGE = DOCS / "hdl.md"
WIDTHS = (1, 4)
ROW = re.compile(r"^\| (.+?)" + r" \| (\d+) \| (\d+) \| [+−-][\d.]+%" * len(WIDTHS) + r" \|$", re.MULTILINE)

# Simulating the hardware takes 10 to 30 s a case, so three are simulated again: a full buffer, a hot set, and what once
# was far off, reads that starved behind writes. The engine is held against all documented rows below.
QUICK = [
    ("filter and order applied", 4),
    ("stream of 4-byte elements, FIFO of 1 KB", 1),
    ("grouping", 1),
]


@pytest.mark.parametrize(("case", "width"), sorted(QUICK, key=lambda row: row[1]))
def test_hardware_and_engine_agree(case, width):
    row = measure(case, width)
    assert abs(row.difference) <= LIMIT, row


def documented() -> list[Row]:
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    columns = enumerate(WIDTHS)
    return [Row(case, width, int(c[2 * k]), int(c[2 * k + 1])) for k, width in columns for case, *c in found]


def test_the_documented_table_is_complete_and_agrees():
    rows = documented()
    cases = [name for name, _, _ in CASES]
    assert [(row.case, row.width) for row in rows] == [(name, width) for width in WIDTHS for name in cases]
    assert [row for row in rows if abs(row.difference) > LIMIT] == []


@pytest.mark.parametrize(
    ("buffer", "stall"), [("FIFO", "fifo"), ("vector buffer", "vector"), ("buffer of 16", "buffer")]
)
def test_buffers_that_are_called_full_are_full(buffer, stall):
    """The engine stands still for longer than the first replies take, at one of the widths at least."""
    cases = [(work, overrides) for name, work, overrides in CASES if f", {buffer}" in name or f", {buffer} of" in name]
    assert cases
    for work, overrides in cases:
        counters = [engine_counters(work, overrides | {"scu.width": width}) for width in ("1", "4")]
        longest = max(getattr(found, f"scu_stall_{stall}_cycles") for found in counters)
        assert longest > 2 * round_trip_cycles(), overrides


def test_the_engine_still_agrees_with_every_documented_cycle_of_the_hardware():
    """The engine's side of the whole table, measured again: a change of its timing is held against all rows."""
    works = {name: (work, overrides) for name, work, overrides in CASES}
    far = []
    for row in documented():
        work, overrides = works[row.case]
        now = Row(row.case, row.width, row.hardware, engine_cycles(work, overrides | {"scu.width": str(row.width)}))
        far += [now] if abs(now.difference) > LIMIT else []
    assert far == []
