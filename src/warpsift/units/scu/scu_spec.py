"""The SCU section of a machine file: numbers of the Stream Compaction Unit (SCU paper, tables 1 and 2).

Defaults are those that the paper gives for both of its GPUs, or for the GTX 980 where the two differ. What the paper
leaves open is an option here, with our answer as the default and the reason beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

KIB = 1024
MIB = 1024 * KIB
Life = Literal["persistent", "clear", "epoch"]


class ScuSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One unit."""

    width: int = 4  # elements per cycle (table 2: 4 on GTX 980, 1 on TX1)
    vector_buffer_bytes: int = 5 * KIB  # table 1; shared evenly by the vectors an operation reads
    fetch_fifo_bytes: int = 38 * KIB  # table 1; divided in scu_buffers.py
    inflight_requests: int = 32  # table 1; line requests of the coalescing unit; 0: as many as the FIFO holds
    merge_window: int = 4  # table 1: a read is compared with so many of the newest pending requests
    request_bytes: Literal[32, 128] = 32  # what a read asks for: the sectors it needs, or its whole block
    store_open_lines: int = 4  # lines that the Data Store gathers at once; the paper says "simple coalescing"
    hash_ports: int = 1  # crossbar ports of the second coalescing unit (Fig. 8 draws it apart); 0: shares the first's
    call_overhead_cycles: int = 0  # from the GPU's end to the first address (spec: 0 to compare with the paper)

    # Filtering and grouping (table 2; GTX 980)
    hash_buffer_bytes: int = 18 * KIB  # table 1
    # Probes in flight: 0, as many as the buffer holds (see docs/scu.md for an entry); -1 unlimited; or a number.
    probe_limit: int = 0
    hash_ways: int = 16
    bfs_filter_bytes: int = 1 * MIB
    sssp_filter_bytes: int = 3 * MIB // 2
    sssp_group_bytes: int = 6 * MIB // 5
    group_elements: int = 8  # section 4.3
    grouping: bool = True  # false: the enhanced unit only filters (the baseline of Fig. 12)
    expansion_life: Life = "persistent"  # BFS: only so are visited nodes filtered, as the paper says they are
    other_life: Life = "clear"  # every other table, at the start of each operation
    fit_tables: bool = True  # a cleared table has no more sets than twice the elements need: less to clear
    skip_dropped: bool = True  # masks are skipped a word at a time; false: dropped elements take a slot each
    accumulate: Literal["scu", "gpu"] = "scu"  # who adds the source's distance to a weight: Data Store or a kernel
    ideal_hash: bool = False  # probes answer at once and cause no traffic: a bound, not a design

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have, in this machine if one is given."""
        unit_ports = None if machine is None else machine.noc.unit_ports
        if not 1 <= self.width <= 16:
            yield f"scu.width = {self.width} must lie between 1 and 16 elements per cycle"
        if self.hash_ways not in (1, 2, 4, 8, 16):
            yield f"scu.hash_ways = {self.hash_ways} must be 1, 2, 4, 8 or 16"
        if not 1 <= self.group_elements <= 8:
            yield f"scu.group_elements = {self.group_elements} must lie between 1 and 8"
        if self.hash_ports < 0:
            yield f"scu.hash_ports = {self.hash_ports} must be at least 0"
        if unit_ports is not None and 1 + self.hash_ports > unit_ports:
            needed = 1 + self.hash_ports
            yield f"scu.hash_ports = {self.hash_ports}: with the data port, noc.unit_ports must be {needed} or more"
        if not 1 <= self.store_open_lines <= 8:
            yield f"scu.store_open_lines = {self.store_open_lines} must lie between 1 and 8"
        if not 1 <= self.merge_window <= 32:
            yield f"scu.merge_window = {self.merge_window} must lie between 1 and 32"
        if self.fetch_fifo_bytes < 1 * KIB:
            yield f"scu.fetch_fifo_bytes = {self.fetch_fifo_bytes}: a ring of 16 sectors and rows of elements need 1024"
        if self.vector_buffer_bytes < 1 * KIB:
            yield f"scu.vector_buffer_bytes = {self.vector_buffer_bytes}: the five vectors of an operation need 1024"
        for key in ("inflight_requests", "call_overhead_cycles"):
            if getattr(self, key) < 0:
                yield f"scu.{key} = {getattr(self, key)} must be at least 0"
        if self.probe_limit < -1:
            yield f"scu.probe_limit = {self.probe_limit}: 0 is the buffer's size, -1 unlimited, else a number of probes"
        for key in ("bfs_filter_bytes", "sssp_filter_bytes", "sssp_group_bytes"):
            if getattr(self, key) < 512:
                yield f"scu.{key} = {getattr(self, key)} holds no set of {self.hash_ways} ways"
