"""What is kept of every launch beside the sums: when it ran, how busy the memory was, and which arrays it read.

Both are small enough to store with every run: at most `MOST_EVENTS` launches, and one row per array. A run with more
launches keeps as many slices of equal length, each with the phase that took most of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpsift.run.timing import dram_bytes

if TYPE_CHECKING:
    from warpsift.engine.engine import Engine

MOST_EVENTS = 400
TRAFFIC = ("l1_transactions", "l1_read_misses", "l2_sectors", "dram_reads")


def array_traffic(engine: Engine) -> dict[str, list[int]]:
    """Array -> the counts named in `TRAFFIC`, summed over the GPU's launches; arrays nobody touched are left out."""
    found: dict[str, list[int]] = {}
    for launch in engine.launches:
        for name, counts in launch.arrays.items():
            values = [counts[key] for key in TRAFFIC]
            if any(values):
                before = found.get(name, [0] * len(TRAFFIC))
                found[name] = [a + b for a, b in zip(before, values, strict=True)]
    return found


def timeline(engine: Engine) -> dict[str, Any]:
    """Columns, one entry per launch or unit operation: phase (its number), first cycle, cycles, share of bandwidth."""
    peak = engine.machine.peak_dram_bytes_per_second / (engine.machine.clocks.core_mhz * 1e6)  # bytes per core cycle
    names: dict[str, int] = {}
    events = []
    for launch in engine.launches:
        events.append((launch.start_cycle, launch.launch.phase, launch.counters))
    for operation in engine.operations:
        events.append((operation.start_cycle, f"{operation.info.unit}: {operation.info.phase}", operation.counters))
    events.sort(key=lambda event: event[0])
    phase = np.array([names.setdefault(name, len(names)) for _, name, _ in events], np.int64)
    start = np.array([begin for begin, _, _ in events], np.int64)
    cycles = np.array([counters["cycles"] for *_, counters in events], np.int64)
    moved = np.array([dram_bytes(counters, engine.machine) for *_, counters in events], np.float64)
    binned = len(events) > MOST_EVENTS
    if binned:
        phase, start, cycles, moved = _slices(phase, start, cycles, moved)
    busy = np.round(1000 * moved / np.maximum(cycles * peak, 1e-9)).astype(np.int64)
    columns = {"phase": phase, "start": start, "cycles": cycles, "bandwidth_per_mille": busy}
    return {"phases": list(names), "binned": binned, **{name: column.tolist() for name, column in columns.items()}}


def _slices(phase: np.ndarray, start: np.ndarray, cycles: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, ...]:
    """Slices of equal length instead of launches; what a launch moved is spread evenly over its time."""
    edges = np.linspace(0, int((start + cycles).max()), MOST_EVENTS + 1)
    time = np.zeros((MOST_EVENTS, int(phase.max()) + 1))
    bytes_moved = np.zeros(MOST_EVENTS)
    for which, begin, length, amount in zip(phase, start, cycles, moved, strict=True):
        first = max(int(np.searchsorted(edges, begin, "right")) - 1, 0)
        last = min(int(np.searchsorted(edges, begin + length, "left")), MOST_EVENTS)
        low, high = edges[first:last], edges[first + 1 : last + 1]
        shared = np.minimum(high, begin + length) - np.maximum(low, begin)
        time[first:last, which] += shared
        bytes_moved[first:last] += amount * shared / max(int(length), 1)
    begins = np.round(edges).astype(np.int64)
    return time.argmax(axis=1), begins[:-1], np.diff(begins), bytes_moved
