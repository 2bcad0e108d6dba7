"""Evaluation of probes in order (SCU paper, sections 4.2 and 4.3).

A probe whose set has come reads it from the set memory, decides, puts the changed set back for later probes of the
same set, and sends through the port, one beat per cycle: the read of an evicted entry, the changed sectors of the set,
and (grouping) the element's number into its entry. Only then does the next probe go on, so that a set is read again
only after its changes were sent.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.evictions import EVICTED
from warpsift.hdl.interfaces import COMMAND, GROUP, TAG_EVICTION, TAG_WRITE, request_layout, stream_of
from warpsift.hdl.logic import encode, lowest
from warpsift.hdl.parameters import ADDRESS_BITS, EVICTIONS, TAG_KIND_BITS, ScuParameters, bits_for
from warpsift.hdl.probes import PROBE
from warpsift.hdl.sets import SetDecision


class Evaluator(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        self.slot_bits = bits_for(p.probes)
        queued = data.StructLayout({"slot": self.slot_bits, "number": self.slot_bits + 1, "probe": PROBE})
        fill = data.StructLayout({"slot": self.slot_bits, "sector": 2, "data": 256})
        super().__init__(
            {
                "command": In(COMMAND),
                "start": In(1),
                "queue": In(stream_of(queued)),
                "is_ready": In(1),
                "fill": In(fill),
                "fill_valid": In(1),
                "request": Out(stream_of(request_layout(p))),
                "evict": Out(stream_of(EVICTED)),
                "evict_number": In(bits_for(EVICTIONS)),
                "bit": Out(1),
                "bit_valid": Out(1),
                "bit_ready": In(1),
                "done": Out(1),
                "done_slot": Out(self.slot_bits),
                "done_number": Out(self.slot_bits + 1),
                "look_slot": Out(self.slot_bits),
                "kept": Out(32),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        command = self.command
        self.large = (command.ways == 4) & command.best
        self.shift = Signal(4)
        m.d.comb += self.shift.eq(2 + command.ways + command.best)
        self.now = Signal.like(self.queue.payload, name="now")
        self.valid, self.step = Signal(), Signal()
        m.submodules.decision = self.decision = SetDecision()
        self._memory(m)
        self._choose(m)
        self._send(m)
        self._finish(m)
        self._flow(m)
        return m

    def _memory(self, m):
        """Four banks of sectors: a set of 128 bytes lies across all of them, one of 64 bytes in half of them."""
        p, fill = self.p, self.fill
        next_slot = Signal(self.slot_bits)
        m.d.comb += [
            next_slot.eq(Mux(self.step, self.queue.payload.slot, self.now.slot)),
            self.look_slot.eq(next_slot),
        ]

        def row_of(slot):
            return Mux(self.large, slot, slot >> 1)

        def bank_of(slot, sector):
            return Mux(self.large, sector, Cat(sector[0] & (self.shift == 6), slot[0]))

        self.address = Signal(ADDRESS_BITS)
        m.d.comb += self.address.eq(self.command.table_address + (self.now.probe.set << self.shift))
        self.write_back = Signal(4)  # banks
        self.new_sectors = [Signal(256, name=f"new{k}") for k in range(4)]
        read_sectors = []
        for bank in range(4):
            store = memory.Memory(shape=256, depth=p.large_slots, init=[])
            m.submodules[f"bank{bank}"] = store
            arrival, change = store.write_port(), store.write_port()
            read = store.read_port(transparent_for=(arrival, change))
            part = Mux(self.large, bank, bank & 1)
            m.d.comb += [
                arrival.addr.eq(row_of(fill.slot)),
                arrival.data.eq(fill.data),
                arrival.en.eq(self.fill_valid & (bank_of(fill.slot, fill.sector) == bank)),
                change.addr.eq(row_of(self.now.slot)),
                change.data.eq(Array(self.new_sectors)[part]),
                change.en.eq(self.write_back[bank]),
                read.addr.eq(row_of(next_slot)),
            ]
            read_sectors.append(read.data)
        half = Mux(self.now.slot[0], Cat(read_sectors[2], read_sectors[3]), Cat(read_sectors[0], read_sectors[1]))
        whole = Mux(self.large, Cat(*read_sectors), half)
        # A set smaller than a sector lies somewhere in it
        self.offset = Signal(3)
        m.d.comb += self.offset.eq(Mux(self.shift >= 5, 0, self.address[2:5]))
        aligned = Signal(1024)
        m.d.comb += [
            aligned.eq(Cat((whole[:256] >> (self.offset << 5))[:256], whole[256:1024])),
            self.decision.words.eq(aligned),
            self.decision.probe.eq(self.now.probe),
            self.decision.command.eq(self.command),
        ]
        after = self.decision.after.as_value()
        moved = (after[:256] << (self.offset << 5))[:256]
        changed_low = (self.decision.changed[:8] << self.offset)[:8]
        self.changed = Signal(32)
        m.d.comb += self.changed.eq(Cat(changed_low, self.decision.changed[8:]))
        merged = Cat(
            *(Mux(self.changed[k], moved[32 * k : 32 * k + 32], whole[32 * k : 32 * k + 32]) for k in range(8))
        )
        m.d.comb += self.new_sectors[0].eq(merged)
        m.d.comb += [self.new_sectors[s].eq(after[256 * s : 256 * s + 256]) for s in range(1, 4)]

    def _choose(self, m):
        """Which beat of the present probe comes next: eviction, a changed sector, or the element's number."""
        decision, flush = self.decision, self.now.probe.flush
        self.groups = self.command.target == GROUP
        self.evicted, self.sent = Signal(), Signal(4)
        self.to_send = Signal(4)
        changed = Cat(*(self.changed[8 * s : 8 * s + 8].any() for s in range(4)))
        flushing = flush & decision.flush_left.any()
        self.evict_now, self.write_now, self.number_now = Signal(), Signal(), Signal()
        m.d.comb += [
            self.to_send.eq(changed & ~self.sent),
            self.evict_now.eq((decision.evicts & ~flush & ~self.evicted) | flushing),
            self.write_now.eq(~self.evict_now & self.to_send.any() & ~flush),
            self.number_now.eq(~self.evict_now & ~self.write_now & self.groups & ~flush),
        ]

    def _send(self, m):
        """That beat, as a request; an eviction also goes to the buffer where its group will come back."""
        p, command, decision = self.p, self.command, self.decision
        request, evict = self.request, self.evict
        self.place, self.element = Signal(32), Signal(32)
        self.last_sector = lowest(self.to_send, 4) == self.to_send
        evict_tag = Cat(self.evict_number, Const(0, p.tag_bits - TAG_KIND_BITS - len(self.evict_number)))
        number = Mux(self.evict_now, evict_tag, 0)[: p.tag_bits - TAG_KIND_BITS]
        m.d.comb += [
            evict.payload.count.eq(decision.evicted_count),
            evict.payload.place.eq(self.place),
            evict.valid.eq(self.valid & self.evict_now & request.ready),
            request.valid.eq(self.valid & (self.write_now | self.number_now | (self.evict_now & evict.ready))),
            request.payload.write.eq(~self.evict_now),
            request.payload.last.eq(self.number_now | self.last_sector),
            request.payload.tag.eq(Cat(number, Mux(self.evict_now, TAG_EVICTION, TAG_WRITE)[:TAG_KIND_BITS])),
        ]
        entry = Signal(ADDRESS_BITS)  # of the group: 32 bytes for each way
        sector, words = Signal(2), Signal(8)
        first = self.address[5:7] & Mux(self.shift >= 7, 0, Mux(self.shift == 6, 2, 3))
        m.d.comb += [
            entry.eq(command.slots_address + (((self.now.probe.set << command.ways) + decision.way) << 5)),
            sector.eq(encode(lowest(self.to_send, 4), 4)),
            words.eq(self.changed.word_select(sector, 8)),
        ]
        with m.If(self.evict_now):
            m.d.comb += [
                request.payload.sector.eq(Cat(Const(0, 2), entry[7:])),
                request.payload.sectors.eq(1 << entry[5:7]),
            ]
        with m.Elif(self.write_now):
            m.d.comb += [
                request.payload.sector.eq(Cat(first | sector, self.address[7:])),
                request.payload.sectors.eq(1 << (first | sector)),
                request.payload.mask.eq(Cat(*(bit.replicate(4) for bit in words))),
                request.payload.data.eq(Array(self.new_sectors)[sector]),
            ]
        with m.Else():
            m.d.comb += [
                request.payload.sector.eq(entry[5:]),
                request.payload.sectors.eq(1 << entry[5:7]),
                request.payload.mask.eq(0xF << (decision.count << 2)),
                request.payload.data.eq(self.element.replicate(8)),
            ]

    def _finish(self, m):
        """Remember what went; the probe is finished when the last of its beats goes, or when there is none."""
        decision, flush = self.decision, self.now.probe.flush
        flushed = Signal(16)
        goes = self.request.valid & self.request.ready
        m.d.comb += [decision.flushed.eq(flushed), self.busy.eq(self.valid)]
        with m.If(goes & self.evict_now):
            m.d.sync += [self.evicted.eq(1), self.place.eq(self.place + decision.evicted_count)]
            with m.If(flush):
                m.d.sync += flushed.eq(flushed | (1 << decision.way))
        with m.If(goes & self.write_now):
            m.d.sync += self.sent.eq(self.sent | lowest(self.to_send, 4))
        last_write = self.write_now & goes & self.last_sector & ~self.groups
        nothing = ~self.evict_now & ~self.write_now & ~self.number_now
        self.finished = Signal()
        m.d.comb += self.finished.eq(
            self.valid & (last_write | (self.number_now & goes) | nothing) & (self.bit_ready | ~self._gives_bit())
        )
        with m.If(self.finished):
            m.d.sync += [self.evicted.eq(0), self.sent.eq(0), flushed.eq(0)]
            with m.If(~flush):
                m.d.sync += self.element.eq(self.element + 1)
        with m.If(self.start):
            m.d.sync += [self.element.eq(0), self.place.eq(0)]

    def _gives_bit(self):
        return self.command.target != GROUP

    def _flow(self, m):
        kept = Signal(32)
        banks = Cat(*(self.changed[8 * s : 8 * s + 8].any() for s in range(4)))
        spread = Mux(self.large, banks, Mux(self.now.slot[0], banks[:2] << 2, banks[:2]))
        gives = self._gives_bit()
        m.d.comb += [
            self.write_back.eq(Mux(self.finished & ~self.now.probe.flush, spread, 0)),
            self.step.eq(self.finished | ~self.valid),
            self.queue.ready.eq(self.step & self.is_ready),
            self.done.eq(self.finished),
            self.done_slot.eq(self.now.slot),
            self.done_number.eq(self.now.number),
            self.bit.eq(self.decision.keep),
            self.bit_valid.eq(self.finished & gives),
            self.kept.eq(kept),
        ]
        with m.If(self.step):
            m.d.sync += [self.valid.eq(self.queue.valid & self.is_ready), self.now.eq(self.queue.payload)]
        with m.If(self.finished & (~gives | self.decision.keep) & ~self.now.probe.flush):
            m.d.sync += kept.eq(kept + 1)
        with m.If(self.start):
            m.d.sync += kept.eq(0)
