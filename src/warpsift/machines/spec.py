"""The typed description of a modelled GPU: what a machine file may say, with defaults where one is universal.

Cycles are core clocks unless the name says otherwise. Structs are immutable; `Machine.check` refuses geometries
that no hardware could have, naming the key.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from warpsift.errors import WarpsiftError
from warpsift.machines.alu_spec import Alu
from warpsift.machines.bounds import (
    CLOCK,
    GIB,
    LATENCY,
    LATENCY_OR_MORE,
    MAX_PORTS,
    MAX_WARPS_PER_SM,
    MIB,
    PAUSE,
    entries,
)
from warpsift.machines.dram_spec import Dram
from warpsift.machines.ranges import Bounds, Letters, powers, shown
from warpsift.machines.unit_sections import default_specs


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all sections of a machine file."""


class Clocks(Section, frozen=True, kw_only=True):
    core_mhz: Annotated[float, CLOCK]
    noc_mhz: Annotated[float, CLOCK]
    l2_mhz: Annotated[float, CLOCK]


class Sm(Section, frozen=True, kw_only=True):
    """A streaming multiprocessor."""

    count: Annotated[
        int, Bounds(1, MAX_PORTS - 1, "SMs", "each is a port of the crossbar, and a special unit may need one")
    ]
    # resident at most
    warps: Annotated[int, Bounds(1, MAX_WARPS_PER_SM, "warps", "the warps of an SM are the bits of one 64-bit word")]
    threads: Annotated[int, Bounds(32, 32 * MAX_WARPS_PER_SM, "threads", "a CTA is at least one warp of 32")]
    ctas: Annotated[int, Bounds(1, 64, "CTAs", "the CTAs of an SM are the bits of one 64-bit word")]
    shared_bytes: Annotated[int, Bounds(0, 1 * MIB, "bytes", "per SM; today's largest have 228 KiB")]
    # 32-bit registers; 0: CTAs are not limited by them. Only traces say how many a thread needs.
    registers: Annotated[int, Bounds(0, 1 * MIB, "registers", "per SM; today's have 65536")] = 0
    schedulers: Annotated[int, Bounds(1, MAX_WARPS_PER_SM, "schedulers", "each needs a warp of its own")]
    policy: Literal["gto", "lrr"] = "gto"  # greedy then oldest; loose round robin
    # fewer than 32: an instruction occupies the issue port for several cycles
    lanes_per_scheduler: Annotated[int, Bounds(1, 32, "lanes", "they must divide the warp of 32", powers(1, 32))] = 32
    # 2: integers and floating point have lanes of their own, and the port issues in every cycle (with alu_by_class)
    pipes: Literal[1, 2] = 1
    alu_latency_cycles: Annotated[int, LATENCY_OR_MORE]  # issue of an ALU instruction to issue of one that needs it
    alu_by_class: bool = False  # ... or, if true, the classes of [sm.alu], each with its own latency and rate
    alu: Alu = Alu()
    shared_latency_cycles: Annotated[int, LATENCY]
    lsu_latency_cycles: Annotated[int, LATENCY]  # issue to L1 plus write-back, on top of what the memory takes
    lsu_queue_entries: Annotated[int, entries(1, 1024)] = 4  # memory instructions between issue and L1
    lsu_wakes: Literal["oldest", "next"] = "oldest"  # of the warps that found no room there: the oldest, or in turn
    # lanes of the load-store unit: an instruction of a full warp takes 32 over this many cycles at least
    lsu_lanes: Annotated[int, Bounds(1, 32, "lanes", "they must divide the warp of 32", powers(1, 32))] = 32
    # from the place of a CTA being free to the first instruction of the next one there
    cta_start_cycles: Annotated[int, LATENCY] = 0
    cta_waits_for_stores: bool = True  # a CTA leaves only when its stores are acknowledged
    atomics_block_warp: bool = False  # a warp issues nothing while an atomic of its own is under way


class L1(Section, frozen=True, kw_only=True):
    """L1 data cache of one SM: write-through, lines are allocated for loads only."""

    size_bytes: Annotated[int, Bounds(128, 64 * MIB, "bytes", "a line at least; the papers' largest is 16 x 32 KiB")]
    ways: Annotated[int, entries(1, 1024, "ways", "a lookup compares them all; beyond, no cache is built")]
    cached_loads: bool = True  # false: global loads bypass it
    fill_bytes: Literal[32, 128] = 128  # what a miss fetches: the missing sectors, or the whole line
    hashed_index: bool = False
    mshrs: Annotated[int, entries(1, 8192, "MSHRs")]  # lines in flight
    # that may wait on one line, or on one sector where sectors are fetched
    mshr_merges: Annotated[int, entries(1, 2048, "accesses")]
    allocate: Literal["miss", "fill"] = "miss"  # a missing line gets its place at once, or when its first data comes
    latency_cycles: Annotated[int, LATENCY]  # tags and data, on the way to a hit and to a miss alike
    # lines of one load that are looked up in a cycle, as long as they ask for no more than a line's worth of sectors
    tags_per_cycle: Annotated[int, Bounds(1, 32, "lines", "a warp asks for 32 at most")] = 1
    holds_shared: bool = False  # `size_bytes` is one array for both, and a launch's shared memory takes its part of it
    stores_take_pipeline: bool = False  # stores spend `latency_cycles` in front of the tags, as loads do
    # accesses that fit between the load-store unit and the tags when the cache refuses
    pipeline_lines: Annotated[int, entries(0, 1024)] = 0
    write_hit: Literal["update", "evict"] = "update"


class Noc(Section, frozen=True, kw_only=True):
    """Crossbar between SMs (and units) and L2 slices: one network per direction, one queue per input."""

    flit_bytes: Annotated[int, Bounds(1, 1024, "bytes", "a packet is counted in flits of 16 bits")]
    header_bytes: Annotated[int, Bounds(1, 128, "bytes", "a request without data must take a flit")] = 8
    buffer_flits: Annotated[int, entries(1, 65536, "flits")]  # per input port
    virtual_outputs: bool = False  # an input has a queue per output, not one for all
    # per output of the request network, in front of the slice; 0: none
    output_buffer_flits: Annotated[int, entries(0, 65536, "flits")] = 0
    # flits of a packet that cross the request network's switch per cycle; they leave one by one
    speedup: Annotated[int, Bounds(1, 64, "flits per cycle", "no switch is built faster")] = 1
    hop_latency_cycles: Annotated[int, LATENCY]  # once per direction
    request_sectors_per_packet: Literal[1, 4] = 4
    reply_sectors_per_packet: Literal[1, 4] = 4
    # ports beside the SMs, for special units
    unit_ports: Annotated[int, Bounds(0, MAX_PORTS - 1, "ports", "they share the crossbar with the SMs")] = 2


class L2(Section, frozen=True, kw_only=True):
    """Shared cache in slices; each slice sits before one DRAM channel. Write-back, allocation on every miss."""

    size_bytes: Annotated[int, Bounds(128, 1 * GIB, "bytes", "a line at least; tags are part of the model's memory")]
    slices: Annotated[int, Bounds(1, MAX_PORTS, "slices", "each is a port of the crossbar")]
    ways: Annotated[int, entries(1, 1024, "ways", "a lookup compares them all; beyond, no cache is built")]
    fill_bytes: Literal[32, 128] = 32
    # fills in flight per slice, in sectors (fill_bytes = 32) or lines (128)
    mshrs: Annotated[int, entries(4, 65536, "MSHRs", "a line of 4 sectors must fit; each is a row of the model")]
    mshr_merges: Annotated[int, entries(1, 65536, "packets")]
    latency_cycles: Annotated[int, LATENCY]  # pipeline in front of the slice (raster operations unit)
    # sectors that have come through the pipeline and wait for the slice
    queue_entries: Annotated[int, entries(4, 65536, "sectors", "a line of 4 sectors must fit")]
    # flits of replies behind the slice, in front of the network's own buffer
    reply_queue_entries: Annotated[int, entries(1, 65536, "flits")] = 8
    # data read or written per L2 clock
    port_bytes_per_cycle: Annotated[int, Bounds(1, 1024, "bytes", "a line has 128; wider ports gain nothing")] = 32
    fills_take_port: bool = True  # data from DRAM takes that port once more on its way to the SM; else it has its own
    # requests of a slice waiting for its channel
    dram_queue_entries: Annotated[int, entries(8, 65536, reason="a miss with an eviction needs 8")] = 32
    interleave_bytes: Annotated[int, Bounds(128, 1 * MIB, "bytes", "consecutive in one channel: a line at least")]
    mapping: Literal["modulo", "hashed", "random"] = "modulo"
    # a sector that a store covers in part: as if whole; fetched when it is read; its line fetched when it is written
    written_sectors: Literal["whole", "masked", "fetched"] = "whole"
    # what goes to DRAM when a written line is replaced: that "line", or with it the written lines of its DRAM "row",
    # which stay, clean; writes then wait in a queue of their own, also of dram_queue_entries
    writeback: Literal["line", "row"] = "line"
    hashed_index: bool = False
    # occupancy of the slice per atomic operation on one address
    atomic_cycles: Annotated[int, Bounds(1, 1000, "cycles", "simulators and cards take 1 to some ten")] = 1
    # lanes of a warp on one address that are added up in the SM and make one operation here
    atomic_lanes: Annotated[int, Bounds(1, 32, "lanes", "a warp has 32")] = 1
    # 2: slices and SMs lie in two halves. A line is written in the half of its channel and read through a copy in the
    # reader's half (A100)
    halves: Literal[1, 2] = 1
    far_latency_cycles: Annotated[int, LATENCY] = 0  # from one half to the other, once per direction
    atomic_repeats_as_packets: bool = False  # lanes on one address: separate packets, or one with a count


class Launch(Section, frozen=True, kw_only=True):
    overhead_cycles: Annotated[int, PAUSE] = 0  # between launches
    # a kernel's first launch: core cycles per 128 bytes of its code, which come one after the other; 0: code is cached
    cold_fetch_cycles: Annotated[int, LATENCY] = 0
    # what a host that launches one kernel and waits for it sees on top of the kernel's time; reported apart
    host_us: Annotated[int, Bounds(0, 10_000, "us", "launches take microseconds")] = 0


class Compiler(Section, frozen=True, kw_only=True):
    """What the compiler of the machine's time makes of kernels."""

    # iterations of an innermost loop side by side, with a loop for the rest; 1: none (simt/unrolling.py)
    unroll: Annotated[int, Bounds(1, 16, "iterations", "a warp has 16 scoreboard slots; ptxas takes 4")] = 1


class Ideal(Section, frozen=True, kw_only=True):
    """Parts made ideal, to see what bounds a run."""

    l2: bool = False  # every access hits
    dram: bool = False  # no queueing: latency only
    noc: bool = False  # no contention: latency only


class Machine(Section, frozen=True, kw_only=True):
    """A modelled GPU."""

    name: Annotated[str, Letters(100, "it heads every table")]
    description: Annotated[str, Letters(500, "it is one line of a list")] = ""
    # of its architecture, times ten: exported traces carry it
    compute_capability: Annotated[int, Bounds(10, 200, "tenths", "1.0 was the first; CUDA's list ends below 20")] = 70
    # cost table: a shipped one by name, or a .toml file; "": that of the nearest of `lineage`
    prices: Annotated[str, Letters(1000, "a name or a path")] = ""
    lineage: tuple[str, ...] = ()  # this machine, what it extends, and so on; filled in by the reader
    clocks: Clocks
    sm: Sm
    l1: L1
    noc: Noc
    l2: L2
    dram: Dram
    launch: Launch = Launch()
    ideal: Ideal = Ideal()
    compiler: Compiler = Compiler()
    units: dict[str, Any] = msgspec.field(default_factory=default_specs)  # specs of special units, by section

    @property
    def peak_dram_bytes_per_second(self) -> float:
        d = self.dram
        return d.channels * d.burst_bytes / d.burst_clocks * d.clock_mhz * 1e6

    def unit(self, section: str) -> Any:
        """The spec of a special unit, by its section of the machine file."""
        if section not in self.units:
            raise MachineError(f"machine {self.name!r} has no section [{section}]; there are {', '.join(self.units)}")
        return self.units[section]

    def check(self) -> None:
        """Raise MachineError for a value outside of its range, or for an impossible geometry."""
        from warpsift.machines.rules import machine_problems  # here: the rules read the sections above

        for problem in machine_problems(self):
            raise MachineError(f"machine {shown(self.name)}: {problem}")


class MachineError(WarpsiftError):
    """A machine file or an override that cannot be used."""
