"""The `[mff]` section of a machine file: a memory fast-forward unit between the interconnect and the memory units.

Defaults are the configuration of the MFF paper, section 6.1, for its GTX 480; the other machines have the same unit,
with tags and lines for each of their own L2 slices. What the paper leaves open is an option here, with our answer as
the default and the reason beside it. Cycles are L2 clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from warpsift.machines.bounds import LATENCY_OR_MORE, entries
from warpsift.machines.ranges import Bounds, range_problems

COMMAND_BYTES = 32 * 38 // 8  # C index and size, 38 bits, of 32 threads (mff_command.py)
COMMAND_ROW = 14 * 8 + 32 * 8  # of the model: a command and its threads' entries
IDEAL_COMMANDS = 1 << 17  # an ideal network holds back nobody
_PORTS = Bounds(1, 64, "per cycle", "ports of one structure; more than some are not built")


class MffSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One unit; tags and lines are those of each memory unit (L2 slice)."""

    # section 6.1
    issue_engines: Annotated[int, Bounds(1, 64, "engines", "they are the bits of one 64-bit word")] = 32
    jobs_per_engine: Annotated[int, entries(1, 4096, "jobs")] = 8  # section 6.1
    work_registers: Annotated[int, entries(1, 1 << 20, "registers")] = 8192  # section 6.1
    tags_per_memory_unit: Annotated[int, entries(1, 65536, "tags")] = 256  # section 6.1
    lines_per_memory_unit: Annotated[int, entries(1, 65536, "lines")] = 20  # section 6.1
    line_allocation: Literal["fill", "issue"] = "fill"  # 20 lines for 256 tags: a line per outstanding read is too few
    fetch_bytes: Literal[32, 128] = 128  # what a tag miss reads; the paper's Line Data holds cache blocks of 128 bytes
    # Left open by the paper; one port of each structure per memory unit is the least. `ports`: whose the lookups and
    # updates are. "engine": each Issue Engine has a bank of registers with a read and a write port (8192 = 32 x 256),
    # so it allocates and updates so many per clock; the memory units share these updates evenly, and look up as many,
    # since a register's request is issued "as soon as the register becomes V state" (section 5).
    ports: Literal["memory_unit", "engine"] = "memory_unit"
    lookups_per_cycle: Annotated[int, _PORTS] = 1
    updates_per_cycle: Annotated[int, _PORTS] = 1
    replies_per_cycle: Annotated[int, _PORTS] = 1
    # words of one line and warp that may share a packet; the paper sends them one by one
    words_per_reply: Annotated[int, Bounds(1, 32, "words", "a line of 128 bytes has 32")] = 1
    # from a register's update to the tag unit of another memory unit
    crossing_cycles: Annotated[int, LATENCY_OR_MORE] = 1

    def updates_of_unit(self, memory_units: int) -> int:
        """Registers that one memory unit updates in a clock."""
        if self.ports == "memory_unit":
            return self.updates_per_cycle
        return max(1, self.issue_engines * self.updates_per_cycle // memory_units)

    def lookups_of_unit(self, memory_units: int) -> int:
        """Tag lookups that one memory unit makes in a clock."""
        if self.ports == "memory_unit":
            return self.lookups_per_cycle
        return max(1, self.issue_engines * self.lookups_per_cycle // memory_units)

    @property
    def allocations_of_engine(self) -> int:
        """Registers that an issue engine allocates in a clock; 0: all of one thread in one line of C."""
        return 0 if self.ports == "memory_unit" else self.updates_per_cycle

    def problems(self, machine: Any = None) -> Iterator[str]:
        """Texts of what no hardware could have, in this machine if one is given."""
        yield from range_problems(self, "mff.")
        if machine is None:
            return
        noc = machine.noc
        command = -(-(noc.header_bytes + COMMAND_BYTES) // noc.flit_bytes)
        if noc.buffer_flits < command:
            yield f"noc.buffer_flits = {noc.buffer_flits} cannot hold a fast-forward command of {command} flits"
        words = self.words_per_reply  # each after the first with 10 bits of its own (mff_words.py)
        reply = -(-(noc.header_bytes + 4 * words + (10 * (words - 1) + 7) // 8) // noc.flit_bytes)
        room = noc.buffer_flits + machine.l2.reply_queue_entries
        if room < reply:
            yield f"mff.words_per_reply = {words}: {reply} flits do not fit the {room} of the reply network"

    def host_bytes(self, machine: Any) -> dict[str, int]:
        """Bytes of the model's tables, by the key that decides."""
        commands = self.issue_engines * self.jobs_per_engine
        commands += (machine.sm.count + machine.l2.slices) * machine.noc.buffer_flits
        commands += IDEAL_COMMANDS if machine.ideal.noc else 1024
        return {
            "mff.jobs_per_engine": commands * COMMAND_ROW,
            "mff.work_registers": self.work_registers * 10 * 8,
            "mff.tags_per_memory_unit": machine.l2.slices * self.tags_per_memory_unit * (13 + 32 + 4) * 8,
        }
