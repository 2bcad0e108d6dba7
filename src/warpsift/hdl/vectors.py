"""Vector buffers: mask, index, count, filter, order and cost vectors, read ahead of the Address Generator (SCU 3.2.1).

One memory of `vector_buffer_bytes`, one sector written and one read per cycle, is shared evenly by the vectors that an
operation uses. Each vector has two sectors in registers, from which the Address Generator sees a window of 8 words.
They are copies: a line's place is free when its last word has been taken, so that the spec's bytes are all there are.
Replies may come in any order: a bit per row says which have arrived. Vectors begin at a line.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import LINE_ADDRESS_BITS, read_layout, stream_of
from warpsift.hdl.logic import minimum
from warpsift.hdl.parameters import VECTORS, WORDS_PER_SECTOR, ScuParameters, bits_for

WINDOW = data.ArrayLayout(32, WORDS_PER_SECTOR)
CONFIGURATION = data.StructLayout({"active": 1, "line": LINE_ADDRESS_BITS, "words": 32})


class WindowSignature(wiring.Signature):
    """The next words of a vector; the reader takes some of them."""

    def __init__(self) -> None:
        super().__init__({"words": Out(WINDOW), "available": Out(4), "take": In(4)})


class VectorBuffer(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        self.line_bits = bits_for(p.shares[0])
        fill = data.StructLayout({"vector": 3, "line": self.line_bits, "sector": 2, "data": 256})
        windows = {f"window_{name}": Out(WindowSignature()) for name in VECTORS}
        configuration = {f"config_{name}": In(CONFIGURATION) for name in VECTORS}
        super().__init__(
            {
                "start": In(1),
                "request": Out(stream_of(read_layout(p))),
                "fill": In(fill),
                "fill_valid": In(1),
                "completed": Out(1),  # a line has come completely
                **windows,
                **configuration,
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self.p
        m.submodules.buffer = buffer = memory.Memory(shape=256, depth=p.vector_rows, init=[])
        write, read = buffer.write_port(), buffer.read_port()
        arrived = Signal(p.vector_rows)
        active = Cat(*(getattr(self, f"config_{name}").active for name in VECTORS))
        share = Signal(self.line_bits + 1)
        count = sum((bit for bit in active), start=0)
        m.d.comb += share.eq(Array([p.shares[0], *p.shares])[count])
        bases = []
        base = Signal(range(p.vector_rows + 1))
        for k in range(len(VECTORS)):
            bases.append(base)
            following = Signal(range(p.vector_rows + 8), name=f"base{k}")
            m.d.comb += following.eq(base + Mux(active[k], share << 2, 0))
            base = following
        row_of_fill = Signal(range(p.vector_rows))
        m.d.comb += [
            row_of_fill.eq(Array(bases)[self.fill.vector] + Cat(self.fill.sector, self.fill.line)),
            write.addr.eq(row_of_fill),
            write.data.eq(self.fill.data),
            write.en.eq(self.fill_valid),
        ]
        pending = Signal(p.vector_rows + 4)  # sectors under way
        line_of_request = Signal(range(p.vector_rows))
        vector = self.request.payload.tag[:3]
        m.d.comb += line_of_request.eq(Array(bases)[vector] + (self.request.payload.tag[3:] << 2))
        asked = Mux(self.request.valid & self.request.ready, self.request.payload.sectors << line_of_request, 0)
        fill_line = pending.word_select(row_of_fill[2:], 4)
        m.d.sync += pending.eq((pending | asked) & ~Mux(self.fill_valid, 1 << row_of_fill, 0))
        m.d.comb += self.completed.eq(self.fill_valid & (fill_line == 1 << self.fill.sector))
        channels = [self._channel(m, k, name, share, bases[k], arrived) for k, name in enumerate(VECTORS)]
        self._ask(m, channels)
        self._read(m, channels, read, arrived, row_of_fill)
        return m

    def _channel(self, m, k, name, share, base, arrived):
        """State of one vector."""
        config, window = getattr(self, f"config_{name}"), getattr(self, f"window_{name}")
        c = {
            "words": Signal(32, name=f"{name}_words"),  # still to be asked for
            "line": Signal(LINE_ADDRESS_BITS, name=f"{name}_line"),
            "slot": Signal(self.line_bits, name=f"{name}_slot"),
            "used": Signal(self.line_bits + 1, name=f"{name}_used"),  # lines asked for and not yet taken to their end
            "sectors_read": Signal(2, name=f"{name}_sectors_read"),  # of the line that is being taken
            "line_ends": Signal(name=f"{name}_line_ends"),
            "asked": Signal(30, name=f"{name}_asked"),  # sectors asked for and not yet read
            "row": Signal(self.line_bits + 2, name=f"{name}_row"),
            "low": Signal(256, name=f"{name}_low"),
            "high": Signal(256, name=f"{name}_high"),
            "low_valid": Signal(name=f"{name}_low_valid"),
            "high_valid": Signal(name=f"{name}_high_valid"),
            "offset": Signal(3, name=f"{name}_offset"),
            "reading": Signal(name=f"{name}_reading"),
            "ask": Signal(name=f"{name}_ask"),
            "asking": Signal(name=f"{name}_asking"),
            "load": Signal(name=f"{name}_load"),
            "share": share,
            "base": base,
        }
        both = Cat(c["low"], c["high"])
        total = Mux(c["low_valid"], WORDS_PER_SECTOR - c["offset"] + Mux(c["high_valid"], WORDS_PER_SECTOR, 0), 0)
        m.d.comb += [
            window.words.eq((both >> (c["offset"] << 5))[:256]),
            window.available.eq(minimum(total, WORDS_PER_SECTOR)),
            c["ask"].eq((c["words"] != 0) & (c["used"] < share)),
            c["load"].eq((c["asked"] != 0) & ~c["high_valid"] & ~c["reading"] & arrived.bit_select(base + c["row"], 1)),
        ]
        with m.If(self.start):
            m.d.sync += [c[x].eq(0) for x in ("slot", "used", "asked", "row", "sectors_read", "offset")]
            m.d.sync += [c["low_valid"].eq(0), c["high_valid"].eq(0)]
            m.d.sync += [c["line"].eq(config.line), c["words"].eq(Mux(config.active, config.words, 0))]
        return c

    def _ask(self, m, channels):
        """Ask for a line of the vector with the fewest lines ahead."""
        best = Signal(range(len(channels)))
        fewest, found = channels[0]["used"], channels[0]["ask"]
        number = 0
        for k, c in enumerate(channels[1:], 1):
            better = c["ask"] & (~found | (c["used"] < fewest))
            fewest, number, found = Mux(better, c["used"], fewest), Mux(better, k, number), found | c["ask"]
        m.d.comb += best.eq(number)
        request = self.request
        words = Array(c["words"] for c in channels)[best]
        m.d.comb += [
            request.valid.eq(found & ~self.start),
            request.payload.line.eq(Array(c["line"] for c in channels)[best]),
            request.payload.sectors.eq(Mux(words > 24, 15, Mux(words > 16, 7, Mux(words > 8, 3, 1)))),
            request.payload.tag.eq(Cat(best, Array(c["slot"] for c in channels)[best])),
        ]
        for k, c in enumerate(channels):
            m.d.comb += c["asking"].eq(request.valid & request.ready & (best == k))
            with m.If(c["asking"]):
                m.d.sync += [
                    c["line"].eq(c["line"] + 1),
                    c["slot"].eq(Mux(c["slot"] + 1 == c["share"], 0, c["slot"] + 1)),
                    c["words"].eq(Mux(c["words"] > 32, c["words"] - 32, 0)),
                ]

    def _read(self, m, channels, read, arrived, row_of_fill):
        """Move one sector per cycle from the buffer into the registers of a vector."""
        taken = Signal(len(channels))
        free = 1
        address = 0
        for k, c in enumerate(channels):
            m.d.comb += taken[k].eq(c["load"] & free & ~self.start)
            free = free & ~c["load"]
            address = Mux(c["load"] & taken[k], c["base"] + c["row"], address)
        m.d.comb += [read.addr.eq(address), read.en.eq(1)]
        clear = Signal.like(arrived)
        m.d.comb += clear.eq(Mux(taken.any(), 1 << read.addr, 0))
        m.d.sync += arrived.eq((arrived & ~clear) | Mux(self.fill_valid, 1 << row_of_fill, 0))
        for k, c in enumerate(channels):
            request = self.request.payload
            asked_now = Mux(c["asking"], sum((bit for bit in request.sectors), start=0), 0)
            with m.If(~self.start):
                m.d.sync += [
                    c["asked"].eq(c["asked"] + asked_now - taken[k]),
                    c["used"].eq(c["used"] + c["asking"] - c["line_ends"]),
                    c["reading"].eq(taken[k]),
                ]
                with m.If(taken[k]):
                    m.d.sync += c["row"].eq(Mux(c["row"] + 1 == c["share"] << 2, 0, c["row"] + 1))
                self._shift(m, c, read.data, getattr(self, f"window_{VECTORS[k]}").take)
            with m.Else():
                m.d.sync += c["reading"].eq(0)

    @staticmethod
    def _shift(m, c, arriving, take):
        """The two registers: `low` is emptied first; a sector that arrives goes to the first free one."""
        following = c["offset"] + take
        crosses = following >= WORDS_PER_SECTOR
        m.d.sync += [c["offset"].eq(following[:3]), c["sectors_read"].eq(c["sectors_read"] + crosses)]
        m.d.comb += c["line_ends"].eq(crosses & (c["sectors_read"] == 3))
        low_stays = c["low_valid"] & ~crosses
        keeps_high = c["high_valid"] & low_stays
        m.d.sync += [
            c["low_valid"].eq(low_stays | c["high_valid"] | c["reading"]),
            c["high_valid"].eq(keeps_high | (c["reading"] & (low_stays | (c["high_valid"] & ~low_stays)))),
        ]
        with m.If(~low_stays):
            m.d.sync += c["low"].eq(Mux(c["high_valid"], c["high"], arriving))
        with m.If(c["reading"] & ~keeps_high):
            m.d.sync += c["high"].eq(arriving)


class BitWindow(wiring.Component):
    """A window of 32 bits, at any bit, of a vector of bits."""

    def __init__(self) -> None:
        window = {"window": In(WindowSignature())}
        super().__init__(window | {"start": In(1), "bits": Out(32), "available": Out(6), "take": In(6)})

    def elaborate(self, platform):
        m = Module()
        offset = Signal(5)
        pair = Cat(self.window.words[0], self.window.words[1])
        total = Signal(10)
        following = Signal(7)
        m.d.comb += [
            total.eq(Mux(self.window.available == 0, 0, (self.window.available << 5) - offset)),
            self.available.eq(minimum(total, 32)),
            self.bits.eq((pair >> offset)[:32]),
            following.eq(offset + self.take),
            self.window.take.eq(following[5:]),
        ]
        m.d.sync += offset.eq(Mux(self.start, 0, following[:5]))
        return m
