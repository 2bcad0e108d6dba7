"""The memory section of a machine file: organisation, timing, scheduler and power-down of one kind of DRAM.

All times are in DRAM command clocks unless the name says otherwise. A rule that a device does not have is 0.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from warpsift.machines.bounds import CLOCK, LATENCY, MAX_PORTS, entries
from warpsift.machines.ranges import Bounds, Letters, powers

MOST_BANKS = 64  # of a channel: the scheduler keeps a bit for each

# 4000 clocks are 2 us at GDDR5's fastest; no rule of JESD212, JESD79-4 or JESD209-4 but refresh comes near.
_RULE = Bounds(0, 4000, "clocks", "no rule of a JEDEC device is longer; 0: no such rule")
_DATA = Bounds(1, 4000, "clocks", "data comes after its command; no rule of a JEDEC device is longer")
_REFRESH = Bounds(0, 100_000, "clocks", "a refresh takes under 1 us in every JEDEC device; 0: none")
_REFRESH_INTERVAL = Bounds(0, 10_000_000, "clocks", "JEDEC devices need one every 1.9 to 7.8 us; 0: no refresh")
_QUEUE = entries(0, 65536)
_WAIT = Bounds(0, 1_000_000_000, "clocks", "a second at 1 GHz; 0: never")


class DramTiming(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Timing rules in command clocks; names follow JEDEC without the leading t."""

    cl: Annotated[int, _DATA]  # column read to first data
    cwl: Annotated[int, _DATA]  # column write to first data
    rcd_rd: Annotated[int, _RULE]  # activate to read, same bank
    rcd_wr: Annotated[int, _RULE]  # activate to write, same bank
    rp: Annotated[int, _RULE]  # precharge to activate, same bank
    ras: Annotated[int, _RULE]  # activate to precharge, same bank
    rc: Annotated[int, _RULE]  # activate to activate, same bank
    rrd_s: Annotated[int, _RULE]  # activate to activate, other bank group
    rrd_l: Annotated[int, _RULE]  # activate to activate, same bank group
    faw: Annotated[int, _RULE] = 0  # window that holds at most 4 activates
    aw32: Annotated[int, _RULE] = 0  # window that holds at most 32 activates (GDDR5)
    ccd_s: Annotated[int, _RULE]  # column to column, other bank group
    ccd_l: Annotated[int, _RULE]  # column to column, same bank group
    wtr_s: Annotated[int, _RULE]  # end of write data to read, other bank group
    wtr_l: Annotated[int, _RULE]  # end of write data to read, same bank group
    wr: Annotated[int, _RULE]  # end of write data to precharge, same bank
    rtp: Annotated[int, _RULE]  # read to precharge, same bank
    rtw: Annotated[int, _RULE] = 0  # read to write command; 0 = cl + burst + 2 - cwl (bus turnaround)
    rtrs: Annotated[int, _RULE] = 0  # extra data-bus gap when another rank drives it
    ppd: Annotated[int, _RULE] = 0  # precharge to precharge, any two banks of a rank
    rp_ab: Annotated[int, _RULE] = 0  # precharge-all to activate or refresh; 0 = rp
    dqsck: Annotated[int, _RULE] = 0  # clocks that read data is late after cl (LPDDR: tDQSCK)
    refi: Annotated[int, _REFRESH_INTERVAL] = 0  # mean time between refresh commands of a rank; 0 = no refresh
    rfc: Annotated[int, _REFRESH] = 0  # duration of an all-bank refresh
    rfc_pb: Annotated[int, _REFRESH] = 0  # duration of a per-bank refresh
    xp: Annotated[int, _RULE] = 0  # leaving power-down to any command


def most_requests(dram: Dram) -> int:
    """Requests that a channel holds at most, its banks' own queues apart."""
    if dram.write_way == "own":
        return max(dram.inflight_entries, dram.queue_entries) + dram.write_queue_entries
    return max(dram.inflight_entries, dram.queue_entries + dram.write_queue_entries)


class Dram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One machine's memory."""

    kind: Annotated[str, Letters(40, "it names a power table")]  # "gddr5", "lpddr4", ...
    channels: Annotated[int, Bounds(1, MAX_PORTS, "channels", "each has a slice of the L2 of its own")]
    # of all channels: what the device's arrays must fit into
    size_mib: Annotated[int, Bounds(1, 1 << 20, "MiB", "1 TiB at most; the largest GPU of today has 288 GB")] = 4096
    clock_mhz: Annotated[float, CLOCK]  # command clock
    # clocks of the data bus that one column command occupies
    burst_clocks: Annotated[int, Bounds(1, 64, "clocks", "LPDDR's longest burst takes 16")]
    # bytes that one column command moves
    burst_bytes: Annotated[
        int, Bounds(32, 256, "bytes", "whole sectors of 32 bytes, in a power of two", powers(32, 256))
    ]
    # bytes of one request of the L2; less than burst_bytes wastes the rest
    request_bytes: Annotated[int, Bounds(32, 128, "bytes", "one, two or four sectors of a line", powers(32, 128))] = 32
    bank_groups: Annotated[int, Bounds(1, MOST_BANKS, "groups", "they are address bits", powers(1, MOST_BANKS))]
    # per channel, over all groups
    banks: Annotated[int, Bounds(1, MOST_BANKS, "banks", "they are address bits, 64 at most", powers(1, MOST_BANKS))]
    ranks: Annotated[int, Bounds(1, 8, "ranks", "they are address bits; no bus carries more", powers(1, 8))] = 1
    # Fields of the channel-local byte address, MSB first: "row12 bank3 col4 bank1 col2 burst6". Fields: row, rank,
    # group, bank, col, burst; a field may be in pieces. Without `group` the low bits of the bank name its group.
    address_map: Annotated[str, Letters(200, "24 pieces at most")]
    bank_hash: bool = False  # XOR the bank with the low row bits
    timing: DramTiming
    # requests waiting per channel; a full queue holds the L2 back
    queue_entries: Annotated[int, entries(1, 65536)] = 64
    write_queue_entries: Annotated[int, _QUEUE] = 0  # 0: reads and writes share the queue
    write_drain_high: Annotated[int, _QUEUE] = 0  # with a write queue: start draining at this many writes ...
    write_drain_low: Annotated[int, _QUEUE] = 0  # ... and stop at this many, if reads wait
    write_drain_idle: Annotated[int, _QUEUE] = 1  # drain also when this many writes wait and no read does
    write_drain_batch: bool = False  # a drain moves the writes counted at its start, whatever arrives meanwhile
    # requests between acceptance and data, front pipeline included; 0 = the queues' sum
    inflight_entries: Annotated[int, _QUEUE] = 0
    # reads and writes come in the order in which the L2 sends them, or writes by a way of their "own": then neither
    # kind waits behind the other, `inflight_entries` bounds reads alone, and `write_queue_entries` all writes
    write_way: Literal["shared", "own"] = "shared"
    # depth of a queue per bank behind the common queue; 0 = the scheduler sees all
    bank_queue_entries: Annotated[int, entries(0, 1024)] = 0
    bank_queue_fill: Literal["oldest", "row_hit"] = "oldest"  # request that fits, or hits first, bank by bank
    # what comes first: column commands, the oldest of all ready commands, or banks in turn
    arbitration: Literal["column_first", "oldest", "round_robin"] = "column_first"
    activated_first: bool = False  # a request leaves the queue when its row is opened, and then goes before all others
    # close a row: only "after_hits" waiting for it are served, or as soon as "any" may after one
    precharge: Literal["after_hits", "any"] = "after_hits"
    # accesses to an open row after which an older request to the bank goes first; 0 = no cap
    hit_cap: Annotated[int, Bounds(0, 1_000_000, "accesses", "a row has far fewer; 0: no cap")] = 0
    starvation_clocks: Annotated[int, _WAIT] = 0  # a request older than this goes first in its bank; 0 = never
    page_policy: Literal["open", "closed"] = "open"
    refresh: Literal["all_bank", "per_bank", "none"] = "all_bank"
    refresh_precharge: Literal["all", "each"] = "all"  # before a refresh: one command, or each bank as it is ready
    # fixed pipelines between the L2 and the controller, and between the data bus and the L2, core clocks
    front_latency_core_cycles: Annotated[int, LATENCY] = 0
    back_latency_core_cycles: Annotated[int, LATENCY] = 0
    powerdown_idle_clocks: Annotated[int, _WAIT] = 0  # a channel idle this long powers down; 0 = never
