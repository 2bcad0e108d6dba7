"""CTAs that a long leap passes over: their work is counted, but they neither run nor touch a cache.

Caches need to be touched only for as long as their contents last. So a long leap begins with CTAs of the stream that
are passed over, and those behind them are leapt over as ever. A CTA with a warp that would outlast the leap is not
passed over: it might be what the launch's end waits for.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64
from warpsift.engine.core.words import load, store
from warpsift.engine.leap.leap_order import (
    FINAL,
    IN_ALL,
    LATENCY,
    PASSED_INSTRUCTIONS,
    PASSED_TRANSACTIONS,
    TO_PASS,
    UNTIL,
    tally,
)
from warpsift.engine.sm.sm_state import CHUNKS, chunk_row, op_row, sms
from warpsift.simt.stream import ALU

PASSED, STREAM_ENDS, OUTLASTS = 0, 1, 2


@compiled(i64, S_t, i64)
def pass_cta(S, p):
    """Pass over the next CTA of the stream, unless there is none or one of its warps would outlast the leap."""
    C = sms(S)
    if C.chunk_head == C.chunk_tail:
        return np.int64(STREAM_ENDS)
    H = chunk_row(C.p_chunks, load(C.p_chunk_queue, C.chunk_head & (CHUNKS - 1)))
    most_waits = load(p, np.int64(UNTIL)) // load(p, np.int64(LATENCY))
    instructions = np.int64(0)
    transactions = np.int64(0)
    first = H.next_cta * C.warps_per_cta
    for warp in range(first, first + C.warps_per_cta):
        waits = np.int64(0)
        for pc in range(load(H.p_warp_first, warp), load(H.p_warp_first, warp + 1)):
            op = op_row(H.p_ops, pc)
            waits += np.int64(1) if op.wait != 0 else np.int64(0)
            if op.kind == ALU:
                instructions += np.int64(op.count)
            else:
                instructions += 1
                transactions += np.int64(op.transactions)
        if waits > most_waits:
            return np.int64(OUTLASTS)
    tally(p, np.int64(PASSED_INSTRUCTIONS), instructions)
    tally(p, np.int64(PASSED_TRANSACTIONS), transactions)
    C.ctas_dispatched += 1
    C.ctas_completed += 1
    H.next_cta += 1
    if H.next_cta == H.ctas:
        C.chunk_head += 1
    return np.int64(PASSED)


@compiled(i64, S_t, i64)
def pass_over(S, p):
    """Pass over CTAs until as much is passed as ordered, and leap less; 1 if more CTAs have to come first."""
    if load(p, np.int64(TO_PASS)) == 0:
        return np.int64(0)
    while load(p, np.int64(PASSED_INSTRUCTIONS)) < load(p, np.int64(TO_PASS)):
        answer = pass_cta(S, p)
        if answer == STREAM_ENDS and load(p, np.int64(FINAL)) == 0:
            return np.int64(1)
        if answer != PASSED:
            break
    store(p, np.int64(TO_PASS), np.int64(0))
    left = max(load(p, np.int64(IN_ALL)) - load(p, np.int64(PASSED_INSTRUCTIONS)), np.int64(0))
    store(p, np.int64(UNTIL), load(p, np.int64(UNTIL)) * left // load(p, np.int64(IN_ALL)))
    return np.int64(0)
