"""What an SM consists of: warps, schedulers, CTAs, memory instructions in flight, and the chunks of the stream."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import HOST_LINE_BYTES, Arena, accessor, component
from warpsift.engine.core.division import shift_of
from warpsift.engine.core.masks import words_for
from warpsift.engine.core.settings import SETTING
from warpsift.engine.sm.alu_timing import PIPES
from warpsift.hardware import WARP_SIZE
from warpsift.machines.spec import Machine
from warpsift.simt.stream import OP, SLOTS

# Rows of the tables per SM. Odd where a row is a line of the host's cache: the first rows of all SMs, which are used
# most, would otherwise fall into the same set of it.
WARPS = 65  # 64 at most are resident
CTAS = 64
MEMORY_OPS = 2049  # memory instructions in flight per SM; more wait in front of the load-store queue

# States of a warp.
EMPTY, READY, DELAYED, BLOCKED, AT_BARRIER, LSU_FULL, FINISHED = range(7)
# Causes of an idle scheduler.
NO_WARP, WAIT_ALU, WAIT_MEMORY, WAIT_SHARED, WAIT_BARRIER, WAIT_LSU = range(6)
CAUSES = ("no_warp", "alu", "memory", "shared", "barrier", "lsu")

WARP = np.dtype(
    [
        ("p_ops", np.int64),
        ("p_transactions", np.int64),
        ("p_commands", np.int64),
        ("age", np.int64),
        ("pc", np.int32),
        ("end", np.int32),
        ("wait", np.int32),  # slots that the next instruction needs free
        ("busy", np.int32),  # slots in flight
        ("shared_slots", np.int32),  # of these, last used by a shared-memory access
        ("atomic_slots", np.int32),  # slots of atomics that block the warp (machines with atomics_block_warp)
        ("outstanding", np.int32),  # memory instructions that keep the warp alive
        ("cta", np.int16),
        ("state", np.int8),
        ("cause", np.int8),
    ],
    align=True,
)
assert WARP.itemsize == HOST_LINE_BYTES
SCHEDULER = np.dtype(
    [
        ("ready", np.int64),  # mask of warp slots
        ("last", np.int64),  # slot that issued last
        ("busy_until", np.int64),  # core cycle from which the issue port is free
    ],
    align=True,
)
CTA = np.dtype(
    [
        ("warps", np.int64),  # resident and not finished
        ("arrived", np.int64),
        ("at_barrier", np.int64),  # mask of warp slots
        ("chunk", np.int64),
        ("threads", np.int64),
        ("shared_bytes", np.int64),
        ("registers", np.int64),
    ],
    align=True,
)
SM = np.dtype(
    [
        ("next_time", np.int64),  # core cycle of the next possible issue
        ("free_warps", np.int64),  # masks
        ("free_ctas", np.int64),
        ("threads_free", np.int64),
        ("shared_free", np.int64),
        ("registers_free", np.int64),
        ("ctas_resident", np.int64),
        ("warps_resident", np.int64),
        ("warps_since", np.int64),  # for the occupancy integral
        ("warp_cycles", np.int64),  # sum over cycles of resident warps
        ("active_cycles", np.int64),  # cycles with at least one of them
        ("lsu_waiting", np.int64),  # warps that found the load-store queue full
        ("p_lsu_ring", np.int64),
        ("lsu_head", np.int64),
        ("lsu_tail", np.int64),
        ("lsu_next", np.int64),  # core cycle of the next access
        ("lsu_started", np.int64),  # core cycle of the first instruction's first access, 0 = none yet
        ("lsu_woken", np.int64),  # warp that last found room again
        ("lsu_blocked", np.int64),  # reason, 0 = not
        ("lsu_blocked_since", np.int64),
        ("lsu_ahead", np.int64),  # instructions from the head on that are wholly in the pipeline in front of the tags
        ("pipeline_used", np.int64),  # accesses in that pipeline which the tags have not seen ...
        ("pipeline_cursor", np.int64),  # ... and how far the instruction behind those has been put into it
        ("op_free", np.int64),  # free list of memory instructions
        ("ops_in_flight", np.int64),
        ("instructions", np.int64),  # warp instructions issued
    ],
    align=True,
)
# A memory instruction from issue until its last reply.
MEMORY_OP = np.dtype(
    [
        ("p_transactions", np.int64),
        ("cursor", np.int64),
        ("end", np.int64),
        ("done_at", np.int64),  # the latest hit returns then
        ("start", np.int64),  # core cycle of issue
        ("next", np.int32),
        ("remaining", np.int32),  # replies or fills still to come
        ("passes", np.int32),
        ("warp", np.int16),
        ("slot", np.int16),
        ("array", np.int16),
        ("repeats_left", np.int16),
        ("kind", np.int8),
        ("sectors_left", np.uint8),  # of the present transaction, not sent yet
        ("issued", np.int8),  # 1: all transactions are through
        ("keeps_warp", np.int8),  # 1: the warp may not end before it
    ],
    align=True,
)
assert MEMORY_OP.itemsize == HOST_LINE_BYTES
IN_FLIGHT = np.dtype([("count", np.int16)])  # instructions in flight of one scoreboard slot
CHUNK = np.dtype(
    [
        ("p_ops", np.int64),
        ("p_warp_first", np.int64),
        ("p_transactions", np.int64),
        ("p_commands", np.int64),
        ("p_alu_runs", np.int64),  # rows of AluTimes.table
        ("ctas", np.int64),
        ("next_cta", np.int64),  # first not dispatched
        ("live_ctas", np.int64),
    ],
    align=True,
)
SLOT_ROWS = SLOTS + 1  # the last one is for atomics whose result is unused but awaited
UNUSED_RESULT = SLOTS
CHUNKS = 4096  # live chunks; more CTAs than this are never resident

COUNTERS = {
    "warp_instructions": "warp instructions issued, all kinds",
    "thread_instructions": "the same, times active lanes",
    "alu_instructions": "warp instructions of the ALUs",
    "float_instructions": "of these, floating point",
    "load_instructions": "global loads",
    "store_instructions": "global stores",
    "atomic_instructions": "global atomics",
    "shared_instructions": "shared-memory accesses",
    "barrier_instructions": "barriers, per warp",
    "unit_instructions": "commands to the memory fast-forward unit",
    "shared_passes": "passes through the shared-memory banks",
    "ctas_dispatched": "CTAs started",
    "ctas_completed": "CTAs finished",
    "issue_cycles": "scheduler-cycles in which an instruction was issued",
    "stall_no_warp_cycles": "scheduler-cycles without a warp to run",
    "stall_alu_cycles": "scheduler-cycles ended by the result of an ALU chain",
    "stall_memory_cycles": "scheduler-cycles ended by the return of global memory",
    "stall_shared_cycles": "scheduler-cycles ended by the return of shared memory",
    "stall_barrier_cycles": "scheduler-cycles ended by a barrier",
    "stall_lsu_cycles": "scheduler-cycles ended by room in the load-store queue (L1 and network back-pressure)",
    "load_latency_cycles": "sum over global loads, issue to last data",
    "loads_completed": "global loads whose data has come",
}
SMS = np.dtype(
    [
        ("sms", SETTING),
        ("schedulers", SETTING),
        ("schedulers_shift", SETTING),  # division.shift_of
        ("lrr", SETTING),
        ("issue_cycles_per_instruction", SETTING),
        ("alu_latency", SETTING),
        ("alu_classes", SETTING),  # 1: runs of ALU instructions are timed by their programs
        ("alu_columns", SETTING),  # of AluTimes.table: 2, or with pipes
        ("p_pipes", np.int64),  # core cycle from which each pipe of each scheduler is free
        ("shared_latency", SETTING),
        ("lsu_latency", SETTING),
        ("lsu_queue", SETTING),
        ("lsu_ring_mask", SETTING),
        ("lsu_in_turn", SETTING),
        ("lsu_cycles", SETTING),  # of an instruction, at least
        ("pipeline_lines", SETTING),
        ("cta_start", np.int64),
        ("waits_for_stores", SETTING),
        ("atomics_block", SETTING),
        ("words", SETTING),  # of a mask of SMs
        ("p_issue_active", np.int64),  # masks: SMs with a warp that may issue
        ("p_lsu_active", np.int64),  # SMs whose load-store unit has something to do
        ("p_room", np.int64),  # SMs that may take a CTA of the present launch
        ("age", np.int64),
        ("live_ctas", np.int64),
        ("p_sms", np.int64),
        ("p_warps", np.int64),
        ("p_schedulers", np.int64),
        ("p_ctas", np.int64),
        ("p_slots", np.int64),  # instructions in flight per scoreboard slot
        ("p_memory_ops", np.int64),
        ("p_chunks", np.int64),
        ("p_chunk_queue", np.int64),  # ring of chunk rows in dispatch order
        ("chunk_head", np.int64),
        ("chunk_tail", np.int64),
        ("threads_per_cta", np.int64),
        ("warps_per_cta", np.int64),
        ("shared_per_cta", np.int64),
        ("registers_per_cta", np.int64),
        ("next_sm", np.int64),
        ("dispatch_cycle", np.int64),  # the last cycle of dispatch ...
        ("p_dispatched", np.int64),  # ... and the SMs that have got a CTA in it
        ("p_candidates", np.int64),  # SMs that dispatch has yet to look at in this cycle
        ("lines_taken", np.int64),  # line transactions and command words that load-store units have taken
        *[(name, np.int64) for name in COUNTERS],
    ],
    align=True,
)
sms = component("sm", SMS)
sm_row = accessor(SM)
warp_row = accessor(WARP)
scheduler_row = accessor(SCHEDULER)
cta_row = accessor(CTA)
memory_op = accessor(MEMORY_OP)
chunk_row = accessor(CHUNK)
op_row = accessor(OP)
slot_row = accessor(IN_FLIGHT)


def allocate(arena: Arena, machine: Machine) -> None:
    spec = machine.sm
    C = arena.record("sm", SMS)
    C.sms, C.schedulers, C.lrr = spec.count, spec.schedulers, spec.policy == "lrr"
    C.issue_cycles_per_instruction = WARP_SIZE // spec.lanes_per_scheduler
    C.alu_latency, C.shared_latency = spec.alu_latency_cycles, spec.shared_latency_cycles
    C.alu_classes, C.alu_columns = spec.alu_by_class, 2 + 2 * PIPES if spec.pipes == 2 else 2
    C.p_pipes = arena.table("sm.pipes", np.int64, spec.count * spec.schedulers * PIPES)
    C.lsu_latency, C.lsu_queue = spec.lsu_latency_cycles, spec.lsu_queue_entries
    C.lsu_in_turn, C.lsu_cycles = spec.lsu_wakes == "next", WARP_SIZE // spec.lsu_lanes
    C.pipeline_lines = machine.l1.pipeline_lines if machine.l1.cached_loads else 0
    ring = 1 << (spec.lsu_queue_entries + machine.l1.pipeline_lines - 1).bit_length()
    C.lsu_ring_mask = ring - 1
    C.cta_start = spec.cta_start_cycles
    C.waits_for_stores, C.atomics_block = spec.cta_waits_for_stores, spec.atomics_block_warp
    C.words = words_for(spec.count)
    for mask in ("issue_active", "lsu_active", "room", "dispatched", "candidates"):
        C[f"p_{mask}"] = arena.table(f"sm.{mask}", np.int64, words_for(spec.count))
    C.p_sms = arena.table("sms", SM, spec.count)
    C.p_warps = arena.table("sm.warps", WARP, spec.count * WARPS)
    C.schedulers_shift = shift_of(spec.schedulers)
    C.p_schedulers = arena.table("sm.schedulers", SCHEDULER, spec.count * spec.schedulers)
    C.p_ctas = arena.table("sm.ctas", CTA, spec.count * CTAS)
    C.p_slots = arena.table("sm.slots", IN_FLIGHT, spec.count * WARPS * SLOT_ROWS)
    C.p_memory_ops = arena.table("sm.memory_ops", MEMORY_OP, spec.count * MEMORY_OPS)
    C.p_chunks = arena.table("sm.chunks", CHUNK, CHUNKS)
    C.p_chunk_queue = arena.table("sm.chunk_queue", np.int64, CHUNKS)
    for index in range(spec.count):
        M = arena.arrays["sms"][index]
        M.free_warps = np.int64(-1) if spec.warps == 64 else (1 << spec.warps) - 1
        M.free_ctas = np.int64(-1) if spec.ctas == 64 else (1 << spec.ctas) - 1
        M.threads_free, M.shared_free, M.registers_free = spec.threads, spec.shared_bytes, spec.registers
        M.p_lsu_ring = arena.table(f"sm.lsu_ring{index}", np.int64, ring)
        ops = arena.arrays["sm.memory_ops"][index * MEMORY_OPS : (index + 1) * MEMORY_OPS]
        ops["next"] = np.append(np.arange(1, MEMORY_OPS), -1)
