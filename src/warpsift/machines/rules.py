"""Rules that tie sections of a machine together: geometries that no hardware could have, or that could not move.

A rule names the keys and what to write. Whatever passes must run: a packet that is larger than the queue it must enter
would wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from warpsift.machines.bounds import MAX_PORTS
from warpsift.machines.dram_address import parse_address_map
from warpsift.machines.dram_rules import dram_problems
from warpsift.machines.dram_spec import Dram
from warpsift.machines.footprint import memory_problems
from warpsift.machines.ranges import range_problems
from warpsift.machines.spec import Machine


def machine_problems(m: Machine) -> Iterator[str]:
    """Texts of what is wrong, ranges first; the first is enough to refuse the machine."""
    yield from range_problems(m)
    yield from dram_problems(m.dram)
    yield from _multiprocessor(m)
    yield from _caches(m)
    yield from _network(m)
    for spec in m.units.values():
        yield from spec.problems(m)
    yield from memory_problems(m)


def written_miss_requests(dram: Dram) -> int:
    """Requests to DRAM of a write that evicts a line, goes on to DRAM and fetches its own line."""
    writes, reads = (LINE_BYTES // min(size, LINE_BYTES) for size in (dram.burst_bytes, dram.request_bytes))
    return 2 * writes + reads


def _multiprocessor(m: Machine) -> Iterator[str]:
    sm = m.sm
    if sm.threads > sm.warps * WARP_SIZE:
        yield f"sm.threads = {sm.threads} does not fit into sm.warps = {sm.warps} (32 threads each)"
    if sm.schedulers > sm.warps:
        yield f"sm.schedulers = {sm.schedulers} is more than sm.warps = {sm.warps}"


def _caches(m: Machine) -> Iterator[str]:
    l1, l2 = m.l1, m.l2
    if l1.size_bytes % (l1.ways * LINE_BYTES):
        yield f"l1.size_bytes = {l1.size_bytes} is not a multiple of l1.ways x 128 = {l1.ways * LINE_BYTES}"
    if l2.slices % m.dram.channels:
        yield f"l2.slices = {l2.slices} is not a multiple of dram.channels = {m.dram.channels}"
    per_way = l2.slices * l2.ways * LINE_BYTES
    if l2.size_bytes % per_way:
        yield f"l2.size_bytes = {l2.size_bytes} is not a multiple of l2.slices x l2.ways x 128 = {per_way}"
    if l2.written_sectors == "fetched" and l2.dram_queue_entries < (needed := written_miss_requests(m.dram)):
        yield (
            f"l2.dram_queue_entries = {l2.dram_queue_entries} cannot hold the {needed} requests of a write that "
            'misses with l2.written_sectors = "fetched"'
        )
    yield from _row_writeback(m)
    if m.dram.channels % l2.halves:
        yield f"dram.channels = {m.dram.channels} do not fall into l2.halves = {l2.halves}; write an even number"
    if l2.interleave_bytes % LINE_BYTES:
        yield f"l2.interleave_bytes = {l2.interleave_bytes} is not a multiple of the 128-byte line"


def lines_of_rows(dram: Dram) -> int:
    """Consecutive lines of a channel that lie in one row of each bank group that they are spread over."""
    columns = parse_address_map(dram.address_map)["col"]
    return max((1 << max((shift + width for shift, width in columns), default=0)) // LINE_BYTES, 1)


def _row_writeback(m: Machine) -> Iterator[str]:
    l2 = m.l2
    if l2.writeback != "row":
        return
    if l2.mapping == "random":
        yield "l2.writeback = 'row' needs l2.mapping = 'modulo' or 'hashed': a random one has no way back from rows"
    if l2.written_sectors == "fetched":
        yield "l2.writeback = 'row' needs l2.written_sectors = 'whole' or 'masked': 'fetched' writes on to DRAM at once"


def _network(m: Machine) -> Iterator[str]:
    noc = m.noc
    ports = m.sm.count + noc.unit_ports
    if ports > MAX_PORTS:
        yield f"sm.count + noc.unit_ports = {ports}: a crossbar has at most {MAX_PORTS} ports"
    line = _flits(m, LINE_BYTES)
    if noc.buffer_flits < line:
        yield f"noc.buffer_flits = {noc.buffer_flits} cannot hold a line of {line} flits"
    requests = 4 * (_flits(m, 0) if noc.request_sectors_per_packet == 1 else 1)
    if noc.buffer_flits < requests:
        yield f"noc.buffer_flits = {noc.buffer_flits} cannot hold the requests of a line's sectors, {requests} flits"
    if noc.speedup > 1 and noc.output_buffer_flits == 0:
        yield f"noc.speedup = {noc.speedup} needs noc.output_buffer_flits: a port takes one flit per cycle"
    reply = _largest_reply(m)
    room = noc.buffer_flits + m.l2.reply_queue_entries
    if room < reply:
        yield (
            f"noc.buffer_flits = {noc.buffer_flits} and l2.reply_queue_entries = {m.l2.reply_queue_entries} "
            f"cannot hold a reply of {reply} flits"
        )


def _flits(m: Machine, data_bytes: int) -> int:
    return -(-(m.noc.header_bytes + data_bytes) // m.noc.flit_bytes)


def _largest_reply(m: Machine) -> int:
    """Flits of a line, as one packet or as one for each sector."""
    return _flits(m, LINE_BYTES) if m.noc.reply_sectors_per_packet == 4 else 4 * _flits(m, SECTOR_BYTES)
