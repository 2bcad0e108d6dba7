"""Issue Engines of the memory fast-forward unit: job entries, and the allocation of work registers (MFF paper, Fig. 7).

A command waits for a job entry; then its engine allocates, thread by thread and in order, one register per word, and
hands those of one line of C to that line's tag unit. When registers run out, everybody behind waits.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.masks import mask_add
from warpsift.engine.core.words import ctz, load
from warpsift.engine.l2.address_map import slice_of
from warpsift.engine.l2.l2_state import l2
from warpsift.units.mff.mff_state import C_STATE, THREADS, command_row, engine_row, mff, register_row, unit_row


@compiled(void, S_t)
def count_occupancy(S):
    """Bring the integrals of what is in use up to now, before it changes."""
    M = mff(S)
    elapsed = l2(S).cycle - M.counted_cycle
    M.counted_cycle = l2(S).cycle
    if elapsed <= 0 or M.jobs_used == 0:
        return
    M.mff_active_cycles += elapsed
    M.mff_job_cycles += elapsed * M.jobs_used
    M.mff_register_cycles += elapsed * M.registers_used
    M.mff_tag_cycles += elapsed * M.tags_used
    M.mff_line_cycles += elapsed * M.lines_used


@compiled(i64, S_t)
def mff_full(S):
    """1 if a command would not find a free job entry."""
    M = mff(S)
    return np.int64(1) if M.jobs_used >= M.engines * M.jobs_per_engine or M.waiting_first >= 0 else np.int64(0)


@compiled(void, S_t, i64)
def start_job(S, command):
    """Give a command a job entry (there is one), in the next engine that has room."""
    M = mff(S)
    engine = M.next_engine
    while engine_row(M.p_engines, engine).jobs >= M.jobs_per_engine:
        engine = engine + 1 if engine + 1 < M.engines else np.int64(0)
    M.next_engine = engine + 1 if engine + 1 < M.engines else 0
    G = engine_row(M.p_engines, engine)
    K = command_row(M.p_commands, command)
    K.engine = engine
    K.next = -1
    G.jobs += 1
    M.jobs_used += 1
    M.mff_jobs += 1
    M.mff_words += K.words_left
    if K.scatter != 0:
        M.mff_scatter_commands += 1
    else:
        M.mff_gather_commands += 1
    if G.last < 0:
        G.first = command
    else:
        command_row(M.p_commands, G.last).next = command
    G.last = command
    M.engines_active |= np.int64(1) << engine


@compiled(void, S_t, i64)
def mff_accept(S, command):
    """A command has come out of the request network."""
    M = mff(S)
    count_occupancy(S)
    if mff_full(S) == 0:
        start_job(S, command)
        return
    command_row(M.p_commands, command).next = -1
    if M.waiting_last < 0:
        M.waiting_first = command
    else:
        command_row(M.p_commands, M.waiting_last).next = command
    M.waiting_last = command


@compiled(void, S_t, i64)
def end_job(S, command):
    """All words of a command are through: its job entry goes to the next."""
    M = mff(S)
    engine_row(M.p_engines, command_row(M.p_commands, command).engine).jobs -= 1
    M.jobs_used -= 1
    waiting = M.waiting_first
    if waiting >= 0:
        M.waiting_first = command_row(M.p_commands, waiting).next
        if M.waiting_first < 0:
            M.waiting_last = -1
        start_job(S, waiting)


@compiled(void, S_t, i64)
def queue_lookup(S, register):
    """Registers (a group linked by `next`) go to the tag unit of their line."""
    M = mff(S)
    R = register_row(M.p_registers, register)
    R.queue = -1
    R.ready = l2(S).cycle + M.crossing
    unit = slice_of(S, R.address >> 7)
    U = unit_row(M.p_units, unit)
    if U.lookup_last < 0:
        U.lookup_first = register
    else:
        register_row(M.p_registers, U.lookup_last).queue = register
    U.lookup_last = register
    mask_add(M.p_active, unit)


@compiled(i64, S_t, i64)
def issue_thread(S, command):
    """Allocate the registers of the next thread of a job, up to the end of a line of C; 0 if they are too few."""
    M = mff(S)
    K = command_row(M.p_commands, command)
    entry = load(M.p_entries, command * THREADS + K.entry)
    words = (entry & 255) - K.offset
    address = K.edges_address + 4 * ((entry >> 16) + K.offset)
    count = min(words, (128 - (address & 127)) >> 2, M.registers)
    if M.registers - M.registers_used < count:
        return np.int64(0)
    group = M.register_free
    register = group
    for k in range(count):
        register = M.register_free
        R = register_row(M.p_registers, register)
        M.register_free = R.next
        R.state = C_STATE
        R.command = command
        R.lane = (entry >> 8) & 255
        R.a_offset = K.offset + k
        R.address = address + 4 * k
    register_row(M.p_registers, register).next = -1
    register_row(M.p_registers, group).last = register
    M.registers_used += count
    M.mff_register_accesses += count
    if M.registers_used > M.mff_register_peak:
        M.mff_register_peak = M.registers_used
    K.offset += count
    if K.offset == entry & 255:
        K.offset = 0
        K.entry += 1
    queue_lookup(S, group)
    return np.int64(1)


@compiled(void, S_t)
def issue_tick(S):
    """Every engine issues for one thread; when registers run out the engines behind wait as well."""
    M = mff(S)
    mask = M.engines_active
    while mask != 0:
        engine = ctz(mask)
        mask &= mask - 1
        G = engine_row(M.p_engines, engine)
        if G.ready > l2(S).cycle:
            continue
        K = command_row(M.p_commands, G.first)
        before = M.registers_used
        if issue_thread(S, G.first) == 0:
            M.mff_stall_register_cycles += 1
            return
        if M.allocations > 0:  # the write port of its bank takes the registers one after the other
            G.ready = l2(S).cycle + (M.registers_used - before + M.allocations - 1) // M.allocations
        if K.entry == K.entries:
            G.first = K.next
            if G.first < 0:
                G.last = -1
                M.engines_active ^= np.int64(1) << engine
