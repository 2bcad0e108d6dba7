"""The typed description of a modelled GPU: what a machine file may say, with defaults where one is universal.

Cycles are core clocks unless the name says otherwise. Structs are immutable; `Machine.check` refuses geometries
that no hardware could have, naming the key.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from warpsift.errors import WarpsiftError
from warpsift.machines.dram_spec import Dram
from warpsift.machines.unit_sections import default_specs

LINE_BYTES = 128
MAX_PORTS = 64  # inputs or outputs of one crossbar: arbitration uses one 64-bit mask per output
MAX_WARPS_PER_SM = 64  # ready masks are one 64-bit word; also the largest of any GPU modelled here


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all sections of a machine file."""


class Clocks(Section, frozen=True, kw_only=True):
    core_mhz: float
    noc_mhz: float
    l2_mhz: float


class Sm(Section, frozen=True, kw_only=True):
    """A streaming multiprocessor."""

    count: int
    warps: int  # resident at most
    threads: int
    ctas: int
    shared_bytes: int
    schedulers: int
    policy: Literal["gto", "lrr"] = "gto"  # greedy then oldest; loose round robin
    lanes_per_scheduler: int = 32  # fewer than 32: an instruction occupies the issue port for several cycles
    alu_latency_cycles: int  # issue of an ALU instruction to issue of one that needs its result
    shared_latency_cycles: int
    lsu_latency_cycles: int  # issue to L1 plus write-back, on top of what the memory takes
    lsu_queue_entries: int = 4  # memory instructions between issue and L1
    cta_waits_for_stores: bool = True  # a CTA leaves only when its stores are acknowledged
    atomics_block_warp: bool = False  # a warp issues nothing while an atomic of its own is under way


class L1(Section, frozen=True, kw_only=True):
    """L1 data cache of one SM: write-through, no allocation on writes, allocation on a read miss."""

    size_bytes: int
    ways: int
    cached_loads: bool = True  # false: global loads bypass it
    fill_bytes: Literal[32, 128] = 128  # what a miss fetches: the missing sectors, or the whole line
    hashed_index: bool = False
    mshrs: int  # lines in flight
    mshr_merges: int  # accesses that may wait on one line
    latency_cycles: int  # tags and data, on the way to a hit and to a miss alike
    stores_take_pipeline: bool = False  # stores spend `latency_cycles` in front of the tags, as loads do
    pipeline_lines: int = 0  # accesses that fit between the load-store unit and the tags when the cache refuses
    write_hit: Literal["update", "evict"] = "update"


class Noc(Section, frozen=True, kw_only=True):
    """Crossbar between SMs (and units) and L2 slices: one network per direction, one queue per input."""

    flit_bytes: int
    header_bytes: int = 8
    buffer_flits: int  # per input port
    output_buffer_flits: int = 0  # per output of the request network, in front of the slice; 0: none
    speedup: int = 1  # flits of a packet that cross the request network's switch per cycle; they leave one by one
    hop_latency_cycles: int  # once per direction
    request_sectors_per_packet: Literal[1, 4] = 4
    reply_sectors_per_packet: Literal[1, 4] = 4
    unit_ports: int = 2  # ports beside the SMs, for special units


class L2(Section, frozen=True, kw_only=True):
    """Shared cache in slices; each slice sits before one DRAM channel. Write-back, allocation on every miss."""

    size_bytes: int  # over all slices
    slices: int
    ways: int
    fill_bytes: Literal[32, 128] = 32
    mshrs: int  # fills in flight per slice, in sectors (fill_bytes = 32) or lines (128)
    mshr_merges: int
    latency_cycles: int  # pipeline in front of the slice (raster operations unit)
    queue_entries: int  # sectors that have come through the pipeline and wait for the slice
    reply_queue_entries: int = 8  # flits of replies behind the slice, in front of the network's own buffer
    port_bytes_per_cycle: int = 32  # data read or written per L2 clock
    dram_queue_entries: int = 32  # requests of a slice waiting for its channel
    interleave_bytes: int  # consecutive bytes in one channel
    mapping: Literal["modulo", "hashed", "random"] = "modulo"
    hashed_index: bool = False
    atomic_cycles: int = 1  # occupancy of the slice per atomic operation on one address
    atomic_repeats_as_packets: bool = False  # lanes on one address: separate packets, or one with a count


class Launch(Section, frozen=True, kw_only=True):
    overhead_cycles: int = 0  # between launches


class Ideal(Section, frozen=True, kw_only=True):
    """Parts made ideal, to see what bounds a run."""

    l2: bool = False  # every access hits
    dram: bool = False  # no queueing: latency only
    noc: bool = False  # no contention: latency only


class Machine(Section, frozen=True, kw_only=True):
    """A modelled GPU."""

    name: str
    description: str = ""
    prices: str = ""  # cost table: a shipped one by name, or a .toml file; "": that of the nearest of `lineage`
    lineage: tuple[str, ...] = ()  # this machine, what it extends, and so on; filled in by the reader
    clocks: Clocks
    sm: Sm
    l1: L1
    noc: Noc
    l2: L2
    dram: Dram
    launch: Launch = Launch()
    ideal: Ideal = Ideal()
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
        """Raise MachineError for an impossible geometry."""
        for problem in _problems(self):
            raise MachineError(f"machine {self.name!r}: {problem}")


class MachineError(WarpsiftError):
    """A machine file or an override that cannot be used."""


def _problems(m: Machine):
    yield from _positive(m)
    for spec in m.units.values():
        yield from spec.problems(m)
    sm, l1, l2, noc, dram = m.sm, m.l1, m.l2, m.noc, m.dram
    if sm.warps > MAX_WARPS_PER_SM:
        yield f"sm.warps = {sm.warps}: at most {MAX_WARPS_PER_SM} warps per SM are modelled"
    if sm.threads > sm.warps * 32:
        yield f"sm.threads = {sm.threads} does not fit into sm.warps = {sm.warps} (32 threads each)"
    if sm.ctas > 64:
        yield f"sm.ctas = {sm.ctas}: at most 64 CTAs per SM are modelled"
    if sm.schedulers > sm.warps:
        yield f"sm.schedulers = {sm.schedulers} is more than sm.warps = {sm.warps}"
    if 32 % sm.lanes_per_scheduler:
        yield f"sm.lanes_per_scheduler = {sm.lanes_per_scheduler} does not divide the warp of 32"
    if l1.size_bytes % (l1.ways * LINE_BYTES):
        yield f"l1.size_bytes = {l1.size_bytes} is not a multiple of l1.ways x 128 = {l1.ways * LINE_BYTES}"
    if l2.slices % dram.channels:
        yield f"l2.slices = {l2.slices} is not a multiple of dram.channels = {dram.channels}"
    if l2.size_bytes % (l2.slices * l2.ways * LINE_BYTES):
        per_way = l2.slices * l2.ways * LINE_BYTES
        yield f"l2.size_bytes = {l2.size_bytes} is not a multiple of l2.slices x l2.ways x 128 = {per_way}"
    if l2.interleave_bytes % LINE_BYTES:
        yield f"l2.interleave_bytes = {l2.interleave_bytes} is not a multiple of the 128-byte line"
    if sm.count + noc.unit_ports > MAX_PORTS:
        yield f"sm.count + noc.unit_ports = {sm.count + noc.unit_ports}: a crossbar has at most {MAX_PORTS} ports"
    if l2.slices > MAX_PORTS:
        yield f"l2.slices = {l2.slices}: a crossbar has at most {MAX_PORTS} ports"
    longest = -(-(noc.header_bytes + LINE_BYTES) // noc.flit_bytes)
    if noc.buffer_flits < longest:
        yield f"noc.buffer_flits = {noc.buffer_flits} cannot hold a line of {longest} flits"
    if l2.dram_queue_entries < 8:
        yield f"l2.dram_queue_entries = {l2.dram_queue_entries}: a miss with an eviction needs 8"
    if noc.speedup > 1 and noc.output_buffer_flits == 0:
        yield f"noc.speedup = {noc.speedup} needs noc.output_buffer_flits: a port takes one flit per cycle"
    if l2.queue_entries < 4:
        yield f"l2.queue_entries = {l2.queue_entries}: a line of 4 sectors must fit"
    if l2.mshrs < 4:
        yield f"l2.mshrs = {l2.mshrs}: a line needs 4"
    if dram.banks % dram.bank_groups:
        yield f"dram.banks = {dram.banks} is not a multiple of dram.bank_groups = {dram.bank_groups}"


_MAY_BE_ZERO = {
    "launch.overhead_cycles",
    "noc.unit_ports",
    "noc.hop_latency_cycles",
    "noc.output_buffer_flits",
    "l1.latency_cycles",
    "l1.pipeline_lines",
    "l2.latency_cycles",
    "sm.lsu_latency_cycles",
    "sm.shared_latency_cycles",
    "sm.shared_bytes",
}


def _positive(m: Machine):
    for section in ("clocks", "sm", "l1", "noc", "l2", "launch"):
        for key, value in msgspec.structs.asdict(getattr(m, section)).items():
            name = f"{section}.{key}"
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
                yield f"{name} = {value} must be {'at least 0' if name in _MAY_BE_ZERO else 'positive'}"
    for key in ("channels", "clock_mhz", "burst_clocks", "burst_bytes", "bank_groups", "banks", "queue_entries"):
        if getattr(m.dram, key) <= 0:
            yield f"dram.{key} = {getattr(m.dram, key)} must be positive"
