"""The trace of an SCU operation: what the pipeline's timing needs to know, and nothing else.

`RUN`   neighbouring elements in one 128-byte line, as the Address Generator emits them. `outputs` of its elements are
        handed on by Data Fetch (the others are second operands: costs, old values). No sectors: nothing is fetched.
        `second_sectors`: its second operands, where they are fetched beside it instead.
`WRITE` a line, or part of one, that the Data Store sends once `after` elements (or evictions, when grouping) have
        passed it. Which lines it has open does not depend on time, so its coalescing is done here.
`PROBE` an access to the hash table: the set it reads, the probe before it that read the same set (the request buffer
        may still hold it; -1: none), what it writes back, the second line it writes, and the entry that an eviction
        reads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, SECTORS_PER_LINE

MOST_ELEMENTS_PER_RUN = 128  # a line of one-byte elements; longer repetitions become several runs


def _int64_record(*names: str) -> np.dtype:
    return np.dtype([(name, np.int64) for name in names], align=True)


RUN = _int64_record(
    "line", "sectors", "elements", "outputs", "slots", "input", "output", "second_line", "second_sectors"
)
WRITE = _int64_record("after", "line", "sectors", "partial")
PROBE = _int64_record(
    "line", "sectors", "previous", "write_sectors", "second_line", "second_sectors", "evict_line", "evict_sectors"
)

# The hash request buffer: rows of a set of up to 64 bytes and 8 bytes beside it (ID, element number); two rows hold a
# set of 128 bytes. 18 KB (table 1) are 256 rows. As many probes wait in order for the sets that it holds.
BUFFER_ROW_BYTES = 64 + 8

# What a vector is indexed by
BY_INPUT, BY_OUTPUT, BY_SURVIVOR = 0, 1, 2


@dataclass(frozen=True)
class Vector:
    """A vector parameter, read from its begin to its end through the vector buffers."""

    address: int
    bits: int  # per entry
    by: int
    length: int

    @property
    def lines(self) -> int:
        if self.length == 0:
            return 0
        last = (self.address * 8 + self.length * self.bits - 1) // (LINE_BYTES * 8)
        return last - self.address // LINE_BYTES + 1


@dataclass(frozen=True)
class ScuSetup:
    """What the unit is configured with before an operation begins."""

    vectors: tuple[Vector, ...]
    follows: int  # whose progress releases the writes: BY_FETCHED, BY_PROBED, BY_EVICTED or BY_LANDED (units/scu/iscu)
    compares: bool  # elements go to the Bitmask Constructor
    entry_bytes: int  # of a probe in the hash request buffer: the request and the set that comes back; 0: no probes
    clear_address: int
    clear_bytes: int
    probe_bytes: int = 0  # of a probe that is sent to where the table is: ID, set; cost or element number

    @property
    def clear_lines(self) -> int:
        return -(-self.clear_bytes // LINE_BYTES)


# Whose progress releases the writes of an operation
BY_FETCHED, BY_PROBED, BY_EVICTED, BY_LANDED = 0, 1, 2, 3


@dataclass(frozen=True)
class ScuChunk:
    """Some elements of an operation."""

    runs: np.ndarray
    writes: np.ndarray
    probes: np.ndarray
    elements: int  # outputs of its runs
    kept: int
    evictions: int = 0  # eviction reads
    setup: ScuSetup | None = None  # in the first chunk of an operation

    def counts(self) -> dict[str, int]:
        fetched = np.count_nonzero(self.runs["sectors"]) + np.count_nonzero(self.runs["second_sectors"])
        setup = self.setup
        vector_lines = sum(v.lines for v in setup.vectors) if setup else 0
        return {
            "scu_elements": self.elements,
            "scu_elements_kept": self.kept,
            "scu_addresses": int(self.runs["elements"].sum()),
            "scu_read_lines": int(fetched) + vector_lines,
            "scu_write_lines": len(self.writes),
            "scu_hash_probes": len(self.probes),
            "scu_hash_writes": int(np.count_nonzero(self.probes["write_sectors"])),
            "scu_hash_evictions": self.evictions,
            "scu_cleared_lines": setup.clear_lines if setup else 0,
        }


@njit(cache=True)
def sectors_of(address, size):
    first = (address // SECTOR_BYTES) % SECTORS_PER_LINE
    last = ((address + size - 1) // SECTOR_BYTES) % SECTORS_PER_LINE
    mask = np.int64(0)
    for sector in range(first, last + 1):
        mask |= np.int64(1) << sector
    return mask


@njit(cache=True)
def _sectors_between(base, here, size, span):
    """Sectors of the line that elements span[0] .. span[1] of a stream lie in."""
    mask = np.int64(0)
    for j in range(span[0], span[1]):
        mask |= sectors_of(base + here[j] * size, size)
    return mask


@njit(cache=True)
def make_runs(runs, chunk, n, streams, sizes, strides, beside):
    """Runs of n elements. streams[s]: base address; the last stream counts as outputs, those before are operands.

    strides[s] = 0: addressed by source; 1: by output order (the accumulate mode's old values, `chunk`'s fifth array).
    A group is a stretch of elements that stays in one line in every stream, so all streams advance together.
    `beside`: the operands are no runs of their own; the run of the outputs has their line too.
    """
    source, which_input, which_output, slots, position = chunk
    last = len(streams) - 1
    made = 0
    k = 0
    while k < n:
        end = k + 1
        limit = min(n, k + MOST_ELEMENTS_PER_RUN)
        same = True
        while end < limit and same:
            for s in range(last + 1):
                here = position if strides[s] else source
                old = (streams[s] + here[end - 1] * sizes[s]) // LINE_BYTES
                if (streams[s] + here[end] * sizes[s]) // LINE_BYTES != old:
                    same = False
            if same:
                end += 1
        spent = np.int64(0)
        for j in range(k, end):
            spent += slots[j]
        first = last if beside else 0
        for s in range(first, last + 1):
            here = position if strides[s] else source
            run = runs[made]
            made += 1
            run["line"] = (streams[s] + here[k] * sizes[s]) // LINE_BYTES
            run["sectors"] = _sectors_between(streams[s], here, sizes[s], (k, end))
            run["elements"] = end - k
            run["outputs"] = end - k if s == last else 0
            run["slots"] = spent if s == first else 0
            if beside and last > 0:
                there = position if strides[0] else source
                run["second_line"] = (streams[0] + there[k] * sizes[0]) // LINE_BYTES
                run["second_sectors"] = _sectors_between(streams[0], there, sizes[0], (k, end))
            run["input"] = which_input[end - 1]
            run["output"] = which_output[end - 1]
        k = end
    return made


@njit(cache=True)
def writes_in_order(writes, address, bits, span, final):
    """Lines of a sequential output, elements first .. last: a line goes when it is full, the rest at the end."""
    first, last = span
    made = 0
    base = address * 8
    line_bits = LINE_BYTES * 8
    line = (base + first * bits) // line_bits
    while True:
        line_end = (line + 1) * line_bits
        full_at = (line_end - base + bits - 1) // bits
        complete = full_at <= last
        if not complete and not (final and base + last * bits > line * line_bits and last > 0):
            break
        begin = max(base, line * line_bits)
        end = min(base + last * bits, line_end)
        sectors, partial = np.int64(0), np.int64(0)
        for s in range(SECTORS_PER_LINE):
            low = line * line_bits + s * SECTOR_BYTES * 8
            high = low + SECTOR_BYTES * 8
            if begin < high and end > low:
                sectors |= np.int64(1) << s
                if begin > low or end < high:
                    partial |= np.int64(1) << s
        w = writes[made]
        made += 1
        w["after"] = full_at if complete else last
        w["line"] = line
        w["sectors"] = sectors
        w["partial"] = partial
        if not complete:
            break
        line += 1
    return made


@njit(cache=True)
def _send(write, after, state, slot):
    sectors, partial = np.int64(0), np.int64(0)
    for s in range(SECTORS_PER_LINE):
        filled = state[slot, 1 + s]
        if filled > 0:
            sectors |= np.int64(1) << s
            if filled < SECTOR_BYTES:
                partial |= np.int64(1) << s
    write["after"] = after
    write["line"] = state[slot, 0]
    write["sectors"] = sectors
    write["partial"] = partial
    state[slot, 0] = -1
    for s in range(SECTORS_PER_LINE):
        state[slot, 1 + s] = 0


@njit(cache=True)
def writes_scattered(writes, state, address, size, position, after, n):
    """Lines of an output in any order. `state` holds the open lines (line, bytes per sector, age) and a clock."""
    made = 0
    slots = state.shape[0] - 1
    for k in range(n):
        at = address + position[k] * size
        line = at // LINE_BYTES
        slot = -1
        for s in range(slots):
            if state[s, 0] == line:
                slot = s
                break
        if slot < 0:
            oldest = 0
            for s in range(slots):
                if state[s, 0] < 0:
                    oldest = s
                    break
                if state[s, 5] < state[oldest, 5]:
                    oldest = s
            slot = oldest
            if state[slot, 0] >= 0:
                _send(writes[made], after[k], state, slot)
                made += 1
            state[slot, 0] = line
            state[slots, 5] += 1
            state[slot, 5] = state[slots, 5]
        state[slot, 1 + (at // SECTOR_BYTES) % SECTORS_PER_LINE] += size
        if state[slot, 1] + state[slot, 2] + state[slot, 3] + state[slot, 4] >= LINE_BYTES:
            _send(writes[made], after[k], state, slot)
            made += 1
    return made


def no_open_lines(slots: int) -> np.ndarray:
    """The state of a Data Store that has written nothing."""
    state = np.zeros((slots + 1, 6), np.int64)
    state[:slots, 0] = -1
    return state


@njit(cache=True)
def writes_left(writes, state, after):
    """What is still open at the end of the operation."""
    made = 0
    for s in range(state.shape[0] - 1):
        if state[s, 0] >= 0:
            _send(writes[made], after, state, s)
            made += 1
    return made
