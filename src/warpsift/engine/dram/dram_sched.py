"""First-ready, first-come-first-served: which command a channel issues in a clock.

Each bank offers at most three commands: read or write the open row (its first waiting hits), or close the row for the
first request to another row; a closed bank offers to open the row of its oldest request. Among the commands whose
timing allows them now, the choice of the machine decides: column commands before row commands, each oldest first
(Rixner et al., ISCA 2000), simply the oldest, or the banks in turn. Two rules bound starvation: after `hit_cap`
accesses to an open row an older request to another row of that bank goes first, and a request older than
`starvation_clocks` is the only one its bank serves.

A bank's earliest possible clock is kept in `p_ready`. Timing only ever moves it later, so the value is a lower bound
until the bank's lists or row change (which set it to 0); a clock looks only at the banks whose bound has come. Closed
banks, which under random accesses are most, can but open a row: their keys are kept in `p_keys`, so that of those whose
bound has come only the first by key is looked at. After a command the bounds of others that could only have followed it
with the same command are moved (`raise_closed`, `raise_columns`), so that no clock looks at them in vain.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import FOREVER
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import ctz, load, store
from warpsift.engine.dram.dram_queue import remove_by_age, remove_from_bank, rescan_bank
from warpsift.engine.dram.dram_state import B_t, C_t, D_t, bank_row, request_row
from warpsift.engine.dram.dram_timing import (
    earliest_activate,
    earliest_column,
    earliest_of_rank,
    earliest_precharge,
    issue_activate,
    issue_precharge,
    issue_read,
    issue_write,
)

ACTIVATE, PRECHARGE, COLUMN = 1, 2, 3
ROW_COMMAND_LAST = 1 << 50  # added to the order of a command that yields to all column commands
CAPPED_LAST = 1 << 51  # ... of a hit beyond the cap, while an older request waits for another row
ACTIVATED_FIRST = 1 << 53  # taken from the order of a request whose row was opened for it
CLOSE_IDLE_LAST = 1 << 52  # ... of closing a row nobody waits for (closed-page policy)


@compiled(i64, C_t, B_t, i64, i64, i64, i64, i64)
def _offer(C, B, clk, when, key, command, q):
    """Consider one command of the bank under evaluation; return its earliest clock."""
    if when <= clk and key < C.chosen_key:
        C.chosen_key = key
        C.chosen_command = command
        C.chosen_request = q
        C.chosen_bank = B.index
    return when


@compiled(i64, D_t, C_t, B_t, i64, i64)
def _offer_urgent(D, C, B, clk, q):
    """The bank of a starving request offers nothing else."""
    Q = request_row(C.p_requests, q)
    if B.open_row < 0:
        return _offer(C, B, clk, earliest_activate(D, C, B), Q.order, ACTIVATE, q)
    if B.open_row == Q.row:
        return _offer(C, B, clk, earliest_column(D, C, B, Q.write), Q.order, COLUMN, q)
    return _offer(C, B, clk, earliest_precharge(D, C, B), Q.order, PRECHARGE, q)


@compiled(i64, D_t, C_t, B_t, i64)
def _offer_closed(D, C, B, clk):
    """A closed bank: open the row of its oldest request of the kind being served."""
    q = B.first1 if D.split == 1 and D.bank_entries == 0 and C.draining == 1 else B.first0
    if q < 0:
        return np.int64(FOREVER)
    key = request_row(C.p_requests, q).order + (ROW_COMMAND_LAST if D.column_first else 0)
    store(C.p_keys, np.int64(B.index), key)
    return _offer(C, B, clk, earliest_activate(D, C, B), key, ACTIVATE, q)


@compiled(i64, D_t, C_t, B_t, i64)
def _offer_open(D, C, B, clk):
    """An open bank: its first read hit and write hit, and the precharge for the first request to another row."""
    hit0, hit1, other = B.hit0, B.hit1, B.other0
    if D.split == 1 and D.bank_entries == 0:
        if C.draining == 1:
            hit0 = np.int64(-1)
            other = B.other1
        else:
            hit1 = np.int64(-1)
    first_hit = np.int64(FOREVER)
    if hit0 >= 0:
        first_hit = request_row(C.p_requests, hit0).order
    if hit1 >= 0:
        first_hit = min(first_hit, request_row(C.p_requests, hit1).order)
    capped = False
    when = np.int64(FOREVER)
    if other >= 0:
        order = request_row(C.p_requests, other).order
        capped = D.hit_cap > 0 and B.accesses >= D.hit_cap and order < first_hit
        used = D.precharge_any == 1 and B.accesses > 0  # a row just opened is used before it is closed
        if used or first_hit == FOREVER or capped:
            key = order + (ROW_COMMAND_LAST if D.column_first else 0)
            when = _offer(C, B, clk, earliest_precharge(D, C, B), key, PRECHARGE, other)
    elif D.closed_page == 1 and first_hit == FOREVER and B.accesses > 0:
        when = _offer(C, B, clk, earliest_precharge(D, C, B), CLOSE_IDLE_LAST, PRECHARGE, np.int64(-1))
    if when == FOREVER and (hit0 < 0) != (hit1 < 0):
        if hit0 >= 0:
            C.only_reads |= np.int64(1) << B.index
        else:
            C.only_writes |= np.int64(1) << B.index
    late = CAPPED_LAST if capped else 0
    if hit0 >= 0:
        key = request_row(C.p_requests, hit0).order + late
        when = min(when, _offer(C, B, clk, earliest_column(D, C, B, 0), key, COLUMN, hit0))
    if hit1 >= 0:
        key = request_row(C.p_requests, hit1).order + late
        when = min(when, _offer(C, B, clk, earliest_column(D, C, B, 1), key, COLUMN, hit1))
    return when


@compiled(i64, D_t, C_t, B_t, i64)
def _offer_promoted(D, C, B, clk):
    """A bank opened for a request keeps the row until that request is served; other hits may go in between."""
    Q = request_row(C.p_requests, B.promoted)
    when = _offer(C, B, clk, earliest_column(D, C, B, Q.write), Q.order - ACTIVATED_FIRST, COLUMN, B.promoted)
    if B.refreshing == 1:
        return when
    hit = B.hit1 if D.split == 1 and C.draining == 1 else B.hit0
    if hit >= 0:
        H = request_row(C.p_requests, hit)
        when = min(when, _offer(C, B, clk, earliest_column(D, C, B, H.write), H.order, COLUMN, hit))
    if D.split == 0 and B.hit1 >= 0:
        H = request_row(C.p_requests, B.hit1)
        when = min(when, _offer(C, B, clk, earliest_column(D, C, B, 1), H.order, COLUMN, B.hit1))
    return when


@compiled(i64, D_t, C_t, B_t, i64)
def evaluate_bank(D, C, B, clk):
    """Offer the bank's commands to the channel's choice; return the earliest clock of any of them."""
    other_banks = (np.int64(1) << B.index) ^ -1
    C.only_reads &= other_banks
    C.only_writes &= other_banks
    if B.promoted >= 0:
        return _offer_promoted(D, C, B, clk)
    if B.refreshing == 1:
        return np.int64(FOREVER)
    if C.urgent >= 0 and request_row(C.p_requests, C.urgent).bank == B.index:
        return _offer_urgent(D, C, B, clk, C.urgent)
    if B.open_row < 0:
        return _offer_closed(D, C, B, clk)
    return _offer_open(D, C, B, clk)


@compiled(i64, D_t, C_t)
def _oldest(D, C):
    """The oldest waiting request of the kind being served, or -1."""
    if D.split == 0:
        oldest = C.age_first0
        if oldest < 0 or (
            C.age_first1 >= 0
            and request_row(C.p_requests, C.age_first1).order < request_row(C.p_requests, oldest).order
        ):
            oldest = C.age_first1
    else:
        oldest = C.age_first1 if C.draining == 1 else C.age_first0
    return oldest


@compiled(i64, D_t, C_t)
def next_starvation(D, C):
    """The clock at which the oldest request begins to starve, or FOREVER (none, or known already)."""
    if D.starvation == 0:
        return np.int64(FOREVER)
    q = _oldest(D, C)
    if q < 0 or q == C.urgent:
        return np.int64(FOREVER)
    return request_row(C.p_requests, q).arrive + D.starvation + 1


@compiled(void, D_t, C_t, i64)
def update_urgent(D, C, clk):
    """Find a starving request: its bank then serves nothing else."""
    if next_starvation(D, C) <= clk:
        C.urgent = _oldest(D, C)
        store(C.p_ready, request_row(C.p_requests, C.urgent).bank, 0)


@compiled(i64, D_t, C_t, i64)
def _choose_in_turn(D, C, clk):
    """Round robin over the banks, from the one after the last served; the clock of the next possible command."""
    soonest = np.int64(FOREVER)
    for i in range(1, D.banks + 1):
        b = C.round_robin + i
        if b >= D.banks:
            b -= D.banks
        when = load(C.p_ready, b)
        if when <= clk:
            if C.chosen_command != 0:
                return clk + 1
            when = evaluate_bank(D, C, bank_row(C.p_banks, b), clk)
            store(C.p_ready, b, when)
            if C.chosen_command != 0:
                C.round_robin = b
                continue
        soonest = min(soonest, when)
    return soonest


@compiled(i64, C_t, i64)
def _first_by_key(C, banks):
    """Of some closed banks that have been looked at, the one with the lowest key."""
    first = ctz(banks)
    lowest = load(C.p_keys, first)
    banks &= banks - 1
    while banks != 0:
        b = ctz(banks)
        banks &= banks - 1
        key = load(C.p_keys, b)
        if key < lowest:
            lowest = key
            first = b
    return first


@compiled(void, D_t, C_t)
def raise_closed(D, C):
    """After an activate, no closed bank can follow before its rank allows it."""
    banks = C.closed
    of_rank = earliest_of_rank(D, C, np.int64(0))
    while banks != 0:
        b = ctz(banks)
        banks &= banks - 1
        ready = load(C.p_ready, b)
        if ready == 0 or ready == FOREVER:  # to be looked at, or without requests
            continue
        if D.ranks > 1:
            of_rank = earliest_of_rank(D, C, np.int64(bank_row(C.p_banks, b).rank))
        store(C.p_ready, b, max(ready, of_rank))


@compiled(void, D_t, C_t)
def raise_columns(D, C):
    """After a column command, banks that offer nothing else follow when the buses allow it."""
    banks = C.only_reads | C.only_writes
    while banks != 0:
        b = ctz(banks)
        banks &= banks - 1
        if load(C.p_ready, b) != 0:  # else to be looked at
            B = bank_row(C.p_banks, b)
            store(C.p_ready, b, earliest_column(D, C, B, (C.only_writes >> b) & 1))


@compiled(i64, D_t, C_t)
def soonest_bank(D, C):
    """The earliest bound of any bank."""
    soonest = np.int64(FOREVER)
    for b in range(D.banks):
        soonest = min(soonest, load(C.p_ready, b))
    return soonest


@compiled(i64, D_t, C_t, i64)
def _choose_best(D, C, clk):
    due = np.int64(0)
    known = np.int64(0)
    for b in range(D.banks):  # no branches: the compiler takes several banks at once
        when = load(C.p_ready, b)
        due |= np.int64(when <= clk) << b
        known |= np.int64(when > 0) << b
    if due == 0:
        return soonest_bank(D, C)
    closed = due & known & C.closed
    if C.urgent >= 0:
        closed &= (np.int64(1) << request_row(C.p_requests, C.urgent).bank) ^ -1
    due ^= closed
    while due != 0:
        b = ctz(due)
        due &= due - 1
        store(C.p_ready, b, evaluate_bank(D, C, bank_row(C.p_banks, b), clk))
    while closed != 0:
        b = _first_by_key(C, closed)
        when = evaluate_bank(D, C, bank_row(C.p_banks, b), clk)
        store(C.p_ready, b, when)
        if when <= clk:  # the others come behind it
            break
        closed ^= np.int64(1) << b
    return soonest_bank(D, C) if C.chosen_command == 0 else clk + 1


@compiled(i64, D_t, C_t, i64)
def choose(D, C, clk):
    """Set C.chosen_command (0: none can be issued) and return the earliest clock of any command (a lower bound)."""
    C.chosen_command = 0
    C.chosen_key = FOREVER
    C.chosen_request = -1
    if D.round_robin == 1:
        return _choose_in_turn(D, C, clk)
    return _choose_best(D, C, clk)


@compiled(void, D_t, C_t, B_t, i64)
def _leave_queue(D, C, B, q):
    """A request no longer occupies an entry of its queue."""
    Q = request_row(C.p_requests, q)
    remove_from_bank(D, C, B, q)
    if C.urgent == q:
        C.urgent = -1
    if D.bank_entries > 0:
        C.fill_wanted = 1
        return
    remove_by_age(C, Q)
    if Q.write == 1:
        C.waiting1 -= 1
        C.drain_left -= 1
    else:
        C.waiting0 -= 1


@compiled(void, D_t, C_t, i64)
def retire(D, C, q):
    """The column command of a request was issued: it is gone."""
    Q = request_row(C.p_requests, q)
    B = bank_row(C.p_banks, Q.bank)
    if B.promoted == q:
        B.promoted = -1
        store(C.p_ready, B.index, 0 if B.refreshing == 0 else FOREVER)
    else:
        _leave_queue(D, C, B, q)
    if Q.write == 1:
        C.pending_writes -= 1
    Q.next = C.free
    C.free = q
    C.requests -= 1


@compiled(i64, D_t, C_t, i64)
def issue_chosen(D, C, clk):
    """Issue the chosen command; return the request whose column command it was, or -1."""
    q = C.chosen_request
    B = bank_row(C.p_banks, C.chosen_bank)
    if C.chosen_command == COLUMN:
        if request_row(C.p_requests, q).write == 1:
            issue_write(D, C, B, clk)
        else:
            issue_read(D, C, B, clk)
        return q
    if C.chosen_command == ACTIVATE:
        issue_activate(D, C, B, clk, request_row(C.p_requests, q).row)
        if D.activated_first == 1:
            _leave_queue(D, C, B, q)
            B.promoted = q
    else:
        issue_precharge(D, C, B, clk)
    rescan_bank(D, C, B)
    return np.int64(-1)
