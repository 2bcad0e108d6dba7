"""How much of the host's memory the model of a machine takes, estimated before any of it is taken.

Bytes per row are those of the engine's records, rounded up; a test compares with what an engine really allocates.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from warpsift.hardware import LINE_BYTES
from warpsift.machines.dram_spec import most_requests
from warpsift.machines.spec import Machine

DEFAULT_MAX_BYTES = 2 << 30  # the stock machines take 60 to 90 MB
LIMIT_VARIABLE = "WARPSIFT_MAX_MACHINE_BYTES"

FIXED_BYTES = 8 << 20  # pools of packets and events
LINE_ROW = 8 + 16  # tag and state


def table_bytes(m: Machine) -> dict[str, int]:
    """Bytes of the tables that grow with a machine's keys, by the keys that decide."""
    sm, l1, l2, noc, dram = m.sm, m.l1, m.l2, m.noc, m.dram
    pipeline = 2 * (l2.latency_cycles + l2.queue_entries + noc.hop_latency_cycles + 64)
    requests = most_requests(dram) + dram.banks * dram.ranks * (dram.bank_queue_entries + 1)
    ports = sm.count + noc.unit_ports + l2.slices
    return {
        "l1.size_bytes": sm.count * l1.size_bytes // LINE_BYTES * LINE_ROW,
        "l1.mshrs x l1.mshr_merges": sm.count * l1.mshrs * (16 + 8 * l1.mshr_merges),
        "l2.size_bytes": l2.size_bytes // LINE_BYTES * LINE_ROW,
        "l2.written_sectors": l2.size_bytes // LINE_BYTES * 8 if l2.written_sectors == "masked" else 0,
        "l2.mshrs": l2.slices * l2.mshrs * 20,
        "l2.queue_entries": l2.slices * (pipeline if not m.ideal.noc else 1 << 16) * 2 * 8,
        "l2.dram_queue_entries": l2.slices * l2.dram_queue_entries * 2 * (16 if l2.writeback == "line" else 24),
        "noc.buffer_flits": ports * (noc.buffer_flits + l2.reply_queue_entries) * 2 * 8,
        "noc.output_buffer_flits": l2.slices * noc.output_buffer_flits * 2 * 8,
        "dram.queue_entries": dram.channels * requests * 19 * 8,
        "sm.count": sm.count * (2049 * 130 + 65 * 17 * 8 + 64 * 300),
        **{key: size for spec in m.units.values() for key, size in spec.host_bytes(m).items()},
    }


def machine_bytes(m: Machine) -> int:
    """An estimate of the host's memory that an engine for this machine takes."""
    return FIXED_BYTES + sum(table_bytes(m).values())


def byte_limit() -> int:
    """The most that a machine may take."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    return int(text) if text.isdecimal() and len(text) < 20 else DEFAULT_MAX_BYTES


def memory_problems(m: Machine) -> Iterator[str]:
    """Why a machine is too large for the model, if it is."""
    needed, limit = machine_bytes(m), byte_limit()
    if needed > limit:
        key, most = max(table_bytes(m).items(), key=lambda item: item[1])
        yield (
            f"the model would take {_size(needed)} of memory, most of it ({_size(most)}) for {key}; write less there, "
            f"or allow more than {_size(limit)} with {LIMIT_VARIABLE}"
        )


def _size(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
