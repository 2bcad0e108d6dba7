"""Bitmask Constructor and Data Store (SCU paper, sections 3.2.4 and 3.2.5).

The Bitmask Constructor compares elements with a reference. Bits, from it or from filtering, are packed into words.
The Data Store gathers elements in up to `store_open_lines` open lines and sends a line when it is complete, when
another needs its buffer (the oldest goes), and at the end. It writes with byte masks: nothing is read first.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import (
    COMMAND,
    EQUAL,
    FLOAT,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    LINE_ADDRESS_BITS,
    bits_layout,
    fetched_layout,
    request_layout,
    store_layout,
    stream_of,
)
from warpsift.hdl.logic import encode, lowest, ordered
from warpsift.hdl.parameters import ADDRESS_BITS, ScuParameters


def less_and_equal(a, b, kind, bits: int):
    """(a < b, a == b, neither is NaN) of two numbers of so many bits."""
    low = (1 << (bits - 1)) - 1
    exponent = {32: 0x7F800000, 64: 0x7FF0000000000000}.get(bits)
    zeros = (kind == FLOAT) & ((a & low) == 0) & ((b & low) == 0)  # -0 equals +0
    less = (ordered(a, kind, bits) < ordered(b, kind, bits)) & ~zeros
    equal = (a == b) | zeros
    if exponent is None:
        return less, equal, Const(1, 1)
    number = (kind != FLOAT) | (((a & low) <= exponent) & ((b & low) <= exponent))
    return less & number, equal & number, number


class BitmaskConstructor(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        super().__init__(
            {
                "command": In(COMMAND),
                "fetched": In(stream_of(fetched_layout(p))),
                "bits": Out(stream_of(bits_layout(p))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p, command, bundle = self.p, self.command, self.fetched.payload
        verdicts = Signal(p.width)
        for lane in range(p.width):
            value, reference = bundle.lanes[lane].value, command.reference
            results = []
            for bits in (8, 16, 32, 64):
                less, equal, number = less_and_equal(value[:bits], reference[:bits], command.kind, bits)
                chosen = Array(
                    {
                        EQUAL: equal,
                        1: ~equal,
                        LESS: less,
                        LESS_EQUAL: less | equal,
                        GREATER: ~less & ~equal & number,
                        GREATER_EQUAL: ~less & number,
                    }[c]
                    for c in range(6)
                )[command.comparison]
                results.append(chosen)
            m.d.comb += verdicts[lane].eq(Array(results)[command.size])
        first = encode(lowest(bundle.mask, p.width), p.width) if p.width > 1 else 0
        count = sum((bit for bit in bundle.mask), start=Const(0))
        m.d.comb += [
            self.bits.valid.eq(self.fetched.valid),
            self.fetched.ready.eq(self.bits.ready),
            self.bits.payload.bits.eq((verdicts & bundle.mask) >> first),
            self.bits.payload.count.eq(count),
        ]
        return m


class BitPacker(wiring.Component):
    """Bits become 32-bit words for the Data Store; `flush` sends the last, incomplete one."""

    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        super().__init__(
            {
                "start": In(1),
                "flush": In(1),
                "bits": In(stream_of(bits_layout(p))),
                "words": Out(stream_of(store_layout(p))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self.p
        held, level, place = Signal(32 + p.width), Signal(7), Signal(32)
        out, bundle = self.words, self.words.payload
        full = level >= 32
        sends = out.valid & out.ready
        m.d.comb += [
            out.valid.eq(full | (self.flush & (level != 0))),
            bundle.mask.eq(1),
            bundle.lanes[0].value.eq(held[:32]),
            bundle.lanes[0].place.eq(place),
            self.bits.ready.eq(~full | out.ready),
            self.busy.eq(level != 0),
        ]
        base, rest = Signal.like(held), Signal(7)
        m.d.comb += [
            base.eq(Mux(sends, held >> 32, held)),
            rest.eq(Mux(sends, Mux(full, level - 32, 0), level)),
        ]
        takes = self.bits.valid & self.bits.ready
        m.d.sync += [
            held.eq(base | Mux(takes, self.bits.payload.bits << rest, 0)),
            level.eq(rest + Mux(takes, self.bits.payload.count, 0)),
            place.eq(place + sends),
        ]
        with m.If(self.start):
            m.d.sync += [held.eq(0), level.eq(0), place.eq(0)]
        return m


class DataStore(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        self.buffers = p.open_lines + 1  # one more, so that a new line need not wait until the oldest is sent
        super().__init__(
            {
                "base": In(ADDRESS_BITS),
                "size": In(2),
                "elements": In(stream_of(store_layout(p))),
                "flush": In(1),
                "request": Out(stream_of(request_layout(p))),
                "acknowledged": In(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        n = self.buffers
        self.line = [Signal(LINE_ADDRESS_BITS, name=f"line{k}") for k in range(n)]
        self.data = [Signal(1024, name=f"data{k}") for k in range(n)]
        self.mask = [Signal(128, name=f"mask{k}") for k in range(n)]
        self.open = Signal(n)
        self.sending = Signal(n)
        self.younger = [Signal(n, name=f"younger{k}") for k in range(n)]  # buffers opened after this one
        self.finishing = Signal(n)  # buffers whose last sector goes now: free for another line at once
        self._send(m)
        self._place(m)
        self._gather(m)
        return m

    def _place(self, m):
        """Line and bytes of every lane, and which buffer has the line open."""
        p, bundle = self.p, self.elements.payload
        self.gone = Signal(p.width)
        self.waiting = Signal(p.width)
        m.d.comb += self.waiting.eq(Mux(self.elements.valid, bundle.mask & ~self.gone, 0))
        self.lane_line, self.lane_mask, self.hits = [], [], []
        ones = Array([Const(0x1, 8), Const(0x3, 8), Const(0xF, 8), Const(0xFF, 8)])[self.size]
        for lane in range(p.width):
            address = Signal(ADDRESS_BITS, name=f"address{lane}")
            bytes_ = Signal(128, name=f"bytes{lane}")
            hit = Signal(self.buffers, name=f"hit{lane}")
            m.d.comb += [
                address.eq(self.base + (bundle.lanes[lane].place << self.size)),
                bytes_.eq(ones << address[:7]),
                hit.eq(Cat(*(self.open[k] & (self.line[k] == address[7:]) for k in range(self.buffers)))),
            ]
            self.lane_line.append(address[7:])
            self.lane_mask.append(bytes_)
            self.hits.append(hit)

    def _gather(self, m):
        """The lanes that go now: those of open lines and of one new line, no two on the same bytes."""
        p, n = self.p, self.buffers
        misses = Signal(p.width)
        m.d.comb += misses.eq(self.waiting & ~Cat(*(hit.any() for hit in self.hits)))
        need = misses.any()
        number = encode(lowest(misses, p.width), p.width) if p.width > 1 else 0
        new_line = Signal(LINE_ADDRESS_BITS)
        m.d.comb += new_line.eq(Array(self.lane_line)[number])
        free = Signal(n)
        m.d.comb += free.eq(~self.open & (~self.sending | self.finishing))
        fresh = Signal(n)
        m.d.comb += fresh.eq(lowest(free, n))
        can = ~need | free.any()
        going = Signal(p.width)
        open_, used = can, Const(0, 128)
        image, written = Const(0, 1024), [Const(0, 128) for _ in range(n)]
        for lane in range(p.width):
            joins = need & (self.lane_line[lane] == new_line)
            collides = (used & self.lane_mask[lane]).any() if lane else Const(0, 1)
            served = (self.hits[lane].any() | joins) & ~collides
            open_ = open_ & (served | ~self.waiting[lane])
            m.d.comb += going[lane].eq(open_ & self.waiting[lane])
            mine = Mux(going[lane], self.lane_mask[lane], 0)
            used = used | mine
            value = self._spread(self.elements.payload.lanes[lane].value)
            image = image | (value if p.width == 1 else self._cut(value, mine))
            for k in range(n):
                here = Mux(joins & ~self.hits[lane].any(), fresh[k], self.hits[lane][k])
                written[k] = written[k] | Mux(here, mine, 0)
        done = Signal()
        m.d.comb += [done.eq(going == self.waiting), self.elements.ready.eq(done)]
        m.d.sync += self.gone.eq(Mux(self.elements.valid & ~done, self.gone | going, 0))
        shared = Signal(1024)
        m.d.comb += shared.eq(image)
        opens = need & free.any()
        self._update(m, shared, written, opens, fresh, new_line)

    def _spread(self, value):
        """The element at every place where it could lie in a line."""
        return Array(
            [value[:8].replicate(128), value[:16].replicate(64), value[:32].replicate(32), value.replicate(16)]
        )[self.size]

    @staticmethod
    def _cut(value, mask):
        return value & Cat(*(bit.replicate(8) for bit in mask))

    def _update(self, m, image, written, opens, fresh, new_line):
        n = self.buffers
        opened = sum((bit for bit in self.open), start=Const(0))
        evicts = opens & (opened >= self.p.open_lines)
        for k in range(n):
            oldest = self.open[k] & ((self.open & (((1 << n) - 1) ^ (1 << k)) & ~self.younger[k]) == 0)
            mask = Signal(128, name=f"written{k}")
            after = Signal(128, name=f"after{k}")
            m.d.comb += [mask.eq(written[k]), after.eq(mask | Mux(self.open[k], self.mask[k], 0))]
            complete = after.all()
            begins = opens & fresh[k]
            sends = complete | (evicts & oldest) | self.flush
            with m.If(self.open[k] | begins):
                m.d.sync += [self.mask[k].eq(after), self.open[k].eq(~sends), self.sending[k].eq(sends)]
            for byte in range(128):
                with m.If(mask[byte]):
                    m.d.sync += self.data[k][8 * byte : 8 * byte + 8].eq(image[8 * byte : 8 * byte + 8])
            with m.If(begins):
                m.d.sync += [self.line[k].eq(new_line), self.younger[k].eq(0)]
                m.d.sync += [self.younger[j][k].eq(1) for j in range(n) if j != k]

    def _send(self, m):
        """One sector per cycle of a line that is being sent."""
        n, request = self.buffers, self.request
        which = Signal(range(n))
        m.d.comb += which.eq(encode(lowest(self.sending, n), n))
        mask, line, data = Signal(128), Signal(LINE_ADDRESS_BITS), Signal(1024)
        for signal, choices in ((mask, self.mask), (line, self.line), (data, self.data)):
            m.d.comb += signal.eq(Array(choices)[which])
        sectors = Signal(4)
        m.d.comb += sectors.eq(Cat(*(mask[32 * s : 32 * s + 32].any() for s in range(4))))
        now = lowest(sectors, 4)
        number = Signal(2)
        m.d.comb += number.eq(encode(now, 4))
        last = sectors == now
        outstanding = Signal(32)
        m.d.comb += [
            request.valid.eq(self.sending.any()),
            request.payload.write.eq(1),
            request.payload.last.eq(last),
            request.payload.sector.eq(Cat(number, line)),
            request.payload.sectors.eq(now),
            request.payload.mask.eq(mask.word_select(number, 32)),
            request.payload.data.eq(data.word_select(number, 256)),
            self.busy.eq(self.open.any() | self.sending.any() | (outstanding != 0)),
        ]
        goes = request.valid & request.ready
        for k in range(n):
            m.d.comb += self.finishing[k].eq(goes & last & (which == k))
            with m.If(goes & (which == k)):
                m.d.sync += self.mask[k].word_select(number, 32).eq(0)
                with m.If(last):
                    m.d.sync += self.sending[k].eq(0)
        m.d.sync += outstanding.eq(outstanding + (goes & last) - self.acknowledged)
