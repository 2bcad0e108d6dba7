"""The SCU section of a machine file: numbers of the Stream Compaction Unit (SCU paper, tables 1 and 2).

Defaults are those that the paper gives for both of its GPUs, or for the GTX 980 where the two differ. What the paper
leaves open is an option here, with our answer as the default and the reason beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from warpsift.machines.bounds import KIB, MAX_PORTS, MIB, PAUSE, entries
from warpsift.machines.ranges import Bounds, powers, range_problems

_REQUESTS = entries(0, 16384, "requests", "the model keeps so many; 0: as many as the FIFO holds")
_TABLE = Bounds(512, 64 * MIB, "bytes", "sets of 16 ways at least; at most an entry for each node of the largest graph")
Life = Literal["persistent", "clear", "epoch"]


class ScuSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One unit."""

    # elements per cycle (table 2: 4 on GTX 980, 1 on TX1)
    width: Annotated[int, Bounds(1, 16, "elements per cycle", "the hardware description is built for up to 16")] = 4
    # Who has the buffers, requests in flight, merge window, open lines and hash ports below: the unit, or each lane of
    # its width. Table 1 is one for widths 1 and 4, while the area grows 3.64-fold (section 6.4): that speaks for lanes.
    resources: Literal["unit", "lane"] = "unit"
    # table 1; shared evenly by the vectors an operation reads
    vector_buffer_bytes: Annotated[
        int, Bounds(1 * KIB, 1 * MIB, "bytes", "the five vectors of an operation need 1024")
    ] = 5 * KIB
    # table 1; divided in scu_buffers.py
    fetch_fifo_bytes: Annotated[
        int, Bounds(1 * KIB, 512 * KIB, "bytes", "a ring of 16 sectors at least, of 8192 requests at most")
    ] = 38 * KIB
    # table 1; line requests of the coalescing unit; 0: as many as the FIFO holds
    inflight_requests: Annotated[int, _REQUESTS] = 32
    # table 1: a read is compared with so many of the newest pending requests
    merge_window: Annotated[int, Bounds(1, 32, "requests", "each is a comparator; the paper has 4")] = 4
    request_bytes: Literal[32, 128] = 32  # what a read asks for: the sectors it needs, or its whole block
    # lines that the Data Store gathers at once; the paper says "simple coalescing"
    store_open_lines: Annotated[int, Bounds(1, 8, "lines", "each is a comparator and a buffer")] = 4
    # crossbar ports of the second coalescing unit (Fig. 8 draws it apart); 0: shares the first's
    hash_ports: Annotated[int, Bounds(0, MAX_PORTS - 2, "ports", "beside an SM and the data port")] = 1
    # from the GPU's end to the first address (spec: 0 to compare with the paper)
    call_overhead_cycles: Annotated[int, PAUSE] = 0

    # Filtering and grouping (table 2; GTX 980)
    # table 1
    hash_buffer_bytes: Annotated[int, Bounds(144, 1 * MIB, "bytes", "two rows of 72 at least, 8192 at most count")] = (
        18 * KIB
    )
    # Probes in flight: 0, as many as the buffer holds (see docs/scu.md for an entry); -1 unlimited; or a number.
    probe_limit: Annotated[int, Bounds(-1, 16384, "probes", "the model keeps 16384; 0: the buffer's, -1: no limit")] = 0
    # How many entries the tables' bytes are: all of them words, or a power of two of entries with their tags. Table 2:
    # 132 KB = 32,768 x 33 bit, 192 KB = 16,384 x 12 bytes, 144 KB = 4,096 x 36 bytes.
    table_entries: Literal["bytes", "tagged"] = "bytes"
    hash_ways: Annotated[int, Bounds(1, 16, "ways", "a set is part of a line", powers(1, 16))] = 16
    bfs_filter_bytes: Annotated[int, _TABLE] = 1 * MIB
    sssp_filter_bytes: Annotated[int, _TABLE] = 3 * MIB // 2
    sssp_group_bytes: Annotated[int, _TABLE] = 6 * MIB // 5
    # section 4.3
    group_elements: Annotated[int, Bounds(1, 8, "elements", "a group is a sector of 32 bytes")] = 8
    grouping: bool = True  # false: the enhanced unit only filters (the baseline of Fig. 12)
    expansion_life: Life = "persistent"  # BFS: only so are visited nodes filtered, as the paper says they are
    other_life: Life = "clear"  # every other table, at the start of each operation
    fit_tables: bool = True  # a cleared table has no more sets than twice the elements need: less to clear
    skip_dropped: bool = True  # masks are skipped a word at a time; false: dropped elements take a slot each
    # Costs of best-cost filtering and old values of the accumulate mode: each takes a slot of the Address Generator and
    # of the FIFO, or is fetched beside its element, in the same slot (algorithm 2 has no operation for them).
    second_operand: Literal["slot", "beside"] = "slot"
    accumulate: Literal["scu", "gpu"] = "scu"  # who adds the source's distance to a weight: Data Store or a kernel
    ideal_hash: bool = False  # probes answer at once and cause no traffic: a bound, not a design

    @property
    def copies(self) -> int:
        """How often the unit has what table 1 lists (scu_buffers.py multiplies)."""
        return self.width if self.resources == "lane" else 1

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have, in this machine if one is given."""
        unit_ports = None if machine is None else machine.noc.unit_ports
        yield from range_problems(self, "scu.")
        each = f" for each of {self.width} lanes" if self.copies > 1 else ""
        for name, most in (("fetch_fifo_bytes", 512 * KIB), ("vector_buffer_bytes", MIB), ("hash_buffer_bytes", MIB)):
            if self.copies > 1 and getattr(self, name) * self.copies > most:
                yield f"scu.{name} = {getattr(self, name)}{each}: write {most // self.width} at most"
        if unit_ports is not None and 1 + self.hash_ports * self.copies > unit_ports:
            needed = f"with the data port, noc.unit_ports must be {1 + self.hash_ports * self.copies} or more"
            yield f"scu.hash_ports = {self.hash_ports}{each}: {needed}"

    def host_bytes(self, machine: Any) -> dict[str, int]:
        """Bytes of the model's tables, by the key that decides: the trace's rings, whatever the spec."""
        return {"scu": 47 << 20}
