"""Coalescing Unit of the data reads: reads of one 128-byte line become one request (SCU paper, section 3.2.3).

Every lane's line is compared with the `merge_window` newest requests. A lane whose sector one of them brings waits for
that one. The first lane that none serves makes a request, or asks a pending request for more of its line; later lanes
of the same line join it. So a cycle takes the lanes up to the second one that would need a request: the port accepts
one request per cycle. At most `inflight_requests` lines, vector lines included, are under way.

Each sector asked for gets the next place of Data Fetch's ring; the unit keeps, per request, where its sectors go. What
may still be merged with keeps its places. In a ring so small that this would fill it, a request which began more than
half a ring ago is given up. A sector that was asked for may be one that no element takes; its reply must not come after
its place was given out again, so a quarter of the ring is entered anew when all replies of the last round are there.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import LINE_ADDRESS_BITS, address_layout, read_layout, row_layout, stream_of
from warpsift.hdl.logic import encode, lowest
from warpsift.hdl.parameters import ScuParameters, bits_for


class CoalescingUnit(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        fill = data.StructLayout({"tag": bits_for(p.inflight), "sector": 2})
        super().__init__(
            {
                "start": In(1),
                "addresses": In(stream_of(address_layout(p))),
                "rows": Out(stream_of(row_layout(p))),
                "request": Out(stream_of(read_layout(p))),
                "may_request": In(1),  # fewer lines are in flight than may be
                "ring_free": In(p.slot_bits),  # Data Fetch has let go of the ring up to here
                "fill": In(fill),
                "fill_valid": In(1),
                "fill_slot": Out(p.slot_bits),  # where the sector of `fill` goes
                "completed": Out(1),  # a line has come completely
                "opened": Out(1),  # a line was asked for
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self.p
        self.left = Signal(p.width)  # lanes of the present bundle that have gone
        self.tail = Signal(p.slot_bits)
        entry = data.StructLayout(
            {
                "valid": 1,
                "tag": bits_for(p.inflight),
                "line": LINE_ADDRESS_BITS,
                "sectors": 4,
                "slots": data.ArrayLayout(p.slot_bits, 4),
                "first": p.slot_bits,
            }
        )
        self.window = [Signal(entry, name=f"window{k}") for k in range(p.merge_window)]  # newest first
        self.pending = Signal(p.inflight * 4)  # sectors under way, by tag
        self.tight = p.window_sectors < 7 * p.merge_window  # 4 of each, and 3 more that an older one took later
        self._match(m)
        self._request(m)
        self._advance(m)
        self._replies(m)
        return m

    def _lane(self, lane):
        it = self.addresses.payload.bundle.lanes[lane].address
        return it[7:], it[5:7]

    def _match(self, m):
        """What the window offers each lane."""
        p = self.p
        self.hit = Signal(p.width)
        self.slots = [Signal(p.slot_bits, name=f"slot{lane}") for lane in range(p.width)]
        bundle = self.addresses.payload.bundle
        self.waiting = Signal(p.width)
        m.d.comb += self.waiting.eq(Mux(self.addresses.valid, bundle.mask & ~self.left, 0))
        for lane in range(p.width):
            line, sector = self._lane(lane)
            found, slot = Const(0, 1), Const(0, p.slot_bits)
            for entry in reversed(self.window):
                here = entry.valid & (entry.line == line) & entry.sectors.bit_select(sector, 1)
                found, slot = found | here, Mux(here, entry.slots[sector], slot)
            m.d.comb += [self.hit[lane].eq(found), self.slots[lane].eq(slot)]
        self.misses = Signal(p.width)
        m.d.comb += self.misses.eq(self.waiting & ~self.hit)

    def _request(self, m):
        """The request of the first lane that needs one."""
        p = self.p
        bundle = self.addresses.payload.bundle
        self.first = lowest(self.misses, p.width)
        number = encode(self.first, p.width)
        lane = Array(bundle.lanes)[number] if p.width > 1 else bundle.lanes[0]
        self.line = lane.address[7:]
        # A pending request of that line: the newest
        extends, self.which = Const(0, 1), []
        tag, known = Const(0, bits_for(p.inflight)), Const(0, 4)
        for k, entry in enumerate(self.window):
            pending = self.pending.word_select(entry.tag, 4).any()
            here = Signal(name=f"extends{k}")
            m.d.comb += here.eq(~extends & entry.valid & (entry.line == self.line) & pending)
            self.which.append(here)
            tag, known = Mux(here, entry.tag, tag), Mux(here, entry.sectors, known)
            extends = extends | here
        self.extends, self.wanted, self.tag = Signal(), Signal(4), Signal(bits_for(p.inflight))
        idle = Cat(*(~self.pending[4 * k : 4 * k + 4].any() for k in range(p.inflight)))
        self.has_tag = idle.any()
        fresh = encode(lowest(idle, p.inflight), p.inflight)
        m.d.comb += [
            self.extends.eq(extends),
            self.wanted.eq(lane.wanted & ~known),
            self.tag.eq(Mux(extends, tag, fresh)),
        ]
        self.places = []
        place = self.tail
        for sector in range(4):
            self.places.append(place)
            following = Signal(p.slot_bits, name=f"place{sector}")
            m.d.comb += following.eq(place + self.wanted[sector])
            place = following
        self.new_tail = place

    def _advance(self, m):
        p = self.p
        request, row = self.request, self.rows
        used = Signal(p.slot_bits)
        need = self.misses.any()
        can = Signal()
        room = (used <= p.ring_sectors) & self._quarter_is_empty(m)
        allowed = room & (self.extends | (self.may_request & self.has_tag))
        m.d.comb += [
            used.eq(self.new_tail - self.ring_free),
            request.valid.eq(need & allowed & row.ready),
            request.payload.line.eq(self.line),
            request.payload.sectors.eq(self.wanted),
            request.payload.tag.eq(self.tag),
            can.eq(~need | (request.ready & allowed)),
            row.valid.eq(self.waiting.any() & can),
        ]
        # The lanes that go now: up to the first that is neither served nor part of the new request
        going = Signal(p.width)
        open_ = Const(1, 1)
        for lane in range(p.width):
            line, sector = self._lane(lane)
            joins = need & (line == self.line) & self.wanted.bit_select(sector, 1)
            served = ~self.waiting[lane] | self.hit[lane] | joins
            open_ = open_ & served
            slot = Mux(self.hit[lane], self.slots[lane], Array(self.places)[sector])
            m.d.comb += going[lane].eq(open_ & self.waiting[lane])
            out = row.payload.bundle.lanes[lane]
            source = self.addresses.payload.bundle.lanes[lane]
            m.d.comb += [out.slot.eq(slot), out.offset.eq(source.address[:5]), out.side.eq(source.side)]
        goes = row.valid & row.ready
        done = Signal()
        m.d.comb += [
            row.payload.bundle.mask.eq(going),
            row.payload.operand.eq(self.addresses.payload.operand),
            done.eq(goes & (going == self.waiting)),
            self.addresses.ready.eq(done),
            self.busy.eq(self.addresses.valid),
            self.opened.eq(goes & need & ~self.extends),
        ]
        m.d.sync += self.left.eq(Mux(done, 0, Mux(goes, self.left | going, self.left)))
        self._remember(m, goes & need)
        # When this row has gone, later rows can only mean requests of the window
        oldest = self.window[-2].first if p.merge_window > 1 else self.tail
        oldest = Mux(self.opened, oldest, self.window[-1].first)
        m.d.comb += row.payload.free.eq(self._kept(oldest, Mux(need, self.new_tail, self.tail)))

    def _kept(self, first, tail):
        """A place in the ring, or the oldest that requests of the window may keep."""
        most = self.p.window_sectors
        return Mux((tail - first)[: self.p.slot_bits] > most, tail - most, first) if self.tight else first

    def _quarter_is_empty(self, m):
        """Count the sectors under way in each quarter of the ring: at most 4 are asked for at once, so that at most one
        quarter is entered."""
        p = self.p
        quarter = slice(p.slot_bits - 3, p.slot_bits - 1)
        before, last = Signal(p.slot_bits), Signal(p.slot_bits)
        m.d.comb += [before.eq(self.tail - 1), last.eq(self.new_tail - 1)]
        requested = self.rows.valid & self.rows.ready & self.misses.any()
        empty = []
        for k in range(4):
            under_way = Signal(range(4 * p.inflight + 1), name=f"quarter{k}")
            asked = sum((self.wanted[s] & (self.places[s][quarter] == k) for s in range(4)), start=Const(0))
            came = self.fill_valid & (self.fill_slot[quarter] == k)
            m.d.sync += under_way.eq(under_way + Mux(requested, asked, 0) - came)
            empty.append(under_way == 0)
        return (last[quarter] == before[quarter]) | Array(empty)[last[quarter]]

    def _remember(self, m, requested):
        """Put a new request in front of the window, or add its sectors to the one it extends."""
        opened = self.opened
        with m.If(requested):
            m.d.sync += self.tail.eq(self.new_tail)
        for k, entry in enumerate(self.window):
            with m.If(opened):
                if k:
                    newer = self.window[k - 1]  # whose tag, if it is given out again, means another line now
                    kept = self._kept(newer.first, self.new_tail)
                    valid = newer.valid & (newer.tag != self.tag) & (kept == newer.first)
                    m.d.sync += [entry.eq(newer), entry.valid.eq(valid), entry.first.eq(kept)]
                else:
                    m.d.sync += [
                        entry.valid.eq(1),
                        entry.tag.eq(self.tag),
                        entry.line.eq(self.line),
                        entry.sectors.eq(self.wanted),
                        entry.first.eq(self.tail),
                    ]
                    m.d.sync += [entry.slots[s].eq(self.places[s]) for s in range(4)]
            with m.Elif(requested):
                kept = self._kept(entry.first, self.new_tail)
                m.d.sync += [entry.valid.eq(entry.valid & (kept == entry.first)), entry.first.eq(kept)]
            with m.If(requested & ~opened & self.which[k]):
                m.d.sync += entry.sectors.eq(entry.sectors | self.wanted)
                for s in range(4):
                    with m.If(self.wanted[s]):
                        m.d.sync += entry.slots[s].eq(self.places[s])
            with m.If(self.start):  # what earlier operations read may have changed
                m.d.sync += [entry.valid.eq(0), entry.first.eq(self.tail)]

    def _replies(self, m):
        """Where a sector goes, and when its request is complete."""
        p = self.p
        table = [[Signal(p.slot_bits, name=f"slot_{k}_{s}") for s in range(4)] for k in range(p.inflight)]
        requested = self.rows.valid & self.rows.ready & self.misses.any()
        for k in range(p.inflight):
            with m.If(requested & (self.tag == k)):
                for s in range(4):
                    with m.If(self.wanted[s]):
                        m.d.sync += table[k][s].eq(self.places[s])
        cleared = Mux(self.fill_valid, 1 << Cat(self.fill.sector, self.fill.tag), 0)
        asked = Mux(requested, self.wanted << (self.tag << 2), 0)
        m.d.sync += self.pending.eq((self.pending & ~cleared[: p.inflight * 4]) | asked[: p.inflight * 4])
        before = self.pending.word_select(self.fill.tag, 4)
        last = before == 1 << self.fill.sector
        extended = requested & (self.tag == self.fill.tag)
        m.d.comb += [
            self.fill_slot.eq(Array([Array(row)[self.fill.sector] for row in table])[self.fill.tag]),
            self.completed.eq(self.fill_valid & last & ~extended),
        ]
