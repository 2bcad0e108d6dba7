"""The records of the memory controllers and their DRAM: configuration, channels, ranks, bank groups, banks, requests.

Times are DRAM command clocks. A bank, group or rank holds the earliest clock at which each kind of command may follow
(the maximum over all rules of all commands so far); a rule is therefore written in one place, where the earlier
command is issued (dram_timing.py). A request waits in a doubly linked list of its bank, in order of admission, and in a
list of its channel by age.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from warpsift.engine.core.arena import FOREVER, Arena, accessor, component
from warpsift.engine.core.settings import SETTING, record_type
from warpsift.errors import WarpsiftError
from warpsift.machines.dram_address import FIELDS, MAX_PIECES, parse_address_map, width_of
from warpsift.machines.dram_rules import dram_problems
from warpsift.machines.dram_spec import Dram, most_requests

READ, WRITE = 0, 1

COUNTERS: dict[str, str] = {
    "dram_reads": "column read commands",
    "dram_writes": "column write commands",
    "dram_row_hits": "column commands that found their row open (the first one after an activate did not)",
    "dram_activates": "activate commands",
    "dram_precharges": "banks precharged, those in front of a refresh included",
    "dram_refreshes": "refresh commands",
    "dram_busy_clocks": "command clocks in which a data bus carried data, summed over channels",
    "dram_row_open_clocks": "command clocks with at least one open row, summed over ranks",
    "dram_powered_down_clocks": "command clocks spent in power-down, summed over channels",
    "dram_queue_full_stalls": "requests refused because their queue was full (each retry counts)",
    "dram_read_latency_clocks": "sum over reads of the clocks from acceptance to the last data",
    "dram_write_latency_clocks": "sum over writes of the clocks from acceptance to the last data",
    "dram_forwarded_reads": "reads answered from a write that still waited",
    "dram_merged_writes": "writes that overtook a waiting write to the same address",
}


def _names(text: str) -> list[str]:
    return text.split()


def _record(names: list[str], narrow: list[str] | None = None, settings: list[str] | None = None) -> np.dtype:
    """A record of 64-bit fields, settings first, then 32-bit ones: indexes and the like, where there are many rows."""
    wide = [(name, SETTING) for name in settings or ()] + [(name, np.int64) for name in names]
    return np.dtype(wide + [(name, np.int32) for name in narrow or ()], align=True)


_TIMES = _names(
    "burst cl cwl read_latency write_latency rcd_rd rcd_wr rp rp_ab ras rc rrd_s rrd_l faw aw32 ccd_s ccd_l rtp ppd "
    "rd_to_wr wr_to_rd_s wr_to_rd_l wr_to_pre rd_to_rd_rank rd_to_wr_rank wr_to_rd_rank wr_to_wr_rank "
    "refi rfc xp powerdown_idle starvation"
)
_CHOICES = _names(
    "banks banks_per_rank groups ranks queue_entries write_entries split drain_high drain_low drain_idle drain_batch "
    "inflight_entries bank_entries fill_row_hit column_first round_robin activated_first precharge_any hit_cap "
    "closed_page per_bank precharge_each bank_hash group_in_bank pool events channels own_way "
    "core_khz dram_khz front_latency back_latency"
)


DRAM = _record(
    [
        "p_channels",
        "active",  # requests accepted whose column command has not been issued
        "next_wake",  # earliest clock at which a channel with requests has something to do ...
        "next_wake_cycle",  # ... and the core cycle in which that clock begins
        *COUNTERS,
    ],
    settings=[
        *_TIMES,
        *_CHOICES,
        *[f"{field}_{part}{i}" for field in FIELDS[:5] for i in range(MAX_PIECES) for part in ("shift", "mask", "at")],
        "above_shift",  # of the bits above the map, which are the highest of the row, in the address ...
        "above_at",  # ... and in the row
    ],
)
CHANNEL = _record(
    _names(
        "p_banks p_groups p_ranks p_requests p_ready p_keys p_windows closed only_reads only_writes index clock wake "
        "requests waiting0 waiting1 "
        "pending_writes transit0 transit1 transit_first0 transit_last0 transit_first1 transit_last1 free "
        "draining drain_left round_robin "
        "fill_turn urgent sequence "
        "age_first0 age_last0 age_first1 age_last1 refresh_due refresh_unit refresh_pending refresh_issued "
        "fill_wanted waking idle_since powerdown_lost last_done "
        "chosen_request chosen_key chosen_command chosen_bank reads writes"
    )
)
RANK = _record(_names("next_act next_rd next_wr next_pre refreshing open_banks open_since acts first_bank"))
GROUP = _record(_names("next_act next_rd next_wr"))
BANK = _record(
    _names("next_act next_pre next_rd next_wr"),
    _names(
        "rank group index open_row accesses queued refreshing "
        "first0 last0 first1 last1 hit0 hit1 other0 other1 front_first front_last promoted"
    ),
)
REQUEST = _record(
    _names("address token arrive accepted order"), _names("row channel bank write next prev older younger")
)

dram = component("dram", DRAM)
channel = accessor(CHANNEL)
rank_row = accessor(RANK)
group_row = accessor(GROUP)
bank_row = accessor(BANK)
request_row = accessor(REQUEST)
D_t = record_type("dram", DRAM)
C_t = numba.from_dtype(CHANNEL)
B_t = numba.from_dtype(BANK)
R_t = numba.from_dtype(RANK)
Q_t = numba.from_dtype(REQUEST)

WINDOWS = 4 + 32  # clocks of the last 4 and the last 32 activates of a rank (tFAW, t32AW)
LONG_AGO = -(1 << 40)


def _fill_address(record: Any, spec: Dram) -> None:
    pieces = parse_address_map(spec.address_map)
    record.group_in_bank = 0 if pieces["group"] else 1
    record.above_shift = sum(width_of(pieces, field) for field in FIELDS)
    record.above_at = width_of(pieces, "row")
    for field in FIELDS[:5]:
        at = 0
        for i, (shift, width) in enumerate(pieces[field]):
            setattr(record, f"{field}_shift{i}", shift)
            setattr(record, f"{field}_mask{i}", (1 << width) - 1)
            setattr(record, f"{field}_at{i}", at)
            at += width


def _fill_timing(record: Any, spec: Dram) -> None:
    """Command-to-command distances, from the data sheet's parameters."""
    t = spec.timing
    for name in _names("cl cwl rcd_rd rcd_wr rp ras rc faw aw32 rtp ppd refi xp rrd_s rrd_l"):
        setattr(record, name, getattr(t, name))
    burst = record.burst = spec.burst_clocks
    record.rp_ab = t.rp_ab or t.rp
    record.ccd_s, record.ccd_l = max(t.ccd_s, burst), max(t.ccd_l, burst)
    record.read_latency = t.cl + t.dqsck + burst
    record.write_latency = t.cwl + burst
    record.rd_to_wr = t.rtw or t.cl + burst + 2 - t.cwl
    record.wr_to_rd_s, record.wr_to_rd_l = t.cwl + burst + t.wtr_s, t.cwl + burst + t.wtr_l
    record.wr_to_pre = t.cwl + burst + t.wr
    # Another rank has no internal turnaround: only the data bus must be free.
    record.rd_to_rd_rank = burst + t.rtrs
    record.rd_to_wr_rank = max(record.rd_to_wr, 1)
    record.wr_to_rd_rank = max(t.cwl + burst + t.rtrs - t.cl, 1)
    record.wr_to_wr_rank = burst + t.rtrs
    record.per_bank = int(spec.refresh == "per_bank")
    record.rfc = (t.rfc_pb or t.rfc) if record.per_bank else t.rfc
    if spec.refresh == "none":
        record.refi = 0
    record.powerdown_idle = spec.powerdown_idle_clocks
    record.starvation = spec.starvation_clocks


def _fill_choices(record: Any, spec: Dram) -> None:
    record.banks_per_rank = spec.banks
    record.banks = spec.banks * spec.ranks
    record.groups, record.ranks, record.channels = spec.bank_groups, spec.ranks, spec.channels
    record.queue_entries, record.write_entries = spec.queue_entries, spec.write_queue_entries
    record.split = int(spec.write_queue_entries > 0)
    record.drain_high, record.drain_low = spec.write_drain_high, spec.write_drain_low
    record.drain_idle, record.drain_batch = max(spec.write_drain_idle, 1), int(spec.write_drain_batch)
    record.inflight_entries, record.bank_entries = spec.inflight_entries, spec.bank_queue_entries
    record.fill_row_hit = int(spec.bank_queue_fill == "row_hit")
    record.column_first = int(spec.arbitration == "column_first")
    record.round_robin = int(spec.arbitration == "round_robin")
    record.precharge_any = int(spec.precharge == "any")
    record.hit_cap = spec.hit_cap
    record.activated_first = int(spec.activated_first)
    record.closed_page = int(spec.page_policy == "closed")
    record.precharge_each = int(spec.refresh_precharge == "each")
    record.bank_hash = int(spec.bank_hash)
    record.own_way = int(spec.write_way == "own")
    record.pool = most_requests(spec) + record.banks * (spec.bank_queue_entries + record.activated_first)
    record.front_latency, record.back_latency = spec.front_latency_core_cycles, spec.back_latency_core_cycles


def build(arena: Arena, spec: Dram, core_mhz: float) -> Any:
    """Allocate and fill in the record of all controllers."""
    for problem in dram_problems(spec):  # a memory may also come without a machine: dram_harness.py
        raise WarpsiftError(problem)
    record = arena.record("dram", DRAM)
    _fill_timing(record, spec)
    _fill_choices(record, spec)
    _fill_address(record, spec)
    record.core_khz, record.dram_khz = round(core_mhz * 1000), round(spec.clock_mhz * 1000)
    record.next_wake = record.next_wake_cycle = FOREVER
    record.p_channels = arena.table("dram.channels", CHANNEL, spec.channels)
    for index in range(spec.channels):
        _build_channel(arena, record, arena.arrays["dram.channels"][index], index)
    return record


def _build_channel(arena: Arena, D: Any, C: Any, index: int) -> None:
    banks, ranks, groups = int(D.banks), int(D.ranks), int(D.groups)
    C.index = index
    C.p_banks = arena.table(f"dram.{index}.banks", BANK, banks)
    C.p_groups = arena.table(f"dram.{index}.groups", GROUP, ranks * groups)
    C.p_ranks = arena.table(f"dram.{index}.ranks", RANK, ranks)
    C.p_requests = arena.table(f"dram.{index}.requests", REQUEST, int(D.pool))
    C.p_ready = arena.adopt(f"dram.{index}.ready", np.full(banks, FOREVER, np.int64))
    C.p_keys = arena.table(f"dram.{index}.keys", np.int64, banks)
    C.closed = np.int64((1 << banks) - 1 if banks < 64 else -1)
    C.p_windows = arena.adopt(f"dram.{index}.windows", np.full(ranks * WINDOWS, LONG_AGO, np.int64))
    rows = arena.arrays[f"dram.{index}.banks"]
    rows["index"] = np.arange(banks)
    rows["rank"] = np.arange(banks) // int(D.banks_per_rank)
    rows["group"] = rows["rank"] * groups + np.arange(banks) % groups
    for name in _names("open_row first0 last0 first1 last1 hit0 hit1 other0 other1 front_first front_last promoted"):
        rows[name] = -1
    arena.arrays[f"dram.{index}.ranks"]["first_bank"] = np.arange(ranks) * int(D.banks_per_rank)
    requests = arena.arrays[f"dram.{index}.requests"]
    requests["next"] = np.arange(1, len(requests) + 1)
    requests["next"][-1] = -1
    for name in _names(
        "transit_first0 transit_last0 transit_first1 transit_last1 urgent age_first0 age_last0 age_first1 age_last1 "
        "refresh_pending"
    ):
        setattr(C, name, -1)
    C.round_robin = banks - 1
    C.clock = -1
    # Ranks take turns (or banks do), so that one refresh command is due every refi / (ranks or all banks).
    steps = banks if D.per_bank else ranks
    C.refresh_due = int(D.refi) // steps if D.refi else FOREVER
    C.wake = C.refresh_due
