"""The monitor in the engine: a table of (line, count) per slice, and the call with which a slice tells of a read.

Space-Saving: a line that has an entry counts up; another takes the entry with the smallest count and goes on from
there, so that a line's count is at most that much too large, and no line read often is ever missed.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t, accessor, unit_component
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.unit_socket import L2_READ, UnitComponent, unit_calls
from warpsift.units import socket_of

SOCKET = socket_of("hot_lines")
COUNTERS = {
    "hot_lines_reads": "reads of lines that the monitors have seen",
    "hot_lines_counted": "of these, reads of a line that had an entry",
    "hot_lines_replaced": "of these, reads that took another line's entry",
}
RECORD = np.dtype([(name, np.int64) for name in ("entries", "p_entries", *COUNTERS)], align=True)
ENTRY = np.dtype([("line", np.int64), ("count", np.int64)], align=True)
hot_lines = unit_component(SOCKET, RECORD)
entry_row = accessor(ENTRY)


@compiled(void, S_t, i64, i64)
def count_read(S, slice_index, line):
    """One read of a line at a slice."""
    U = hot_lines(S)
    U.hot_lines_reads += 1
    first = slice_index * U.entries
    smallest = first
    for k in range(first, first + U.entries):
        E = entry_row(U.p_entries, k)
        if E.line == line and E.count > 0:
            E.count += 1
            U.hot_lines_counted += 1
            return
        if E.count < entry_row(U.p_entries, smallest).count:
            smallest = np.int64(k)
    E = entry_row(U.p_entries, smallest)
    E.line = line
    E.count += 1
    U.hot_lines_replaced += 1


@unit_calls("the monitor of hot lines", SOCKET)
def hot_lines_calls(S, what, a, b):
    if what == L2_READ:
        count_read(S, a, b >> 1)
    return np.int64(0)


class HotLinesComponent(UnitComponent):
    name = "hot_lines"
    socket = SOCKET
    counters = COUNTERS
    watches_l2 = True

    def calls(self):
        return hot_lines_calls

    def allocate(self, arena, machine):
        U = arena.unit_record(self.name, SOCKET, RECORD)
        U.entries = machine.unit("hot_lines").entries
        U.p_entries = arena.table("hot_lines.entries", ENTRY, machine.l2.slices * U.entries)

    def balances(self, arrays, counters):
        reads = counters["hot_lines_counted"] + counters["hot_lines_replaced"]
        return {"monitored reads are counted once": (reads, counters["hot_lines_reads"])}

    def keep(self, arrays):
        self.entries = arrays["hot_lines.entries"].copy()


def hottest(engine, count=10):
    """The lines read most, with their counts, over all slices, once a run is over."""
    entries = engine.units["hot_lines"].entries
    best = np.argsort(entries["count"])[::-1][:count]
    return [(int(entries["line"][k]), int(entries["count"][k])) for k in best if entries["count"][k]]
