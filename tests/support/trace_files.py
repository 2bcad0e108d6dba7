"""Kernel traces written by hand: their text, and what the reader makes of it."""

from __future__ import annotations

import gzip
import lzma

from support.tapes import Tape
from warpsift.simt import stream as s
from warpsift.traces import replay

HEADER = """-kernel name = _Z3addPfS_S_i
-kernel id = 1
-grid dim = ({ctas},1,1)
-block dim = ({threads},1,1)
-shmem = 0
-nregs = 16
-binary version = 61
-cuda stream id = 0
-shmem base_addr = 0x00007f3a8e000000
-local mem base_addr = 0x00007f3a8c000000
-nvbit version = 1.7.4
-accelsim tracer version = 5
-enable lineinfo = {line_numbers}

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [...] immediate

"""

LINES = [f"{16 * k:04x} ffffffff 1 R{k % 8} LDG.E 1 R9 4 1 0x{128 * k:x} 4 0" for k in range(40)]


def waits(ops):
    """For each op the indices of the ops whose slot it waits for."""
    flying, out = {}, []
    for index, op in enumerate(ops):
        out.append(set().union(*(flying.pop(slot, set()) for slot in range(s.SLOTS) if op["wait"] >> slot & 1), set()))
        if op["slot"] != s.NO_SLOT:
            flying.setdefault(int(op["slot"]), set()).add(index)
    return out


def trace_text(blocks, *, threads=32, line_numbers=0, ctas=None):
    """A trace file: `blocks` is a list of thread blocks, each a list of warps, each a list of lines."""
    text = HEADER.format(ctas=ctas or len(blocks), threads=threads, line_numbers=line_numbers)
    for number, warps in enumerate(blocks):
        text += f"\n#BEGIN_TB\n\nthread block = {number},0,0\n"
        for w, lines in enumerate(warps):
            text += f"\nwarp = {w}\ninsts = {len(lines)}\n" + "".join(f"{line} \n" for line in lines)
        text += "\n#END_TB\n"
    return text


def read(tmp_path, text, name="kernel-1.traceg"):
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(
        lzma.compress(data) if name.endswith("xz") else gzip.compress(data) if name.endswith("gz") else data
    )
    sink = Tape()
    replay(path, sink)
    return sink


def read_warp(tmp_path, *lines):
    return next(iter(read(tmp_path, trace_text([[list(lines)]])).warps()))
