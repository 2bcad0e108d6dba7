"""Records of the SCU's timing model: two coalescing units, vector buffers, rings of the trace, and the counters.

The trace (scu_trace.py) comes in chunks; its records are copied into rings, of which the FIFOs of the hardware
are windows: the elements of the Data Fetch FIFO are what lies between the run that is being forwarded and the run that
the Address Generator is at, and the hash request buffer what lies between the probe being evaluated and the newest one
issued.
"""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.arena import Arena, accessor, unit_component
from warpsift.hardware import LINE_BYTES
from warpsift.machines.spec import Machine
from warpsift.units.registry import socket_of
from warpsift.units.scu.scu_buffers import FetchFifo, Resources
from warpsift.units.scu.scu_trace import PROBE, RUN, WRITE

SOCKET = socket_of("scu")
RUNS = 1 << 18  # rings; a chunk is at most 2 x 32 Ki runs, and the FIFO holds less than that
PROBES = 1 << 17
WRITES = 1 << 18
REQUESTS_KEPT = 1 << 14  # more than the FIFO and the hash buffer can wait for
VECTORS = 6
VECTOR_RING = 8192  # lines; as many as the largest vector buffers hold
MOST_PROBES = 8192  # "unlimited"

DATA, HASH = 0, 1  # the two coalescing units
# What a reply is for; the token is number << 3 | this
TO_DATA, TO_HASH, TO_VECTOR, TO_EVICTION, TO_STORE, TO_PROBES, TO_PART, TO_GROUP = 0, 1, 2, 3, 4, 5, 6, 7

# Why a stage stood still
NOTHING, VECTOR, FIFO_FULL, IN_FLIGHT, NETWORK, NO_DATA, STORE_FULL, BUFFER_FULL, NO_REPLY, CLEARING = range(10)

COUNTERS = {
    "scu_operations": "operations completed",
    "scu_cycles": "core cycles from the call of an operation to the last acknowledged write",
    "scu_elements": "elements that reached Bitmask Constructor, Data Store or Filtering/Grouping",
    "scu_addresses": "addresses that the Address Generator put into the FIFO",
    "scu_elements_fetched": "elements that left the FIFO, second operands included",
    "scu_elements_compared": "elements at the Bitmask Constructor",
    "scu_elements_stored": "elements at the Data Store",
    "scu_hash_probes": "probes of the hash table, and sets read when groups are flushed",
    "scu_coalescer_lookups": "runs and probes that the coalescing units compared with pending requests",
    "scu_read_requests": "line requests of the data coalescing unit, vectors not included",
    "scu_reads_merged": "runs that waited on a pending request of the same line",
    "scu_vector_requests": "line requests for mask, index, count, filter and order vectors",
    "scu_write_requests": "line writes of the Data Store",
    "scu_hash_reads": "sets that the hash coalescing unit asked for",
    "scu_hash_reads_merged": "probes whose set was in the request buffer or on its way there",
    "scu_hash_writes": "writes to hash tables",
    "scu_hash_evictions": "reads of evicted groups",
    "scu_cleared_lines": "lines written to clear hash tables",
    "scu_address_busy_cycles": "cycles in which the Address Generator moved on",
    "scu_fetch_busy_cycles": "cycles in which Data Fetch forwarded an element",
    "scu_stall_vector_cycles": "Address Generator: a vector entry had not arrived",
    "scu_stall_fifo_cycles": "Address Generator: the FIFO was full",
    "scu_stall_inflight_cycles": "Address Generator: all requests of the coalescing unit were in flight",
    "scu_stall_network_cycles": "Address Generator: no room in the crossbar",
    "scu_stall_data_cycles": "Data Fetch: the first element's data had not arrived",
    "scu_stall_store_cycles": "Data Fetch: the Data Store waited for the crossbar",
    "scu_stall_buffer_cycles": "Data Fetch: the hash request buffer, or its requests in flight, were used up",
    "scu_stall_clear_cycles": "Data Fetch: the hash table was still being cleared",
    "scu_stall_probe_cycles": "Filtering/Grouping: the first probe's set had not arrived",
    "scu_stall_hash_network_cycles": "Filtering/Grouping: no room in the crossbar",
}

COALESCER = np.dtype(
    [
        ("port", np.int64),  # first of
        ("ports", np.int64),  # so many; a line always takes the same one
        ("window", np.int64),
        ("limit", np.int64),  # requests in flight
        ("issued", np.int64),  # serial number of the next request
        ("in_flight", np.int64),
        ("p_requests", np.int64),
        ("reply_kind", np.int64),
    ],
    align=True,
)
REQUEST = np.dtype(
    [
        ("line", np.int64),
        ("sectors", np.int64),
        ("left", np.int64),
        ("place", np.int64),  # of its first sector in Data Fetch's ring
    ],
    align=True,
)
VECTOR_ROW = np.dtype(
    [
        ("first_line", np.int64),
        ("lines", np.int64),
        ("bits", np.int64),
        ("bit_offset", np.int64),
        ("end_bit", np.int64),
        ("by", np.int64),
        ("ahead", np.int64),  # entries that the Address Generator's stages hold beyond the present one
        ("requested", np.int64),
        ("arrived", np.int64),  # in order
        ("consumed", np.int64),
        ("p_left", np.int64),  # ring: sectors still on the way
    ],
    align=True,
)
_CONFIGURATION = [
    "width",
    "fifo_rows",
    "ring_sectors",
    "window_sectors",  # of the ring, at most, for requests that may still be merged with
    "open_lines",
    "evicted_groups",  # that may be under way, or wait to be placed
    "whole_lines",
    "ideal_hash",
    "stations",  # 1: hash tables are probed at the L2 slices (slice_station.py)
    "p_coalescers",
    "p_vectors",
    "p_runs",
    "p_run_request",
    "p_run_second",  # the request of its second operands, where they are fetched beside it
    "p_run_free",  # up to this place the ring is not needed once the run's first element has gone
    "row_mask",
    "p_row_end",  # ring: elements that have gone into the FIFO up to the end of a row
    "p_writes",
    "p_probes",
    "p_probe_request",
    "p_probe_passed",  # 1: a later probe uses the same copy of the set
    "p_evictions",  # ring: groups << 4 | sectors still on the way
]
# Set to 0 when an operation begins.
PER_OPERATION = [
    "follows",  # whose progress releases writes
    "compares",
    "vectors",
    "vector_share",  # lines of the buffer for each
    "first_request",  # serial number of the operation's first: earlier ones are not merged with
    "final",  # 1: the whole trace is in the rings
    "done",
    "awake",  # 1: a tick may find something to do
    "run_tail",
    "write_tail",
    "probe_tail",
    "clear_line",
    "clear_lines",
    "cleared",
    # Address Generator
    "address_run",
    "address_begun",
    "address_requested",
    "slots_left",
    "elements_left",
    "address_outputs",
    "addressed",  # elements that went into the FIFO
    "row_open",  # 1: elements of this cycle may still join the last row
    "row_operands",  # 1: they are second operands
    "row_asks",  # 1: an element of that row made a request
    "row_tail",
    "ring_tail",
    # Data Fetch
    "head_run",
    "head_done",
    "fetched",  # elements that left the FIFO
    "row_head",
    "ring_free",
    "outputs",
    # Filtering/Grouping
    "probes_issued",
    "probes_evaluated",
    "probe_rows",  # probes that can wait
    "probe_entries",  # sets that the request buffer can hold
    "probe_rate",  # probes taken in, and evaluated, per cycle
    "probes_taken",  # in this cycle
    "sets_held",
    "hash_step",
    "evictions_sent",
    "evictions_read",  # in order
    "evictions_placed",  # all writes that they caused are sent
    "groups_held",  # sectors of evictions under way, or waiting to be placed
    # Data Store
    "write_head",
    "writes_pending",
    # a read found no room in its port in the last tick: it goes before any write
    "data_waits",
    "store_waits",  # 1: a complete line waits for the crossbar
    "hash_waits",
    # why each stage stood still in the last tick
    "address_cause",
    "fetch_cause",
    "hash_cause",
]
SCU = np.dtype([(name, np.int64) for name in (*_CONFIGURATION, *PER_OPERATION, *COUNTERS)], align=True)
scu = unit_component(SOCKET, SCU)
coalescer = accessor(COALESCER)
request_row = accessor(REQUEST)
vector_row = accessor(VECTOR_ROW)
run_row = accessor(RUN)
write_row = accessor(WRITE)
probe_row = accessor(PROBE)


def allocate(arena: Arena, machine: Machine, first_port: int) -> None:
    spec = machine.unit("scu")
    U = arena.unit_record("scu", SOCKET, SCU)
    has, fifo = Resources.of(spec), FetchFifo.of(spec)
    U.width, U.open_lines, U.evicted_groups = spec.width, has.open_lines, has.evicted_groups
    U.fifo_rows = fifo.rows + 1  # one waits outside, in registers, for its sectors
    U.ring_sectors, U.window_sectors = fifo.ring_sectors, fifo.window_sectors
    rows = 1 << int(U.fifo_rows).bit_length()
    U.row_mask, U.p_row_end = rows - 1, arena.table("scu.row_end", np.int64, rows)
    U.whole_lines, U.ideal_hash = spec.request_bytes == LINE_BYTES, spec.ideal_hash
    U.p_coalescers = arena.table("scu.coalescers", COALESCER, 2)
    ports = ((0, 1), (1, has.hash_ports) if has.hash_ports else (0, 1))
    limits = (has.inflight_requests or REQUESTS_KEPT, has.probe_limit if has.probe_limit > 0 else REQUESTS_KEPT)
    for unit in (DATA, HASH):
        row = arena.arrays["scu.coalescers"][unit]
        row.port, row.ports = first_port + ports[unit][0], ports[unit][1]
        row.limit, row.window = limits[unit], has.merge_window
        row.reply_kind = TO_DATA if unit == DATA else TO_HASH
        row.p_requests = arena.table(f"scu.requests{unit}", REQUEST, REQUESTS_KEPT)
    U.p_vectors = arena.table("scu.vectors", VECTOR_ROW, VECTORS)
    for index in range(VECTORS):
        arena.arrays["scu.vectors"][index].p_left = arena.table(f"scu.vector{index}", np.int64, VECTOR_RING)
    U.p_runs = arena.table("scu.runs", RUN, RUNS)
    U.p_run_request = arena.table("scu.run_request", np.int64, RUNS)
    U.p_run_second = arena.table("scu.run_second", np.int64, RUNS)
    U.p_run_free = arena.table("scu.run_free", np.int64, RUNS)
    U.p_writes = arena.table("scu.writes", WRITE, WRITES)
    U.p_probes = arena.table("scu.probes", PROBE, PROBES)
    U.p_probe_request = arena.table("scu.probe_request", np.int64, PROBES)
    U.p_probe_passed = arena.table("scu.probe_passed", np.int64, PROBES)
    U.p_evictions = arena.table("scu.evictions", np.int64, PROBES)
