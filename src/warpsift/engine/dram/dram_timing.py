"""The timing rules of a DRAM: when each command may come (`earliest_*`), and what it forbids once issued (`issue_*`).

Every rule stands once, in the function of the earlier command, as the earliest clock of the later one. JEDEC JESD212
(GDDR5), JESD79-4 (DDR4) and JESD209-4 (LPDDR4) name the rules; the distances that data sheets leave to the controller
(read to write, write to read of another rank) follow from the data bus being held by one burst at a time.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store
from warpsift.engine.dram.dram_state import (
    WINDOWS,
    B_t,
    C_t,
    D_t,
    bank_row,
    group_row,
    rank_row,
)


@compiled(i64, D_t, C_t, i64)
def earliest_of_rank(D, C, rank):
    """What a rank says of the next activate: tRRD_S, tFAW, t32AW, tXP."""
    R = rank_row(C.p_ranks, rank)
    when = R.next_act
    window = rank * WINDOWS
    if D.faw:
        when = max(when, load(C.p_windows, window + (R.acts & 3)) + D.faw)
    if D.aw32:
        when = max(when, load(C.p_windows, window + 4 + (R.acts & 31)) + D.aw32)
    return when


@compiled(i64, D_t, C_t, B_t)
def earliest_activate(D, C, B):
    """tRC, tRP, tRFC of the bank; tRRD_L of the group; and what its rank says."""
    when = max(B.next_act, group_row(C.p_groups, B.group).next_act)
    return max(when, earliest_of_rank(D, C, np.int64(B.rank)))


@compiled(i64, D_t, C_t, B_t)
def earliest_precharge(D, C, B):
    """tRAS, tRTP, write recovery of the bank; tPPD, tXP of the rank."""
    return max(B.next_pre, rank_row(C.p_ranks, B.rank).next_pre)


@compiled(i64, D_t, C_t, B_t, i64)
def earliest_column(D, C, B, write):
    """tRCD of the bank; tCCD_L, tWTR_L of the group; tCCD_S, tWTR_S, read to write, tRTRS, tXP of the rank."""
    R = rank_row(C.p_ranks, B.rank)
    G = group_row(C.p_groups, B.group)
    if write:
        return max(max(B.next_wr, G.next_wr), R.next_wr)
    return max(max(B.next_rd, G.next_rd), R.next_rd)


@compiled(void, D_t, C_t, B_t, i64, i64)
def issue_activate(D, C, B, clk, row):
    R = rank_row(C.p_ranks, B.rank)
    G = group_row(C.p_groups, B.group)
    B.open_row = row
    C.closed &= (np.int64(1) << B.index) ^ -1
    B.accesses = 0
    B.next_rd = max(B.next_rd, clk + D.rcd_rd)
    B.next_wr = max(B.next_wr, clk + D.rcd_wr)
    B.next_pre = max(B.next_pre, clk + D.ras)
    B.next_act = max(B.next_act, clk + D.rc)
    G.next_act = max(G.next_act, clk + D.rrd_l)
    R.next_act = max(R.next_act, clk + D.rrd_s)
    window = B.rank * WINDOWS
    store(C.p_windows, window + (R.acts & 3), clk)
    store(C.p_windows, window + 4 + (R.acts & 31), clk)
    R.acts += 1
    if R.open_banks == 0:
        R.open_since = clk
    R.open_banks += 1
    D.dram_activates += 1


@compiled(void, D_t, C_t, B_t, i64, i64)
def close_bank(D, C, B, clk, recovery):
    """The effect of a precharge on one bank: the row is gone, an activate must wait for the recovery."""
    R = rank_row(C.p_ranks, B.rank)
    B.open_row = -1
    C.closed |= np.int64(1) << B.index
    B.next_act = max(B.next_act, clk + recovery)
    R.open_banks -= 1
    if R.open_banks == 0:
        D.dram_row_open_clocks += clk - R.open_since
    D.dram_precharges += 1


@compiled(void, D_t, C_t, B_t, i64)
def issue_precharge(D, C, B, clk):
    close_bank(D, C, B, clk, D.rp)
    R = rank_row(C.p_ranks, B.rank)
    R.next_pre = max(R.next_pre, clk + D.ppd)


@compiled(void, D_t, C_t, i64, i64)
def issue_precharge_all(D, C, rank, clk):
    """One command closes all open banks of a rank; the recovery is longer (tRPab)."""
    first = rank_row(C.p_ranks, rank).first_bank
    for b in range(first, first + D.banks_per_rank):
        B = bank_row(C.p_banks, b)
        if B.open_row >= 0:
            close_bank(D, C, B, clk, D.rp_ab)
    R = rank_row(C.p_ranks, rank)
    R.next_pre = max(R.next_pre, clk + D.ppd)


@compiled(void, D_t, B_t)
def _count_column(D, B):
    if B.accesses:
        D.dram_row_hits += 1
    B.accesses += 1
    D.dram_busy_clocks += D.burst


@compiled(void, D_t, C_t, B_t, i64)
def issue_read(D, C, B, clk):
    R = rank_row(C.p_ranks, B.rank)
    G = group_row(C.p_groups, B.group)
    B.next_pre = max(B.next_pre, clk + D.rtp)
    G.next_rd = max(G.next_rd, clk + D.ccd_l)
    R.next_rd = max(R.next_rd, clk + D.ccd_s)
    R.next_wr = max(R.next_wr, clk + D.rd_to_wr)
    for other in range(D.ranks):
        if other != B.rank:
            O = rank_row(C.p_ranks, other)
            O.next_rd = max(O.next_rd, clk + D.rd_to_rd_rank)
            O.next_wr = max(O.next_wr, clk + D.rd_to_wr_rank)
    D.dram_reads += 1
    C.reads += 1
    _count_column(D, B)


@compiled(void, D_t, C_t, B_t, i64)
def issue_write(D, C, B, clk):
    R = rank_row(C.p_ranks, B.rank)
    G = group_row(C.p_groups, B.group)
    B.next_pre = max(B.next_pre, clk + D.wr_to_pre)
    G.next_wr = max(G.next_wr, clk + D.ccd_l)
    G.next_rd = max(G.next_rd, clk + D.wr_to_rd_l)
    R.next_wr = max(R.next_wr, clk + D.ccd_s)
    R.next_rd = max(R.next_rd, clk + D.wr_to_rd_s)
    for other in range(D.ranks):
        if other != B.rank:
            O = rank_row(C.p_ranks, other)
            O.next_wr = max(O.next_wr, clk + D.wr_to_wr_rank)
            O.next_rd = max(O.next_rd, clk + D.wr_to_rd_rank)
    D.dram_writes += 1
    C.writes += 1
    _count_column(D, B)


@compiled(void, D_t, C_t, i64, i64, i64)
def issue_refresh(D, C, first, last, clk):
    """Refresh the (closed) banks first..last-1: no activate there for tRFC."""
    for b in range(first, last):
        B = bank_row(C.p_banks, b)
        B.next_act = max(B.next_act, clk + D.rfc)
    D.dram_refreshes += 1


@compiled(void, D_t, C_t, i64)
def leave_power_down(D, C, clk):
    """tXP: after leaving power-down no command for a while."""
    ready = clk + D.xp
    for r in range(D.ranks):
        R = rank_row(C.p_ranks, r)
        R.next_act = max(R.next_act, ready)
        R.next_pre = max(R.next_pre, ready)
        R.next_rd = max(R.next_rd, ready)
        R.next_wr = max(R.next_wr, ready)
