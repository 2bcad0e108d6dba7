"""State of the memory fast-forward unit: job entries, work registers, tag units, Line Data (MFF paper, Fig. 7).

One logical unit sits between the interconnect and the memory units; its tags and lines are sliced per memory unit
(an L2 slice with its controller). Everything lives in pools with intrusive links:

    command   a warp-level PC command, from the SM's port until its last word is delivered; while it occupies a job
              entry of an issue engine it holds the threads' C indices and sizes and the count of words to go
    register  one word of one thread: C state (which C entry), then V state (which V word or active bit)
    tag       an outstanding read of a line, or a line of active bits; the registers that wait for it are a list
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, unit_component
from warpsift.engine.core.array_traffic import ARRAYS
from warpsift.engine.core.masks import words_for
from warpsift.hardware import LINE_BYTES, WARP_SIZE
from warpsift.machines.spec import Machine
from warpsift.units.registry import socket_of

SOCKET = socket_of("mff")
NONE = -1
C_STATE, V_STATE = 0, 1
THREADS = WARP_SIZE  # entries of a command
IDEAL_COMMANDS = 1 << 17  # 34 MB of the host's memory; beyond, the run ends with an error that says so

COMMAND = np.dtype(
    [
        ("next", np.int64),  # free list, or list of the engine, or of those that wait for a job entry
        ("scatter", np.int64),
        ("sm", np.int64),
        ("op", np.int64),  # the SM's memory instruction
        ("warp", np.int64),  # SM and warp slot in one number, to tell whose request a tag holds
        ("edges_address", np.int64),  # device address of C
        ("array", np.int64),  # its row of the per-array counters
        ("entries", np.int64),
        ("entry", np.int64),  # the thread whose registers are allocated next
        ("offset", np.int64),  # and how many it has already
        ("words_left", np.int64),  # not sent, or not set
        ("words_under_way", np.int64),  # sent, not yet in the target
        ("completed", np.int64),  # the completion message has arrived
        ("engine", np.int64),
    ],
    align=True,
)
ENGINE = np.dtype(
    [
        ("first", np.int64),
        ("last", np.int64),
        ("jobs", np.int64),
        ("ready", np.int64),  # L2 cycle from which its registers' write port is free again
    ],
    align=True,
)
REGISTER = np.dtype(
    [
        ("next", np.int64),  # Ptr: the next register that waits for the same line
        ("queue", np.int64),  # the next group of registers that waits for a tag lookup
        ("last", np.int64),  # of a group's first register: its last
        ("state", np.int64),
        ("command", np.int64),
        ("lane", np.int64),
        ("a_offset", np.int64),
        ("address", np.int64),  # device address of the word
        ("bits", np.int64),  # scatter, V state: the bits to set in the word
        ("ready", np.int64),  # L2 cycle from which the lookup may take place
    ],
    align=True,
)
TAG = np.dtype(
    [
        ("next", np.int64),  # free list, or hash chain
        ("line", np.int64),
        ("requested", np.int64),  # sectors asked for
        ("arrived", np.int64),
        ("dirty", np.int64),  # sectors with bits set
        ("holds_line", np.int64),  # 1: has a Line Data entry
        ("queued", np.int64),  # 1: in the list of lines to serve
        ("first", np.int64),  # registers
        ("last", np.int64),
        ("serve_next", np.int64),
        ("older", np.int64),  # list of lines that may be evicted
        ("newer", np.int64),
        ("warp", np.int64),  # of the request that allocated it
    ],
    align=True,
)
UNIT = np.dtype(
    [
        ("lookup_first", np.int64),
        ("lookup_last", np.int64),
        ("arrival_first", np.int64),  # packets from the L2
        ("arrival_last", np.int64),
        ("serve_first", np.int64),  # tags with data and registers
        ("serve_last", np.int64),
        ("evict_oldest", np.int64),
        ("evict_newest", np.int64),
        ("message_first", np.int64),  # commands whose completion message waits
        ("message_last", np.int64),
        ("tag_free", np.int64),
        ("tags_used", np.int64),
        ("lines_used", np.int64),
        ("updates_owed", np.int64),  # register updates of a packet of several words, beyond the cycle's share
        ("l2_injected", np.int64),  # L2 cycle of the last packet to the slice: one per cycle
        ("stalled", np.int64),  # what the first lookup or arrival lacks (STALLS), for the watchdog
    ],
    align=True,
)
STALLS = ("nothing", "a tag", "a line of Line Data", "room in the L2 slice", "room in the reply network")
NO_STALL, NO_TAG, NO_LINE_DATA, NO_L2, NO_REPLY = range(5)

COUNTERS = {
    "mff_gather_commands": "warp-level PC_gather commands accepted",
    "mff_scatter_commands": "warp-level PC_scatter_set commands accepted",
    "mff_command_flits": "flits of commands in the request network",
    "mff_reply_flits": "flits of words and completion messages in the reply network",
    "mff_jobs": "job entries allocated",
    "mff_words": "words asked for by all threads: gathered, or bits set",
    "mff_words_sent": "words sent to the cores",
    "mff_completion_messages": "completion messages sent",
    "mff_register_accesses": "reads and writes of work registers",
    "mff_tag_searches": "tag lookups",
    "mff_c_lookups": "of these, for array C (one for all words of a thread in a line)",
    "mff_v_lookups": "of these, for array V or the active list",
    "mff_c_reads": "reads sent to the L2 for array C",
    "mff_v_reads": "reads sent to the L2 for array V",
    "mff_active_reads": "reads sent to the L2 for the active list",
    "mff_hits_same_warp": "lookups that found an outstanding request of the same warp",
    "mff_hits_other_warp": "lookups that found an outstanding request of another warp",
    "mff_hits_resident": "lookups that found a line of active bits in Line Data",
    "mff_line_accesses": "accesses to 32 bytes of Line Data",
    "mff_scatter_bits": "bits set in Line Data",
    "mff_lines_written": "lines of active bits written back",
    "mff_stall_job_cycles": "network cycles in which a command waited for a job entry",
    "mff_stall_register_cycles": "L2 cycles in which an engine waited for work registers",
    "mff_stall_tag_cycles": "unit-cycles in which a lookup waited for a tag",
    "mff_stall_line_cycles": "unit-cycles in which a read waited for Line Data",
    "mff_stall_l2_cycles": "unit-cycles in which a request waited for room in the L2 slice",
    "mff_stall_reply_cycles": "unit-cycles in which a word waited for room in the reply network",
    "mff_job_cycles": "sum over L2 cycles of job entries in use",
    "mff_register_cycles": "sum over L2 cycles of work registers in use",
    "mff_tag_cycles": "sum over L2 cycles of tags in use, all memory units",
    "mff_line_cycles": "sum over L2 cycles of lines in use, all memory units",
    "mff_active_cycles": "L2 cycles with a job in the unit",
    "mff_register_peak": "most work registers in use",
    "mff_tag_peak": "most tags in use in one memory unit",
    "mff_line_peak": "most lines in use in one memory unit",
}
MFF = np.dtype(
    [
        ("units", np.int64),
        ("engines", np.int64),
        ("jobs_per_engine", np.int64),
        ("registers", np.int64),
        ("tags", np.int64),
        ("line_entries", np.int64),
        ("at_issue", np.int64),
        ("whole_line", np.int64),
        ("lookups", np.int64),
        ("updates", np.int64),
        ("allocations", np.int64),  # registers per engine and cycle; 0: a thread's at once
        ("replies", np.int64),
        ("words_per_reply", np.int64),
        ("crossing", np.int64),
        ("hash_mask", np.int64),
        # bound per launch
        ("memory", np.int64),  # host address of device address 0
        ("in_edges", np.int64),  # device addresses, 0 = not bound
        ("out_edges", np.int64),
        ("vertex_values", np.int64),
        ("active_list", np.int64),
        ("active_bits", np.int64),  # 1: a bit per vertex, 0: a byte
        ("values_array", np.int64),  # rows of the per-array counters
        ("active_array", np.int64),
        # state
        ("words", np.int64),  # of a mask of memory units
        ("p_active", np.int64),  # mask of memory units with something to do
        ("engines_active", np.int64),
        ("next_engine", np.int64),
        ("next_port", np.int64),
        ("flushing", np.int64),
        ("jobs_used", np.int64),
        ("registers_used", np.int64),
        ("tags_used", np.int64),
        ("lines_used", np.int64),
        ("commands_used", np.int64),
        ("counted_cycle", np.int64),
        ("register_free", np.int64),
        ("command_free", np.int64),
        ("waiting_first", np.int64),  # commands without a job entry
        ("waiting_last", np.int64),
        ("words_received", np.int64),  # at the cores since the start: the other side of mff_words_sent
        ("messages_received", np.int64),
        ("log_rows", np.int64),  # test mode: capacity of the log of words sent
        ("logged", np.int64),
        ("p_log", np.int64),
        ("p_commands", np.int64),
        ("p_entries", np.int64),
        ("p_engines", np.int64),
        ("p_registers", np.int64),
        ("p_units", np.int64),
        ("p_tags", np.int64),
        ("p_buckets", np.int64),
        ("p_line_bits", np.int64),  # 32 words per tag: the bits set in a line
        *[(name, np.int64) for name in COUNTERS],
    ],
    align=True,
)
mff = unit_component(SOCKET, MFF)
command_row = accessor(COMMAND)
engine_row = accessor(ENGINE)
register_row = accessor(REGISTER)
tag_row = accessor(TAG)
unit_row = accessor(UNIT)


def allocate(arena: Arena, machine: Machine) -> None:
    spec, units = machine.unit("mff"), machine.l2.slices
    M = arena.unit_record("mff", SOCKET, MFF)
    M.units, M.engines, M.jobs_per_engine = units, spec.issue_engines, spec.jobs_per_engine
    M.registers, M.tags, M.line_entries = spec.work_registers, spec.tags_per_memory_unit, spec.lines_per_memory_unit
    M.at_issue, M.whole_line = spec.line_allocation == "issue", spec.fetch_bytes == LINE_BYTES
    M.lookups, M.updates = spec.lookups_of_unit(units), spec.updates_of_unit(units)
    M.allocations, M.replies = spec.allocations_of_engine, spec.replies_per_cycle
    M.words_per_reply, M.crossing = spec.words_per_reply, spec.crossing_cycles
    # Commands in job entries, in the networks' queues, and in front of the unit. An ideal network holds back nobody:
    # a kernel that only scatters then has most of its commands under way at once.
    ports = (machine.sm.count + units) * machine.noc.buffer_flits
    commands = spec.issue_engines * spec.jobs_per_engine + ports + (IDEAL_COMMANDS if machine.ideal.noc else 1024)
    M.p_commands = arena.table("mff.commands", COMMAND, commands)
    _chain(arena.arrays["mff.commands"]["next"])
    M.p_entries = arena.table("mff.entries", np.int64, commands * THREADS)
    M.p_engines = arena.table("mff.engines", ENGINE, spec.issue_engines)
    M.p_registers = arena.table("mff.registers", REGISTER, spec.work_registers)
    _chain(arena.arrays["mff.registers"]["next"])
    M.words = words_for(units)
    M.p_active = arena.table("mff.active", np.int64, words_for(units))
    M.p_units = arena.table("mff.units", UNIT, units)
    M.p_tags = arena.table("mff.tags", TAG, units * M.tags)
    buckets = 1 << int(2 * M.tags - 1).bit_length()
    M.hash_mask = buckets - 1
    M.p_buckets = arena.adopt("mff.buckets", np.full(units * buckets, NONE, np.int64))
    M.p_line_bits = arena.table("mff.line_bits", np.int64, units * M.tags * 32)
    M.waiting_first = M.waiting_last = NONE
    for name in ("first", "last"):
        arena.arrays["mff.engines"][name] = NONE
    rows = arena.arrays["mff.units"]
    for name in UNIT.names or ():
        if name.endswith(("_first", "_last", "est")):
            rows[name] = NONE
    for unit in range(units):
        _chain(arena.arrays["mff.tags"]["next"][unit * M.tags : (unit + 1) * M.tags])


def _chain(links: np.ndarray) -> None:
    """A free list through all rows."""
    links[:] = np.arange(1, links.size + 1)
    links[-1] = NONE


def bind(arena: Arena, binding: Any) -> None:
    """Set the globals for a launch (`binding` is a `FastForward`, or None)."""
    M = arena.arrays["mff"][0]
    M.memory = M.in_edges = M.out_edges = M.vertex_values = M.active_list = 0
    if binding is None:
        return
    M.memory = binding.memory.ctypes.data
    M.in_edges = binding.in_edges.address if binding.in_edges is not None else 0
    M.out_edges = binding.out_edges.address if binding.out_edges is not None else 0
    if binding.values is not None:
        M.vertex_values, M.values_array = binding.values.address, min(binding.values.tag, ARRAYS - 1)
    if binding.active is not None:
        M.active_list, M.active_array = binding.active.address, min(binding.active.tag, ARRAYS - 1)
        M.active_bits = binding.active.itemsize == 4


def log_words(arena: Arena, rows: int) -> np.ndarray:
    """Test mode: record (SM and warp, lane, word number, value) of every word that is sent."""
    M = arena.arrays["mff"][0]
    M.p_log, M.log_rows = arena.table("mff.log", np.int64, 4 * rows), rows
    return arena.arrays["mff.log"].reshape(-1, 4)


def stuck_parts(arrays: Mapping[str, Any]) -> list[str]:
    """What in the unit holds something that does not move, for the watchdog."""
    M = arrays["mff"][0]
    found = []
    if M.commands_used:
        found.append(f"fast-forward unit: {int(M.commands_used)} commands are not finished")
    if M.engines_active:
        free = int(M.registers - M.registers_used)
        found.append(f"fast-forward unit: issue engines wait for work registers ({free} of {int(M.registers)} free)")
    for unit, row in enumerate(arrays["mff.units"]):
        if row.stalled:
            found.append(f"fast-forward unit: memory unit {unit} waits for {STALLS[int(row.stalled)]}")
        elif row.tags_used:
            found.append(f"fast-forward unit: memory unit {unit} waits for {int(row.tags_used)} lines from the L2")
    return found
