"""Commands that are not timed (sampled runs): the lines of edges, values and active vertices that they would touch."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, load32
from warpsift.engine.leap.touch import WRITES, touch_l2
from warpsift.engine.sm.sm_state import chunk_row, op_row, sms
from warpsift.hardware import LINE_BYTES, SECTOR_BYTES
from warpsift.simt.stream import POST
from warpsift.units.mff.mff_state import mff
from warpsift.units.mff.mff_threads import COMMAND_INDEX_SHIFT, WORD_BYTES


@compiled(i64, S_t, i64)
def sectors_read(S, address):
    """Sectors of its line that a read of this address brings."""
    if mff(S).whole_line != 0:
        return np.int64(ALL_SECTORS)
    return np.int64(1) << (address // SECTOR_BYTES % (LINE_BYTES // SECTOR_BYTES))


@compiled(void, S_t, i64, i64)
def skip_word(S, vertex, scatter):
    """A word of V, or the place of an active vertex."""
    M = mff(S)
    if scatter == 0:
        address = M.vertex_values + vertex * WORD_BYTES
        touch_l2(S, np.int64(0), address // LINE_BYTES, sectors_read(S, address))
        return
    address = M.active_list + ((vertex >> 5) * WORD_BYTES if M.active_bits != 0 else vertex)
    touch_l2(S, np.int64(0), address // LINE_BYTES, sectors_read(S, address) | WRITES)


@compiled(void, S_t, i64, i64)
def mff_skip(S, chunk, pc):
    """The command in a record of a chunk."""
    M = mff(S)
    H = chunk_row(sms(S).p_chunks, chunk)
    op = op_row(H.p_ops, pc)
    scatter = np.int64(1) if op.kind == POST else np.int64(0)
    edges = M.in_edges if op.detail & 1 == 0 else M.out_edges
    first = np.int64(op.first)
    for index in range(first, first + np.int64(op.transactions)):
        entry = load(H.p_commands, index)
        begin = edges + (entry >> COMMAND_INDEX_SHIFT) * WORD_BYTES
        before = np.int64(-1)
        for word in range(entry & 255):
            address = begin + word * WORD_BYTES
            if address // SECTOR_BYTES != before:
                before = address // SECTOR_BYTES
                touch_l2(S, np.int64(0), address // LINE_BYTES, sectors_read(S, address))
            skip_word(S, load32(M.memory + address), scatter)
