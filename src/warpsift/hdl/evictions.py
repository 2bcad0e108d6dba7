"""Evicted groups on their way to the output (SCU paper, section 4.3).

A full or displaced group is read back from memory. Groups come in any order and are placed in the output in the order
of their eviction, so a buffer of `EVICTIONS` sectors holds them.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import store_layout, stream_of
from warpsift.hdl.logic import minimum
from warpsift.hdl.parameters import EVICTIONS, ScuParameters, bits_for

EVICTED = data.StructLayout({"count": 4, "place": 32})


class EvictionBuffer(wiring.Component):
    """Groups being read back; each goes to the Data Store as (element number, place)."""

    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        number = bits_for(EVICTIONS)
        super().__init__(
            {
                "evict": In(stream_of(EVICTED)),
                "number": Out(number),  # that the next eviction gets
                "fill_number": In(number),
                "fill_data": In(256),
                "fill_valid": In(1),
                "places": Out(stream_of(store_layout(p))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self.p
        bits = bits_for(EVICTIONS)
        m.submodules.sectors = sectors = memory.Memory(shape=256, depth=EVICTIONS, init=[])
        m.submodules.entries = entries = memory.Memory(shape=EVICTED, depth=EVICTIONS, init=[])
        write, read = sectors.write_port(), sectors.read_port()
        write_entry = entries.write_port()
        read_entry = entries.read_port()
        head, tail = Signal(bits + 1), Signal(bits + 1)
        arrived = Signal(EVICTIONS)
        m.d.comb += [
            self.number.eq(tail[:bits]),
            self.evict.ready.eq((tail - head)[: bits + 1] < EVICTIONS),
            write.addr.eq(self.fill_number),
            write.data.eq(self.fill_data),
            write.en.eq(self.fill_valid),
            write_entry.addr.eq(tail[:bits]),
            write_entry.data.eq(self.evict.payload),
            write_entry.en.eq(self.evict.valid & self.evict.ready),
        ]
        m.d.sync += tail.eq(tail + (self.evict.valid & self.evict.ready))
        # One group at a time, `width` of its elements per cycle
        loaded, given = Signal(), Signal(4)
        out = self.places
        left = (read_entry.data.count - given)[:4]
        lanes = minimum(left, p.order_lanes)
        finished = Signal()
        m.d.comb += [
            out.valid.eq(loaded),
            finished.eq(loaded & out.ready & (left <= p.order_lanes)),
            self.busy.eq((head != tail) | loaded),
        ]
        following = Signal(bits + 1)
        m.d.comb += following.eq(head + finished)
        ready = arrived.bit_select(following[:bits], 1) & (following != tail)
        m.d.comb += [read.addr.eq(following[:bits]), read_entry.addr.eq(following[:bits])]
        m.d.sync += [
            head.eq(following),
            loaded.eq(Mux(loaded & ~finished, 1, ready)),
            given.eq(Mux(finished | ~loaded, 0, Mux(out.ready, given + lanes, given))),
            arrived.eq(
                (arrived & ~Mux(finished, 1 << head[:bits], 0)) | Mux(self.fill_valid, 1 << self.fill_number, 0)
            ),
        ]
        rest = Signal(256)
        m.d.comb += [rest.eq(read.data >> (given << 5)), out.payload.mask.eq((1 << lanes) - 1)]
        for lane in range(p.order_lanes):
            m.d.comb += [
                out.payload.lanes[lane].place.eq(rest.word_select(lane, 32)),
                out.payload.lanes[lane].value.eq(read_entry.data.place + given + lane),
            ]
        return m
