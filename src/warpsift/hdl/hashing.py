"""Filtering/Grouping unit (SCU paper, 4.1 and Fig. 8): clearing, probes, evaluation, evictions, and its memory port."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warpsift.hdl.evaluate import Evaluator
from warpsift.hdl.evictions import EvictionBuffer
from warpsift.hdl.interfaces import (
    COMMAND,
    TAG_EVICTION,
    TAG_SET,
    TAG_WRITE,
    bits_layout,
    fetched_layout,
    reply_layout,
    request_layout,
    store_layout,
    stream_of,
)
from warpsift.hdl.logic import below
from warpsift.hdl.parameters import EVICTIONS, SET_BITS, ScuParameters, bits_for
from warpsift.hdl.probes import Hasher, RequestBuffer, Serialiser


class Clearer(wiring.Component):
    """Writes zeros over the words of a hash table, one sector per cycle."""

    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        super().__init__(
            {"command": In(COMMAND), "start": In(1), "request": Out(stream_of(request_layout(p))), "busy": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        command, request = self.command, self.request
        left = Signal(SET_BITS + 8)
        sector = Signal.like(request.payload.sector)
        m.d.comb += [
            self.busy.eq(left != 0),
            request.valid.eq(left != 0),
            request.payload.write.eq(1),
            request.payload.tag.eq(TAG_WRITE << (self.p.tag_bits - 2)),
            request.payload.sector.eq(sector),
            request.payload.sectors.eq(1 << sector[:2]),
            request.payload.last.eq((sector[:2] == 3) | (left <= 32)),
            request.payload.mask.eq(Mux(left >= 32, 0xFFFFFFFF, below(left[:5], 32))),
        ]
        with m.If(self.start):
            m.d.sync += [
                left.eq(Mux(command.clear, command.sets << (2 + command.ways + command.best), 0)),
                sector.eq(command.table_address[5:]),
            ]
        with m.Elif(request.ready & self.busy):
            m.d.sync += [left.eq(Mux(left > 32, left - 32, 0)), sector.eq(sector + 1)]
        return m


class FilteringGrouping(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        super().__init__(
            {
                "command": In(COMMAND),
                "start": In(1),
                "fetched": In(stream_of(fetched_layout(p))),
                "flush": In(1),  # all elements have come: evict all groups
                "flushed": Out(1),
                "bits": Out(stream_of(bits_layout(p))),
                "places": Out(stream_of(store_layout(p))),
                "kept": Out(32),
                "request": Out(stream_of(request_layout(p))),
                "reply": In(stream_of(reply_layout(p))),
                "busy": Out(1),
                "writing": Out(1),  # writes are not yet acknowledged
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self.p
        m.submodules.serialiser = serialiser = Serialiser(p)
        m.submodules.hasher = hasher = Hasher(p)
        m.submodules.buffer = buffer = RequestBuffer(p)
        m.submodules.evaluator = evaluator = Evaluator(p)
        m.submodules.evictions = evictions = EvictionBuffer(p)
        m.submodules.clearer = clearer = Clearer(p)
        for part in (serialiser, hasher, buffer, evaluator, clearer):
            m.d.comb += part.command.eq(self.command)
        for part in (hasher, buffer, evaluator, clearer):
            m.d.comb += part.start.eq(self.start)
        connect(m, flipped(self.fetched), serialiser.fetched)
        connect(m, serialiser.keys, hasher.keys)
        connect(m, hasher.probes, buffer.probes)
        connect(m, buffer.queue, evaluator.queue)
        connect(m, evaluator.evict, evictions.evict)
        connect(m, evictions.places, flipped(self.places))
        m.d.comb += [
            buffer.enabled.eq(~clearer.busy & ~self.start),
            buffer.ready_slot.eq(evaluator.queue.payload.slot),
            evaluator.is_ready.eq(buffer.is_ready),
            evaluator.evict_number.eq(evictions.number),
            hasher.flush.eq(self.flush),
            self.flushed.eq(hasher.flushed & ~buffer.busy & ~evaluator.busy & ~evictions.busy),
            self.busy.eq(hasher.busy | buffer.busy | evaluator.busy | evictions.busy | clearer.busy),
            self.kept.eq(evaluator.kept),
            self.bits.valid.eq(evaluator.bit_valid),
            self.bits.payload.bits.eq(evaluator.bit),
            self.bits.payload.count.eq(1),
            evaluator.bit_ready.eq(self.bits.ready),
        ]
        for name in ("done", "done_slot", "done_number", "look_slot"):
            m.d.comb += getattr(buffer, name).eq(getattr(evaluator, name))
        self._requests(m, evaluator, clearer, buffer)
        self._replies(m, evaluator, evictions, buffer)
        return m

    def _requests(self, m, evaluator, clearer, buffer):
        """Reads of sets go first: later probes wait behind them. Then the evaluator's beats, and clearing."""
        p, out = self.p, self.request
        read = Signal(request_layout(p))
        number = Cat(buffer.request.payload.tag, Const(0, p.tag_bits))[: p.tag_bits - 2]
        m.d.comb += [
            read.tag.eq(Cat(number, Const(TAG_SET, 2))),
            read.sector.eq(Cat(Const(0, 2), buffer.request.payload.line)),
            read.sectors.eq(buffer.request.payload.sectors),
            buffer.request.ready.eq(out.ready),
            evaluator.request.ready.eq(out.ready & ~buffer.request.valid),
            clearer.request.ready.eq(out.ready & ~buffer.request.valid & ~evaluator.request.valid),
            out.valid.eq(evaluator.request.valid | clearer.request.valid | buffer.request.valid),
            out.payload.eq(read),
        ]
        with m.If(~buffer.request.valid & evaluator.request.valid):
            m.d.comb += out.payload.eq(evaluator.request.payload)
        with m.Elif(~buffer.request.valid & clearer.request.valid):
            m.d.comb += out.payload.eq(clearer.request.payload)

    def _replies(self, m, evaluator, evictions, buffer):
        p, reply = self.p, self.reply
        kind = reply.payload.tag[-2:]
        is_set = reply.valid & (kind == TAG_SET)
        slot = reply.payload.tag[: bits_for(p.probes)]
        m.d.comb += [
            reply.ready.eq(1),
            evaluator.fill_valid.eq(is_set),
            evaluator.fill.slot.eq(slot),
            evaluator.fill.sector.eq(reply.payload.sector),
            evaluator.fill.data.eq(reply.payload.data),
            buffer.fill_valid.eq(is_set),
            buffer.fill_slot.eq(slot),
            buffer.fill_sector.eq(reply.payload.sector),
            evictions.fill_valid.eq(reply.valid & (kind == TAG_EVICTION)),
            evictions.fill_number.eq(reply.payload.tag[: bits_for(EVICTIONS)]),
            evictions.fill_data.eq(reply.payload.data),
        ]
        writes = Signal(32)
        out = self.request
        sent = out.valid & out.ready & out.payload.write & out.payload.last
        m.d.sync += writes.eq(writes + sent - (reply.valid & (kind == TAG_WRITE)))
        m.d.comb += self.writing.eq(writes != 0)
