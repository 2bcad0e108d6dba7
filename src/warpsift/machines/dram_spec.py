"""The memory section of a machine file: organisation, timing, scheduler and power-down of one kind of DRAM.

All times are in DRAM command clocks unless the name says otherwise. A rule that a device does not have is 0.
"""

from __future__ import annotations

import msgspec


class DramTiming(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Timing rules in command clocks; names follow JEDEC without the leading t."""

    cl: int  # column read to first data
    cwl: int  # column write to first data
    rcd_rd: int  # activate to read, same bank
    rcd_wr: int  # activate to write, same bank
    rp: int  # precharge to activate, same bank
    ras: int  # activate to precharge, same bank
    rc: int  # activate to activate, same bank
    rrd_s: int  # activate to activate, other bank group
    rrd_l: int  # activate to activate, same bank group
    faw: int = 0  # window that holds at most 4 activates
    aw32: int = 0  # window that holds at most 32 activates (GDDR5)
    ccd_s: int  # column to column, other bank group
    ccd_l: int  # column to column, same bank group
    wtr_s: int  # end of write data to read, other bank group
    wtr_l: int  # end of write data to read, same bank group
    wr: int  # end of write data to precharge, same bank
    rtp: int  # read to precharge, same bank
    rtw: int = 0  # read to write command; 0 = cl + burst + 2 - cwl (bus turnaround)
    rtrs: int = 0  # extra data-bus gap when another rank drives it
    ppd: int = 0  # precharge to precharge, any two banks of a rank
    rp_ab: int = 0  # precharge-all to activate or refresh; 0 = rp
    dqsck: int = 0  # clocks that read data is late after cl (LPDDR: tDQSCK)
    refi: int = 0  # mean time between refresh commands of a rank; 0 = no refresh
    rfc: int = 0  # duration of an all-bank refresh
    rfc_pb: int = 0  # duration of a per-bank refresh
    xp: int = 0  # leaving power-down to any command


class Dram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One machine's memory."""

    kind: str  # "gddr5", "lpddr4", ...: for reports and power tables
    channels: int
    clock_mhz: float  # command clock
    burst_clocks: int  # clocks of the data bus that one column command occupies
    burst_bytes: int  # bytes that one column command moves
    request_bytes: int = 32  # bytes of one request of the L2; less than burst_bytes wastes the rest
    bank_groups: int
    banks: int  # per channel, over all groups
    ranks: int = 1
    # Fields of the channel-local byte address, MSB first: "row12 bank3 col4 bank1 col2 burst6". Fields: row, rank,
    # group, bank, col, burst; a field may be in pieces. Without `group` the low bits of the bank name its group.
    address_map: str
    bank_hash: bool = False  # XOR the bank with the low row bits
    timing: DramTiming
    queue_entries: int = 64  # requests waiting per channel; a full queue holds the L2 back
    write_queue_entries: int = 0  # 0: reads and writes share the queue
    write_drain_high: int = 0  # with a write queue: start draining at this many writes ...
    write_drain_low: int = 0  # ... and stop at this many, if reads wait
    write_drain_idle: int = 1  # drain also when this many writes wait and no read does
    write_drain_batch: bool = False  # a drain moves the writes counted at its start, whatever arrives meanwhile
    inflight_entries: int = 0  # requests between acceptance and data, front pipeline included; 0 = the queues' sum
    bank_queue_entries: int = 0  # depth of a queue per bank behind the common queue; 0 = the scheduler sees all
    bank_queue_fill: str = "oldest"  # "oldest" request that fits, or "row_hit" first, bank by bank
    arbitration: str = "column_first"  # "column_first", "oldest" (of all ready commands) or "round_robin" over banks
    activated_first: bool = False  # a request leaves the queue when its row is opened, and then goes before all others
    precharge: str = (
        "after_hits"  # close a row: only "after_hits" waiting for it are served, or as soon as "any" may after one
    )
    hit_cap: int = 0  # accesses to an open row after which an older request to the bank goes first; 0 = no cap
    starvation_clocks: int = 0  # a request older than this goes first in its bank; 0 = never
    page_policy: str = "open"  # "open" or "closed"
    refresh: str = "all_bank"  # "all_bank", "per_bank" or "none"
    refresh_precharge: str = "all"  # before a refresh: one precharge-"all", or "each" bank as it becomes ready
    front_latency_core_cycles: int = 0  # fixed pipeline between the L2 and the controller, core clocks
    back_latency_core_cycles: int = 0  # fixed pipeline between the data bus and the L2, core clocks
    powerdown_idle_clocks: int = 0  # a channel idle this long powers down; 0 = never
