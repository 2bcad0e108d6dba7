"""Reading kernel traces of Accel-Sim (tracer version 3 to 6) as instruction streams.

    for kernel in list_kernels(Path("traces")):
        replay_kernel(kernel, sink)

A file is read in blocks, and thread blocks are handed on in chunks, so memory is bounded by the largest thread block.
Nothing in the file is trusted: every number is checked, and errors name the file and the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from warpsift.hardware import WARP_SIZE
from warpsift.simt.coalesce import BANKS, HASHED, WORDS
from warpsift.simt.stream import SLOTS, Sink
from warpsift.traces import convert
from warpsift.traces import scan_text as scan
from warpsift.traces.characters import NEWLINE
from warpsift.traces.compiled import (
    BUFFERS,
    BYTES,
    INTS,
    LINE_TABLES,
    TABLES,
    byte,
    bytes_pointer,
    compiled,
    i64,
    inlined,
    int_pointer,
    narrow_pointer,
)
from warpsift.traces.header import Header, list_kernels, parse_header
from warpsift.traces.opcodes import CODES, HASHES
from warpsift.traces.quick_line import SEEN_COLUMNS, UNUSUAL, no_opcodes, quick_instruction, remember_opcode
from warpsift.traces.stream_buffers import StreamBuffers
from warpsift.traces.trace_errors import TraceError
from warpsift.traces.trace_file import TraceFile

CHUNK_OPS = 1 << 17
# A thread block is held in memory as a whole.
MOST_OPS_PER_CTA = 1 << 22  # 64 MB of records
MOST_TRANSACTIONS_PER_CTA = 1 << 26  # 512 MB
ANY_SIZE = 1 << 40  # of arrays whose size nobody asks for
OPCODES = len(CODES)

# Where the reader stands, kept from block to block.
IN_BLOCK, IN_WARP, EXPECTED, SEEN, CTAS, BLOCK_NUMBER, AT, TEXT_END, LINE, ENOUGH = range(10)
PROGRESS = 10
MESSAGES = {
    1: "'#BEGIN_TB' before the last thread block ended",
    2: "an instruction or 'insts = n' outside a warp",
    3: "the warp number is beyond the block's {warps} warps",
    4: "the last warp had {seen} instructions, but said 'insts = {expected}'",
    5: "outside a thread block: '#BEGIN_TB' is missing",
    6: "the thread block is outside the grid ({grid})",
    7: "the thread block has more than {most} instructions or {most_transactions} transactions; it must fit in memory",
}


@inlined(i64(INTS, BUFFERS, TABLES))
def close_warp(progress, buffers, tables):
    """The warp ends here: 0, or the fault."""
    if progress[IN_WARP] == 0:
        return 0
    convert.end_warp(buffers, tables)
    progress[IN_WARP] = 0
    return 4 if progress[SEEN] != progress[EXPECTED] else 0


@inlined(i64(INTS, INTS, BUFFERS, TABLES, INTS))
def follow_directive(row, progress, buffers, tables, shape):
    """One line that is no instruction; 0, or the fault."""
    code = row[scan.CODE]
    if code == scan.BEGIN_BLOCK:
        if progress[IN_BLOCK] != 0:
            return 1
        progress[IN_BLOCK] = 1
        return 0
    if progress[IN_BLOCK] == 0:
        return 5
    if code == scan.BLOCK_ID:
        x, y, z = row[scan.SOURCE], row[scan.SOURCE + 1], row[scan.SOURCE + 2]
        if x >= shape[1] or y >= shape[2] or z >= shape[3]:
            return 6
        progress[BLOCK_NUMBER] = (z * shape[2] + y) * shape[1] + x
        return 0
    if code == scan.INSTRUCTIONS:
        progress[EXPECTED] = row[scan.SOURCE]
        return 0 if progress[IN_WARP] != 0 else 2
    fault = close_warp(progress, buffers, tables)
    if fault != 0:
        return fault
    if code == scan.WARP:
        warp = row[scan.SOURCE]
        if warp >= shape[0]:
            return 3
        progress[IN_WARP] = 1
        progress[SEEN] = progress[EXPECTED] = 0
        convert.start_warp(tables, progress[CTAS] * shape[0] + warp, progress[BLOCK_NUMBER] * shape[0] + warp)
    else:  # END_BLOCK
        progress[IN_BLOCK] = 0
        progress[CTAS] += 1
    return 0


@inlined(i64(BYTES, i64))
def line_end(text, at):
    """Where the line ends: its newline, which every line has."""
    while byte(text, at) != NEWLINE:
        at += 1
    return at


@inlined(i64(BYTES, INTS, LINE_TABLES, INTS, BUFFERS, TABLES, INTS))
def follow_lines(text, state, lines, progress, buffers, tables, shape):
    """Read lines from progress[AT] on, until a thread block ends and there is enough for a chunk; 0, or the fault.

    Every line is converted as soon as it is read, so that it is still in the host's first cache.
    """
    row, addresses, seen, hashes, codes = lines
    end = progress[TEXT_END]
    while progress[AT] < end:
        begin = progress[AT]
        progress[LINE] += 1
        at = quick_instruction(text, begin, state[scan.LINE_NUMBERS], row, addresses, seen)
        if at == UNUSUAL:
            at = line_end(text, begin)
            state[scan.AT], state[scan.LINE_END] = begin, at
            found = scan.any_line(text, state, row, addresses, hashes, codes)
            if state[scan.ERROR] != 0:
                return 0
            if found != 0 and row[scan.CODE] < scan.BEGIN_BLOCK:
                remember_opcode(text, state, row, seen)
        else:
            at = line_end(text, at)
            found = 1
        progress[AT] = at + 1
        if found == 0:
            continue
        if row[scan.CODE] >= scan.BEGIN_BLOCK:
            fault = follow_directive(row, progress, buffers, tables, shape)
            enough = row[scan.CODE] == scan.END_BLOCK and buffers[3][0] >= progress[ENOUGH]
            if fault != 0 or enough:
                return fault
        elif progress[IN_WARP] == 0:
            return 2
        else:
            progress[SEEN] += 1
            convert.add_instruction(buffers, tables, row, addresses, (shape[4], shape[5]))
    return 0


def _addresses(arrays: Sequence[Any]) -> list[int]:
    """Where arrays lie, those of tuples among them too, one after the other."""
    found: list[int] = []
    for array in arrays:
        found += _addresses(array) if isinstance(array, tuple) else [array.ctypes.data]
    return found


@compiled(i64(INTS))
def follow(p):
    """`follow_lines` on arrays given by their addresses, in the order of `_Kernel._block`."""
    text = carray(bytes_pointer(p[0]), (ANY_SIZE,))
    state = carray(int_pointer(p[1]), (scan.STATE,))
    row, lanes = carray(int_pointer(p[2]), (scan.COLUMNS,)), carray(int_pointer(p[3]), (WARP_SIZE,))
    seen = carray(int_pointer(p[4]), (ANY_SIZE, SEEN_COLUMNS))
    hashes, codes = carray(int_pointer(p[5]), (OPCODES,)), carray(int_pointer(p[6]), (OPCODES,))
    progress = carray(int_pointer(p[7]), (PROGRESS,))
    warp_buffer, op_buffer = carray(narrow_pointer(p[8]), (ANY_SIZE,)), carray(int_pointer(p[9]), (ANY_SIZE, 2))
    buffers = (warp_buffer, op_buffer, carray(int_pointer(p[10]), (ANY_SIZE,)), carray(int_pointer(p[11]), (2,)))
    W, Q = carray(int_pointer(p[12]), (convert.STATE,)), carray(int_pointer(p[14]), (SLOTS, 2))
    R = carray(int_pointer(p[13]), (convert.REGISTERS, 4))
    found, pieces = carray(bytes_pointer(p[15]), (HASHED,)), carray(bytes_pointer(p[16]), (WARP_SIZE * WORDS,))
    stores = (found, pieces, carray(int_pointer(p[17]), (WARP_SIZE,)))
    hit, hits = carray(bytes_pointer(p[18]), (HASHED,)), carray(bytes_pointer(p[20]), (HASHED,))
    atomics = (hit, carray(int_pointer(p[19]), (HASHED,)), hits)
    banks = (carray(int_pointer(p[21]), (HASHED,)), carray(int_pointer(p[22]), (BANKS,)))
    shape = carray(int_pointer(p[23]), (6,))
    tables = (W, R, Q, (stores, atomics, banks))
    return follow_lines(text, state, (row, lanes, seen, hashes, codes), progress, buffers, tables, shape)


class _Kernel:
    """One trace on its way to a sink."""

    def __init__(self, file: TraceFile, sink: Sink) -> None:
        lines = file.header_lines()
        self.header: Header = parse_header(lines, str(file.path))
        self._file, self._sink = file, sink
        self._buffers = StreamBuffers()
        self._tables = convert.new_state()
        self._progress = np.zeros(PROGRESS, np.int64)
        self._state = np.zeros(scan.STATE, np.int64)
        row, addresses = np.zeros(scan.COLUMNS, np.int64), np.zeros(WARP_SIZE, np.int64)
        self._lines = (row, addresses, no_opcodes(), HASHES, CODES)
        self._progress[LINE] = len(lines)
        self._state[scan.LINE_NUMBERS] = self.header.line_numbers
        h = self.header
        self._shape = np.array([h.warps_per_cta, *h.grid, h.shared_base, h.local_base], np.int64)
        self._blocks = 0  # thread blocks in all

    def run(self) -> None:
        self._sink.begin(self.header.launch)
        for text, size in self._file.blocks():
            self._block(text, size)
        if self._progress[IN_BLOCK]:
            raise TraceError(f"{self._file.path}: the file ends inside a thread block; it is not complete")
        self._hand_on()
        if self._blocks != self.header.ctas:
            raise TraceError(
                f"{self._file.path}: {self._blocks} thread blocks, but the grid has {self.header.ctas}; "
                "the trace is not complete"
            )
        self._sink.end()

    def _block(self, text: np.ndarray, size: int) -> None:
        self._buffers.reserve(int(np.count_nonzero(text[:size] == NEWLINE)))
        progress, buffers = self._progress, self._buffers.arrays
        arrays = (text, self._state, *self._lines, progress, *buffers, *self._tables, self._shape)
        places = np.array(_addresses(arrays), np.int64)
        progress[AT], progress[TEXT_END], progress[ENOUGH] = 0, size, CHUNK_OPS
        while progress[AT] < size:
            fault = follow(places)
            if self._state[scan.ERROR]:
                self._report_scan(text)
            if fault:
                self._report_fault(fault)
            if self._buffers.ops >= CHUNK_OPS and not progress[IN_BLOCK]:
                self._hand_on()
        if self._buffers.ops > MOST_OPS_PER_CTA or self._buffers.transactions > MOST_TRANSACTIONS_PER_CTA:
            self._report_fault(7)

    def _hand_on(self) -> None:
        ctas = int(self._progress[CTAS])
        self._blocks += ctas
        self._progress[CTAS] = 0
        if self._blocks > self.header.ctas:
            raise TraceError(f"{self._file.path}: more thread blocks than the grid has ({self.header.ctas})")
        if ctas:
            self._sink.chunk(self._buffers.take(ctas * self.header.warps_per_cta, ctas))

    def _report_scan(self, text: np.ndarray) -> None:
        state = self._state
        word = text[state[scan.TOKEN] : state[scan.TOKEN_END]].tobytes().decode("utf-8", "replace")[:40]
        found = f", found {word!r}" if word else ""
        message = scan.MESSAGES[int(state[scan.ERROR])]
        raise TraceError(f"{self._file.path}, line {self._progress[LINE]}: {message}{found}")

    def _report_fault(self, fault: int) -> None:
        p = self._progress
        message = MESSAGES[fault].format(
            warps=self.header.warps_per_cta,
            seen=p[SEEN],
            expected=p[EXPECTED],
            grid=" x ".join(map(str, self.header.grid)),
            most=MOST_OPS_PER_CTA,
            most_transactions=MOST_TRANSACTIONS_PER_CTA,
        )
        raise TraceError(f"{self._file.path}, line {p[LINE]}: {message}")


def replay_kernel(path: Path, sink: Sink) -> Header:
    """Hand one kernel trace to a sink as a launch; gives its header."""
    with TraceFile(path) as file:
        kernel = _Kernel(file, sink)
        kernel.run()
    return kernel.header


def replay(path: str | Path, sink: Sink) -> list[Header]:
    """Hand all kernels of a trace folder (or list, or a single trace) to a sink, in order."""
    return [replay_kernel(kernel, sink) for kernel in list_kernels(Path(path))]
