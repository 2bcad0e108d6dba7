"""Refresh: at its time a rank (or a bank) takes no new commands, closes its rows, and is busy for tRFC.

Ranks take turns, so that with two ranks one works while the other refreshes. All-bank refresh (REF) closes the rows by
one precharge-all, or bank by bank as each becomes ready; per-bank refresh (LPDDR4's REFpb) takes one bank at a time.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import store
from warpsift.engine.dram.dram_queue import rescan_bank
from warpsift.engine.dram.dram_state import C_t, D_t, bank_row, rank_row
from warpsift.engine.dram.dram_timing import (
    earliest_precharge,
    issue_precharge,
    issue_precharge_all,
    issue_refresh,
)


@compiled(i64, D_t, C_t)
def _first_bank(D, C):
    """The first bank of the unit under refresh."""
    if D.per_bank == 1:
        return C.refresh_pending
    return rank_row(C.p_ranks, C.refresh_pending).first_bank


@compiled(void, D_t, C_t, i64)
def start_refresh(D, C, clk):
    """When a refresh is due: block the banks of the next unit (one at a time; a late one follows at once)."""
    if C.refresh_pending >= 0 or clk < C.refresh_due:
        return
    units = D.banks if D.per_bank == 1 else D.ranks
    C.refresh_pending = C.refresh_unit
    C.refresh_unit = C.refresh_unit + 1 if C.refresh_unit + 1 < units else 0
    C.refresh_due += D.refi // units
    first = _first_bank(D, C)
    last = first + (1 if D.per_bank == 1 else D.banks_per_rank)
    for b in range(first, last):
        B = bank_row(C.p_banks, b)
        B.refreshing = 1
        store(C.p_ready, b, FOREVER if B.promoted < 0 else 0)


@compiled(i64, D_t, C_t, i64, i64, i64)
def _close_rows(D, C, clk, first, last):
    """Issue a precharge if one is possible; the clock of the next, or -1 if all rows are closed."""
    all_closed = True
    soonest = np.int64(FOREVER)
    latest = np.int64(0)
    for b in range(first, last):
        B = bank_row(C.p_banks, b)
        if B.open_row < 0:
            continue
        all_closed = False
        if B.promoted >= 0:  # served first: the scheduler wakes the channel
            latest = np.int64(FOREVER)
            continue
        when = earliest_precharge(D, C, B)
        if when <= clk and (D.precharge_each == 1 or D.per_bank == 1):
            issue_precharge(D, C, B, clk)
            C.refresh_issued = 1
            return clk + 1
        soonest = min(soonest, when)
        latest = max(latest, when)
    if all_closed:
        return np.int64(-1)
    if D.precharge_each == 1 or D.per_bank == 1:
        return soonest
    if latest <= clk:
        issue_precharge_all(D, C, C.refresh_pending, clk)
        C.refresh_issued = 1
        return clk + 1
    return latest


@compiled(i64, D_t, C_t, i64)
def refresh_step(D, C, clk):
    """Do what the pending refresh needs in this clock (C.refresh_issued: the command bus is taken); its next clock."""
    C.refresh_issued = 0
    if C.refresh_pending < 0:
        return C.refresh_due
    first = _first_bank(D, C)
    last = first + (1 if D.per_bank == 1 else D.banks_per_rank)
    when = _close_rows(D, C, clk, first, last)
    if when >= 0:
        return when
    when = np.int64(0)
    for b in range(first, last):
        when = max(when, bank_row(C.p_banks, b).next_act)
    if when > clk:
        return when
    issue_refresh(D, C, first, last, clk)
    C.refresh_issued = 1
    C.refresh_pending = -1
    for b in range(first, last):
        B = bank_row(C.p_banks, b)
        B.refreshing = 0
        rescan_bank(D, C, B)
    if C.requests == 0:
        C.powerdown_lost += D.rfc + D.rp + D.xp  # the time for which a refresh wakes an idle memory
    return max(C.refresh_due, clk + 1)
