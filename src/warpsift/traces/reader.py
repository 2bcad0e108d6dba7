"""Reading kernel traces of Accel-Sim (tracer version 3 to 6) as instruction streams.

    for kernel in list_kernels(Path("traces")):
        replay_kernel(kernel, sink)

A file is read in blocks, and thread blocks are handed on in chunks, so memory is bounded by the largest thread block.
Nothing in the file is trusted: every number is checked, and errors name the file and the line.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.stream import Sink
from warpsift.traces import convert
from warpsift.traces import scan_text as scan
from warpsift.traces.compiled import BUFFERS, INTS, TABLE, TABLES, compiled, i64
from warpsift.traces.header import Header, list_kernels, parse_header
from warpsift.traces.opcodes import CODES, HASHES
from warpsift.traces.stream_buffers import StreamBuffers
from warpsift.traces.trace_errors import TraceError
from warpsift.traces.trace_file import TraceFile

CHUNK_OPS = 1 << 17
# A thread block is held in memory as a whole.
MOST_OPS_PER_CTA = 1 << 22  # 64 MB of records
MOST_TRANSACTIONS_PER_CTA = 1 << 26  # 512 MB

# Where the reader stands, kept from block to block.
IN_BLOCK, IN_WARP, EXPECTED, SEEN, CTAS, BLOCK_NUMBER, FAULT = range(7)
PROGRESS = 7
MESSAGES = {
    1: "'#BEGIN_TB' before the last thread block ended",
    2: "an instruction or 'insts = n' outside a warp",
    3: "the warp number is beyond the block's {warps} warps",
    4: "the last warp had {seen} instructions, but said 'insts = {expected}'",
    5: "outside a thread block: '#BEGIN_TB' is missing",
    6: "the thread block is outside the grid ({grid})",
    7: "the thread block has more than {most} instructions or {most_transactions} transactions; it must fit in memory",
}


@compiled(i64(INTS, BUFFERS, TABLES))
def close_warp(progress, buffers, tables):
    """The warp ends here: 0, or the fault."""
    if progress[IN_WARP] == 0:
        return 0
    convert.end_warp(buffers, tables)
    progress[IN_WARP] = 0
    return 4 if progress[SEEN] != progress[EXPECTED] else 0


@compiled(i64(INTS, INTS, BUFFERS, TABLES, INTS))
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


@compiled(i64(TABLE, INTS, INTS, BUFFERS, TABLES, INTS))
def follow(rows, addresses, progress, buffers, tables, shape):
    """Convert rows up to the end of a thread block; the row after it, or of the fault."""
    for k in range(len(rows)):
        row = rows[k]
        if row[scan.CODE] >= scan.BEGIN_BLOCK:
            progress[FAULT] = follow_directive(row, progress, buffers, tables, shape)
            if progress[FAULT] != 0:
                return k
            if row[scan.CODE] == scan.END_BLOCK:
                return k + 1
        elif progress[IN_WARP] == 0:
            progress[FAULT] = 2
            return k
        else:
            progress[SEEN] += 1
            convert.add_instruction(buffers, tables, row, addresses, (shape[4], shape[5]))
    return len(rows)


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
        self._state[scan.LINE_NUMBER] = len(lines)
        self._state[scan.LINE_NUMBERS] = self.header.line_numbers
        h = self.header
        self._shape = np.array([h.warps_per_cta, *h.grid, h.shared_base, h.local_base], np.int64)
        self._blocks = 0  # thread blocks in all

    def run(self) -> None:
        self._sink.begin(self.header.launch)
        for text in self._file.blocks():
            self._block(text)
        if self._progress[IN_BLOCK]:
            raise TraceError(f"{self._file.path}: the file ends inside a thread block; it is not complete")
        self._hand_on()
        if self._blocks != self.header.ctas:
            raise TraceError(
                f"{self._file.path}: {self._blocks} thread blocks, but the grid has {self.header.ctas}; "
                "the trace is not complete"
            )
        self._sink.end()

    def _block(self, text: np.ndarray) -> None:
        lines = int(np.count_nonzero(text == 10))
        rows = np.empty((lines, scan.COLUMNS), np.int64)
        addresses = np.empty((lines + 1) * WARP_SIZE, np.int64)
        count = scan.scan(text, self._state, rows, addresses, HASHES, CODES)
        if self._state[scan.ERROR]:
            self._report_scan(text)
        self._buffers.reserve(count)
        rows, at = rows[:count], 0
        while at < count:
            at += follow(rows[at:], addresses, self._progress, self._buffers.arrays, self._tables, self._shape)
            if self._progress[FAULT]:
                self._report_fault(int(rows[at, scan.LINE]))
            if self._buffers.ops >= CHUNK_OPS and not self._progress[IN_BLOCK]:
                self._hand_on()
                self._buffers.reserve(count - at)
        if self._buffers.ops > MOST_OPS_PER_CTA or self._buffers.transactions > MOST_TRANSACTIONS_PER_CTA:
            self._progress[FAULT] = 7
            self._report_fault(int(self._state[scan.LINE_NUMBER]))

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
        raise TraceError(f"{self._file.path}, line {state[scan.LINE_NUMBER]}: {message}{found}")

    def _report_fault(self, line: int) -> None:
        p = self._progress
        message = MESSAGES[int(p[FAULT])].format(
            warps=self.header.warps_per_cta,
            seen=p[SEEN],
            expected=p[EXPECTED],
            grid=" x ".join(map(str, self.header.grid)),
            most=MOST_OPS_PER_CTA,
            most_transactions=MOST_TRANSACTIONS_PER_CTA,
        )
        raise TraceError(f"{self._file.path}, line {line}: {message}")


def replay_kernel(path: Path, sink: Sink) -> Header:
    """Hand one kernel trace to a sink as a launch; gives its header."""
    with TraceFile(path) as file:
        kernel = _Kernel(file, sink)
        kernel.run()
    return kernel.header


def replay(path: str | Path, sink: Sink) -> list[Header]:
    """Hand all kernels of a trace folder (or list, or a single trace) to a sink, in order."""
    return [replay_kernel(kernel, sink) for kernel in list_kernels(Path(path))]
