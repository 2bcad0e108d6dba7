"""A slow, obvious memory channel: every clock is stepped, every rule is looked up in the history of past commands.

The oracle of the event-driven model in engine/dram: same rules, nothing shared with it but the specification.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

import msgspec

ACT, PRE, RD, WR, REF = "ACT", "PRE", "RD", "WR", "REF"
COUNTED = (
    *("reads", "writes", "row_hits", "activates", "precharges", "refreshes", "busy_clocks", "row_open_clocks"),
    *("read_latency_clocks", "write_latency_clocks", "forwarded_reads", "merged_writes"),
)


@dataclass(eq=False)
class Request:
    address: int
    write: bool
    accepted: int
    order: int = -1
    row: int = 0
    rank: int = 0
    bank: int = 0  # over all ranks
    group: int = 0  # over all ranks


@dataclass
class Command:
    clk: int
    kind: str
    rank: int
    group: int
    bank: int
    recovery: int = 0  # of a precharge
    row: int = -1


def cut(spec, address):
    """Fields of an address, by walking over its bits."""
    values = {}
    for word in reversed(spec.address_map.split()):
        name, width = re.fullmatch(r"([a-z]+)(\d+)", word).groups()
        value, have = values.get(name, (0, 0))
        values[name] = (value | (address & ((1 << int(width)) - 1)) << have, have + int(width))
        address >>= int(width)
    values["row"] = (values["row"][0] | address << values["row"][1], 0)  # what is left: more rows than the map has
    return {name: value for name, (value, _) in values.items()}


class NaiveChannel:
    def __init__(self, spec):
        self.spec, self.t = spec, spec.timing
        self.banks = spec.banks * spec.ranks
        self.open_row, self.accesses = [None] * self.banks, [0] * self.banks
        self.promoted, self.blocked = [None] * self.banks, [False] * self.banks
        self.history = []
        self.horizon = 2 * sum(msgspec.structs.astuple(self.t)) - 2 * self.t.refi  # no rule reaches back further
        self.common = []  # waiting requests, in order of admission
        self.bank_queue = [[] for _ in range(self.banks)]
        self.arriving = []
        self.draining, self.drain_left = False, 0
        self.turn, self.fill_turn, self.orders = self.banks - 1, 0, 0
        self.refreshing = None
        units = self.banks if spec.refresh == "per_bank" else spec.ranks
        self.refresh_units, self.refresh_next = units, 0
        self.refresh_due = self.refresh_step = self.t.refi // units if spec.refresh != "none" and self.t.refi else None
        self.count = dict.fromkeys(COUNTED, 0)
        self.last_done = 0

    # --- timing: how far apart two commands must be -------------------------------------------------------------
    def gap(self, old, kind, bank):
        t, burst = self.t, self.spec.burst_clocks
        rank, group = self.rank_of(bank), self.group_of(bank)
        same_bank, same_group, same_rank = old.bank == bank, old.group == group, old.rank == rank
        rtw = t.rtw or t.cl + burst + 2 - t.cwl
        if old.kind == ACT:
            if kind == ACT:
                if same_bank:
                    return max(t.rc, t.rrd_l, t.rrd_s)
                return max(t.rrd_l, t.rrd_s) if same_group else t.rrd_s if same_rank else 0
            return {RD: t.rcd_rd, WR: t.rcd_wr, PRE: t.ras}[kind] if same_bank else 0
        if old.kind == PRE:
            if kind == ACT:
                return old.recovery if same_bank else 0
            return t.ppd if kind == PRE and same_rank else 0
        if old.kind == REF:
            rfc = (t.rfc_pb or t.rfc) if self.spec.refresh == "per_bank" else t.rfc
            return rfc if kind == ACT and same_bank else 0
        if kind == PRE:
            return (t.rtp if old.kind == RD else t.cwl + burst + t.wr) if same_bank else 0
        if kind == ACT:
            return 0
        if old.kind == kind:  # RD-RD, WR-WR
            if not same_rank:
                return burst + t.rtrs
            return max(burst, t.ccd_s, t.ccd_l if same_group else 0)
        if old.kind == RD:
            return max(rtw, 1) if not same_rank else rtw
        if not same_rank:
            return max(t.cwl + burst + t.rtrs - t.cl, 1)
        return t.cwl + burst + max(t.wtr_s, t.wtr_l if same_group else 0)

    def rank_of(self, bank):
        return bank // self.spec.banks

    def group_of(self, bank):
        return self.rank_of(bank) * self.spec.bank_groups + bank % self.spec.bank_groups

    def ready(self, clk, kind, bank):
        if any(clk < old.clk + self.gap(old, kind, bank) for old in self.history):
            return False
        if kind == ACT:
            acts = [c.clk for c in self.history if c.kind == ACT and c.rank == self.rank_of(bank)]
            for window, held in ((self.t.faw, 4), (self.t.aw32, 32)):
                if window and len(acts) >= held and clk < acts[-held] + window:
                    return False
        return True

    def record(self, clk, kind, bank, recovery=0, row=-1):
        self.history.append(Command(clk, kind, self.rank_of(bank), self.group_of(bank), bank, recovery, row))

    def activate(self, clk, request):
        self.record(clk, ACT, request.bank, row=request.row)
        self.open_row[request.bank], self.accesses[request.bank] = request.row, 0
        self.count["activates"] += 1
        if self.spec.activated_first:
            self.promoted[request.bank] = request
            self.forget(request)

    def precharge(self, clk, bank, recovery):
        self.record(clk, PRE, bank, recovery)
        self.open_row[bank] = None
        self.count["precharges"] += 1

    def column(self, clk, request):
        bank, kind = request.bank, WR if request.write else RD
        self.record(clk, kind, bank)
        self.count["row_hits"] += self.accesses[bank] > 0
        self.accesses[bank] += 1
        self.count["writes" if request.write else "reads"] += 1
        self.count["busy_clocks"] += self.spec.burst_clocks
        latency = self.t.cwl if request.write else self.t.cl + self.t.dqsck
        self.deliver(request, clk + latency + self.spec.burst_clocks)
        if self.promoted[bank] is request:
            self.promoted[bank] = None
        else:
            self.forget(request)

    def deliver(self, request, done):
        self.last_done = max(self.last_done, done)
        self.count[f"{'write' if request.write else 'read'}_latency_clocks"] += done - request.accepted

    def forget(self, request):
        if request in self.common:
            self.common.remove(request)
            self.drain_left -= request.write
        else:
            self.bank_queue[request.bank].remove(request)

    # --- queues -------------------------------------------------------------------------------------------------
    def waiting(self, write=None):
        return sum(write is None or r.write == write for r in self.common)

    def room(self, write, extra=()):
        if not self.spec.write_queue_entries:
            return self.waiting() + len(extra) < self.spec.queue_entries
        entries = self.spec.write_queue_entries if write else self.spec.queue_entries
        return self.waiting(write) + sum(r.write == write for r in extra) < entries

    def takes(self, write):
        """Whether the channel has room for one more, those on the way counted."""
        spec = self.spec
        if spec.write_way == "own" and not write:
            return self.pending(False) < max(spec.inflight_entries, spec.queue_entries)
        if spec.write_way == "shared" and spec.inflight_entries:
            return self.pending() < spec.inflight_entries
        return self.room(write, self.arriving)

    def offer(self, clk, address, write):
        if not self.takes(write):
            return False
        fields = cut(self.spec, address)
        request = Request(address, bool(write), clk, row=fields["row"])
        bank = fields.get("bank", 0) * (self.spec.bank_groups if "group" in fields else 1) + fields.get("group", 0)
        if self.spec.bank_hash:
            bank ^= request.row % self.spec.banks
        request.rank = fields.get("rank", 0)
        request.bank = request.rank * self.spec.banks + bank
        self.arriving.append(request)
        return True

    def next_arrival(self):
        """The first of all, or the first of those kinds whose queue has room."""
        kinds = (False, True) if self.spec.write_way == "own" else (None,)
        firsts = [next((r for r in self.arriving if kind in (None, r.write)), None) for kind in kinds]
        ready = [r for r in firsts if r is not None and self.room(r.write)]
        return min(ready, key=self.arriving.index, default=None)

    def admit(self, clk):
        while (request := self.next_arrival()) is not None:
            self.arriving.remove(request)
            pending = self.common + [r for q in self.bank_queue for r in q] + [r for r in self.promoted if r]
            if any(r.write and r.address == request.address for r in pending):
                self.count["merged_writes" if request.write else "forwarded_reads"] += 1
                self.deliver(request, clk + 1)
                continue
            request.order, self.orders = self.orders, self.orders + 1
            self.common.append(request)

    def update_drain(self):
        spec = self.spec
        if not spec.write_queue_entries:
            return
        reads, writes = self.waiting(False), self.waiting(True)
        if not self.draining:
            only_writes = writes > 0 and writes == self.pending()
            idle = reads == 0 and writes >= max(spec.write_drain_idle, 1)
            if writes >= spec.write_drain_high or idle or only_writes:
                self.draining, self.drain_left = True, writes
        elif spec.write_drain_batch:
            self.draining = self.drain_left > 0
        elif writes <= spec.write_drain_low and reads > 0:
            self.draining = False

    def pending(self, write=None):
        everywhere = [*self.common, *self.arriving, *chain(*self.bank_queue), *filter(None, self.promoted)]
        return sum(write is None or r.write == write for r in everywhere)

    def served(self):
        """The part of the common queue that is served now."""
        if not self.spec.write_queue_entries:
            return self.common
        return [r for r in self.common if r.write == self.draining]

    def fill(self):
        spec = self.spec
        if spec.bank_queue_fill == "oldest":
            for request in self.served():
                if len(self.bank_queue[request.bank]) < spec.bank_queue_entries:
                    self.forget(request)
                    self.bank_queue[request.bank].append(request)
                    return
            return
        for i in range(self.banks):
            bank = (self.fill_turn + i) % self.banks
            mine = [r for r in self.common if r.bank == bank]
            if mine and len(self.bank_queue[bank]) < spec.bank_queue_entries:
                hits = [r for r in mine if r.row == self.open_row[bank]]
                request = (hits or mine)[0]
                self.common.remove(request)
                self.bank_queue[bank].append(request)
                self.fill_turn = (self.fill_turn + 1) % self.banks
                return

    # --- refresh ------------------------------------------------------------------------------------------------
    def refresh(self, clk):
        """Returns whether it used the command bus."""
        spec, t = self.spec, self.t
        if self.refresh_step is None:
            return False
        if self.refreshing is None:
            if clk < self.refresh_due:
                return False
            unit, self.refresh_next = self.refresh_next, (self.refresh_next + 1) % self.refresh_units
            self.refresh_due += self.refresh_step
            per_bank = spec.refresh == "per_bank"
            self.refreshing = [unit] if per_bank else list(range(unit * spec.banks, (unit + 1) * spec.banks))
            for bank in self.refreshing:
                self.blocked[bank] = True
        opened = [b for b in self.refreshing if self.open_row[b] is not None]
        ready = [b for b in opened if self.promoted[b] is None and self.ready(clk, PRE, b)]
        if opened:
            if spec.refresh_precharge == "each" or spec.refresh == "per_bank":
                if ready:
                    self.precharge(clk, ready[0], t.rp)
                return bool(ready)
            if ready != opened:
                return False
            for bank in opened:
                self.precharge(clk, bank, t.rp_ab or t.rp)
            return True
        if not all(self.ready_to_refresh(clk, b) for b in self.refreshing):
            return False
        for bank in self.refreshing:
            self.record(clk, REF, bank)
            self.blocked[bank] = False
        self.refreshing = None
        self.count["refreshes"] += 1
        return True

    def ready_to_refresh(self, clk, bank):
        """A refresh follows the bank's last precharge, activate and refresh as an activate of that bank would."""
        mine = (old for old in self.history if old.bank == bank)
        return all(clk >= old.clk + (self.t.rc if old.kind == ACT else self.gap(old, ACT, bank)) for old in mine)

    # --- the choice of a command --------------------------------------------------------------------------------
    def offers(self, bank):
        """(priority, kind, request) of what the bank could do, timing aside; the smallest priority goes first."""
        spec, row = self.spec, self.open_row[bank]
        if self.promoted[bank]:
            request = self.promoted[bank]
            out = [((-1, request.order), WR if request.write else RD, request)]
            if not self.blocked[bank]:
                for write in (False, True):
                    hits = [r for r in self.served() if r.bank == bank and r.row == row and r.write == write]
                    out += [((1, r.order), WR if write else RD, r) for r in hits[:1]]
            return out
        if self.blocked[bank]:
            return []
        queue = self.bank_queue[bank] if spec.bank_queue_entries else [r for r in self.served() if r.bank == bank]
        urgent = self.urgent
        if urgent is not None and urgent.bank == bank:
            kind = ACT if row is None else (WR if urgent.write else RD) if urgent.row == row else PRE
            return [((1, urgent.order), kind, urgent)]
        row_level = 2 if spec.arbitration == "column_first" else 1
        if row is None:
            return [((row_level, queue[0].order), ACT, queue[0])] if queue else []
        hits = [r for r in queue if r.row == row]
        others = [r for r in queue if r.row != row]
        out, level = [], 1
        if others:
            capped = bool(spec.hit_cap) and self.accesses[bank] >= spec.hit_cap
            capped = capped and (not hits or others[0].order < hits[0].order)
            used = spec.precharge == "any" and self.accesses[bank] > 0
            if used or not hits or capped:
                out.append(((row_level, others[0].order), PRE, others[0]))
            level = 3 if capped else 1
        elif spec.page_policy == "closed" and not hits and self.accesses[bank]:
            out.append(((4, 0), PRE, None))
        for write in (False, True):
            out += [((level, r.order), WR if write else RD, r) for r in hits if r.write == write][:1]
        return out

    def schedule(self, clk):
        spec = self.spec
        best = None
        for i in range(1, self.banks + 1):
            bank = (self.turn + i) % self.banks if spec.arbitration == "round_robin" else i - 1
            for priority, kind, request in self.offers(bank):
                if (best is None or priority < best[0]) and self.ready(clk, kind, bank):
                    best = (priority, kind, request, bank)
            if best and spec.arbitration == "round_robin":
                self.turn = bank
                break
        if best is None:
            return
        _, kind, request, bank = best
        if kind == ACT:
            self.activate(clk, request)
        elif kind == PRE:
            self.precharge(clk, bank, self.t.rp)
        else:
            self.column(clk, request)

    @property
    def urgent(self):
        served = self.served()
        if self.spec.starvation_clocks and served and self.clk > served[0].accepted + self.spec.starvation_clocks:
            return served[0]
        return None

    def step(self, clk):
        self.clk = clk
        while self.history and self.history[0].clk < clk - self.horizon:
            self.history.pop(0)
        self.admit(clk)
        busy = self.refresh(clk)
        if not self.spec.bank_queue_entries:
            self.update_drain()
        if not busy:
            self.schedule(clk)
        if self.spec.bank_queue_entries:
            self.update_drain()
            self.fill()


def simulate(spec, addresses, writes):
    """The counters of warpsift's harness, the slow way."""
    channel = NaiveChannel(spec)
    sent = clk = 0
    open_clocks = []
    while sent < len(addresses) or channel.pending() or clk <= channel.last_done:
        if sent < len(addresses) and channel.offer(clk, int(addresses[sent]), bool(writes[sent])):
            sent += 1
        channel.step(clk)
        rank_open = {channel.rank_of(b) for b in range(channel.banks) if channel.open_row[b] is not None}
        open_clocks.append(len(rank_open))
        clk += 1
        assert clk < 200 * len(addresses) + 20_000, "the naive memory does not come to an end"
    channel.count["row_open_clocks"] = sum(open_clocks[: channel.last_done])
    return {"cycles": channel.last_done, **{f"dram_{k}": v for k, v in channel.count.items()}}
