"""The Stream Compaction Unit: its stages, its command port and its memory ports (SCU paper, Figs. 7 and 8).

    command ─▶ Address Generator ─▶ Coalescing Unit ─▶ Data Fetch ─┬─▶ Bitmask Constructor ─▶ bits ─┐
                 ▲ vector buffers         │ reads                  ├────────────────────────────────┼─▶ Data Store
                 └────────── data port ◀──┴── writes ──────────────┴─▶ Filtering/Grouping ─▶ bits,  ┘
                                                                        hash port            places

An operation begins when its command is accepted and ends, when its last write is acknowledged, with a result: the
number of elements it kept.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from warpsift.hdl.address import AddressStage, Expander, InputWalker
from warpsift.hdl.coalescing_unit import CoalescingUnit
from warpsift.hdl.data_store import BitmaskConstructor, BitPacker, DataStore
from warpsift.hdl.fetch import DataFetch
from warpsift.hdl.hashing import FilteringGrouping
from warpsift.hdl.interfaces import (
    COMMAND,
    COMPARE,
    GROUP,
    RESULT,
    STORE,
    TAG_READ,
    TAG_VECTOR,
    TAG_WRITE,
    reply_layout,
    request_layout,
    stream_of,
)
from warpsift.hdl.logic import encode, lowest
from warpsift.hdl.parameters import VECTORS, ScuParameters, bits_for
from warpsift.hdl.vectors import BitWindow, VectorBuffer


class Scu(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        extra = 1 if p.ports == 1 else 0  # whose reply it is
        ports = {
            "data_request": Out(stream_of(request_layout(p, extra))),
            "data_reply": In(stream_of(reply_layout(p, extra))),
        }
        if p.ports == 2:
            ports |= {
                "hash_request": Out(stream_of(request_layout(p))),
                "hash_reply": In(stream_of(reply_layout(p))),
            }
        super().__init__({"command": In(stream_of(COMMAND)), "result": Out(stream_of(RESULT)), **ports})

    def elaborate(self, platform):
        m = Module()
        p = self.p
        self.held = Signal(COMMAND)
        self.start = Signal()
        m.submodules.vectors = self.vectors = VectorBuffer(p)
        m.submodules.mask_bits = self.mask_bits = BitWindow()
        m.submodules.keep_bits = self.keep_bits = BitWindow()
        m.submodules.walker = self.walker = InputWalker(p)
        m.submodules.expander = self.expander = Expander(p)
        m.submodules.address = self.address = AddressStage(p)
        m.submodules.coalescer = self.coalescer = CoalescingUnit(p)
        m.submodules.fetch = self.fetch = DataFetch(p)
        m.submodules.bitmask = self.bitmask = BitmaskConstructor(p)
        m.submodules.packer = self.packer = BitPacker(p)
        m.submodules.store = self.store = DataStore(p)
        m.submodules.hashing = self.hashing = FilteringGrouping(p)
        for part in (self.walker, self.expander, self.address, self.fetch, self.bitmask, self.hashing):
            m.d.comb += part.command.eq(self.held)
        starts = (self.vectors, self.mask_bits, self.keep_bits, self.walker, self.address, self.coalescer)
        for part in (*starts, self.packer, self.hashing):
            m.d.comb += part.start.eq(self.start)
        self._connect_front(m)
        self._connect_back(m)
        self._ports(m)
        self._sequence(m)
        return m

    def _connect_front(self, m):
        connect(m, self.vectors.window_mask, self.mask_bits.window)
        connect(m, self.vectors.window_keep, self.keep_bits.window)
        for bits, user in ((self.mask_bits, self.walker.mask), (self.keep_bits, self.expander.keep)):
            m.d.comb += [user.bits.eq(bits.bits), user.available.eq(bits.available), bits.take.eq(user.take)]
        connect(m, self.vectors.window_index, self.walker.index)
        connect(m, self.vectors.window_count, self.walker.count)
        connect(m, self.vectors.window_base, self.walker.base)
        connect(m, self.vectors.window_order, self.expander.order)
        connect(m, self.walker.inputs, self.expander.inputs)
        connect(m, self.expander.elements, self.address.elements)
        connect(m, self.address.addresses, self.coalescer.addresses)
        connect(m, self.coalescer.rows, self.fetch.rows)
        m.d.comb += self.coalescer.ring_free.eq(self.fetch.ring_free)
        command = self.held
        lengths = {"mask": (command.inputs + 31) >> 5, "keep": command.keep_words, "order": command.order_words}
        for name in VECTORS:
            config = getattr(self.vectors, f"config_{name}")
            m.d.comb += [
                config.active.eq(getattr(command, f"has_{name}")),
                config.line.eq(getattr(command, f"{name}_address")[7:]),
                config.words.eq(lengths.get(name, command.inputs)),
            ]

    def _connect_back(self, m):
        """From Data Fetch to the stage that the operation's target names, and from there to the Data Store."""
        p, command = self.p, self.held
        fetched = self.fetch.fetched
        to_store, to_compare = command.target == STORE, command.target == COMPARE
        to_hash = ~to_store & ~to_compare
        for part in (self.bitmask.fetched, self.hashing.fetched):
            m.d.comb += part.payload.eq(fetched.payload)
        m.d.comb += [
            self.bitmask.fetched.valid.eq(fetched.valid & to_compare),
            self.hashing.fetched.valid.eq(fetched.valid & to_hash),
        ]
        packed, elements = self.packer.bits, self.store.elements
        with m.If(to_compare):
            connect_payload(m, self.bitmask.bits, packed)
        with m.Else():
            connect_payload(m, self.hashing.bits, packed)
        self.given = Signal(32)  # elements that have left Data Fetch
        first = encode(lowest(fetched.payload.mask, p.width), p.width) if p.width > 1 else Const(0, 1)
        begin = Signal(32)
        m.d.comb += begin.eq(self.given - first)
        with m.If(to_store):
            m.d.comb += [
                elements.valid.eq(fetched.valid),
                elements.payload.mask.eq(fetched.payload.mask),
                fetched.ready.eq(elements.ready),
            ]
            for lane in range(p.width):
                it, to = fetched.payload.lanes[lane], elements.payload.lanes[lane]
                m.d.comb += [
                    to.value.eq(it.value + Mux(command.add, it.operand, 0)),
                    to.place.eq(Mux(command.has_order, it.side, begin + lane)),
                ]
        with m.Elif(command.target == GROUP):
            connect_payload(m, self.hashing.places, elements)
            m.d.comb += fetched.ready.eq(self.hashing.fetched.ready)
        with m.Else():
            connect_payload(m, self.packer.words, elements)
            m.d.comb += fetched.ready.eq(Mux(to_compare, self.bitmask.fetched.ready, self.hashing.fetched.ready))
        count = sum((bit for bit in fetched.payload.mask), start=Const(0))
        with m.If(fetched.valid & fetched.ready):
            m.d.sync += self.given.eq(self.given + count)
        with m.If(self.start):
            m.d.sync += self.given.eq(0)
        m.d.comb += [self.store.base.eq(command.out_address), self.store.size.eq(Mux(to_store, command.size, 2))]

    def _ports(self, m):
        """Data port: vectors first, which hold up all the rest, then data, then writes: these can wait in their lines.

        At most `inflight_requests` lines are under way.
        """
        p = self.p
        request, reply = Signal(request_layout(p)), Signal(reply_layout(p))
        valid, ready, reply_valid = Signal(), Signal(), Signal()
        under_way = Signal(range(p.inflight + 2))
        may = under_way < p.inflight
        number_bits = p.tag_bits - 2
        vector_goes = self.vectors.request.valid & may
        store, reads = self.store.request, self.coalescer.request
        m.d.comb += [
            self.coalescer.may_request.eq(may),
            reads.ready.eq(ready & ~vector_goes),
            self.vectors.request.ready.eq(ready & may),
            store.ready.eq(ready & ~reads.valid & ~vector_goes),
            valid.eq(store.valid | reads.valid | vector_goes),
        ]
        with m.If(store.valid & ~reads.valid & ~vector_goes):
            m.d.comb += [request.eq(store.payload), request.tag.eq(TAG_WRITE << number_bits)]
        with m.Else():
            for source, kind in ((self.vectors.request, TAG_VECTOR), (reads, TAG_READ)):
                with m.If(vector_goes if kind == TAG_VECTOR else ~vector_goes):
                    tag = Cat(source.payload.tag, Const(0, number_bits))[:number_bits]
                    m.d.comb += [
                        request.sector.eq(Cat(Const(0, 2), source.payload.line)),
                        request.sectors.eq(source.payload.sectors),
                        request.tag.eq(Cat(tag, Const(kind, 2))),
                    ]
        self.under_way = under_way
        vector_sent = self.vectors.request.valid & self.vectors.request.ready
        m.d.sync += under_way.eq(
            under_way + (self.coalescer.opened | vector_sent) - self.coalescer.completed - self.vectors.completed
        )
        kind, number = reply.tag[-2:], reply.tag[:number_bits]
        line_bits = self.vectors.line_bits
        m.d.comb += [
            self.store.acknowledged.eq(reply_valid & (kind == TAG_WRITE)),
            self.coalescer.fill_valid.eq(reply_valid & (kind == TAG_READ)),
            self.coalescer.fill.tag.eq(number[: bits_for(p.inflight)]),
            self.coalescer.fill.sector.eq(reply.sector),
            self.fetch.fill_valid.eq(self.coalescer.fill_valid),
            self.fetch.fill.slot.eq(self.coalescer.fill_slot),
            self.fetch.fill.data.eq(reply.data),
            self.vectors.fill_valid.eq(reply_valid & (kind == TAG_VECTOR)),
            self.vectors.fill.vector.eq(number[:3]),
            self.vectors.fill.line.eq(number[3 : 3 + line_bits]),
            self.vectors.fill.sector.eq(reply.sector),
            self.vectors.fill.data.eq(reply.data),
        ]
        self._outside(m, (request, valid, ready), (reply, reply_valid))

    def _outside(self, m, data_request, data_reply):
        """Two memory ports, or one for both."""
        p = self.p
        request, valid, ready = data_request
        reply, reply_valid = data_reply
        hash_request, hash_reply = self.hashing.request, self.hashing.reply
        out, back = self.data_request, self.data_reply
        m.d.comb += [reply_valid.eq(back.valid), back.ready.eq(1), out.payload.eq(request)]
        m.d.comb += reply.eq(back.payload)
        if p.ports == 2:
            m.d.comb += [out.valid.eq(valid), ready.eq(out.ready)]
            connect_payload(m, hash_request, self.hash_request)
            connect_payload(m, self.hash_reply, hash_reply)
            return
        turn = Signal()  # whoever went last gives way
        to_hash = hash_request.valid & (~valid | turn)
        m.d.comb += [
            out.valid.eq(valid | hash_request.valid),
            ready.eq(out.ready & ~to_hash),
            hash_request.ready.eq(out.ready & to_hash),
            hash_reply.valid.eq(back.valid & back.payload.tag[-1]),
            reply_valid.eq(back.valid & ~back.payload.tag[-1]),
        ]
        for name in ("write", "last", "sector", "sectors", "mask", "data"):
            choice = Mux(to_hash, getattr(hash_request.payload, name), getattr(request, name))
            m.d.comb += getattr(out.payload, name).eq(choice)
        m.d.comb += out.payload.tag.eq(Mux(to_hash, Cat(hash_request.payload.tag, 1), Cat(request.tag, Const(0, 1))))
        for name in ("tag", "sector", "data"):
            m.d.comb += getattr(reply, name).eq(getattr(back.payload, name))
            m.d.comb += getattr(hash_reply.payload, name).eq(getattr(back.payload, name))
        with m.If(out.valid & out.ready):
            m.d.sync += turn.eq(~to_hash)

    def _sequence(self, m):
        """Start, wait until each part is empty in turn, flush what gathers, answer."""
        command = self.held
        front = self.walker.busy | self.expander.busy | self.address.busy | self.coalescer.busy | self.fetch.busy
        result = self.result
        hashed = (command.target != STORE) & (command.target != COMPARE)
        m.d.comb += result.payload.kept.eq(Mux(hashed, self.hashing.kept, self.given))
        with m.FSM():
            with m.State("idle"):
                m.d.comb += self.command.ready.eq(1)
                m.d.sync += self.held.eq(self.command.payload)
                with m.If(self.command.valid):
                    m.next = "start"
            with m.State("start"):
                m.d.comb += self.start.eq(1)
                m.next = "elements"
            with m.State("elements"), m.If(~front & (~self.hashing.busy | (command.target == GROUP))):
                m.next = "groups"  # the probes that evict what is left follow those of the elements
            with m.State("groups"):
                flush = command.target == GROUP
                m.d.comb += self.hashing.flush.eq(flush)
                with m.If(~flush | self.hashing.flushed):
                    m.next = "bits"
            with m.State("bits"):
                m.d.comb += self.packer.flush.eq(1)
                with m.If(~self.packer.busy):
                    m.next = "lines"
            with m.State("lines"):
                m.d.comb += self.store.flush.eq(1)
                with m.If(~self.store.busy & ~self.hashing.writing & (self.under_way == 0)):
                    m.next = "answer"
            with m.State("answer"):
                m.d.comb += result.valid.eq(1)
                with m.If(result.ready):
                    m.next = "idle"


def connect_payload(m, source, sink):
    """Connect two streams of the same layout, by conditions around it if need be."""
    m.d.comb += [sink.valid.eq(source.valid), sink.payload.eq(source.payload), source.ready.eq(sink.ready)]
