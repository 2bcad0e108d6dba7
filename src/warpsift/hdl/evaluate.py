"""Evaluation of probes in order, and the evicted groups (SCU paper, 4.2 and 4.3).

A probe whose set has come reads it from the set memory, decides, puts the changed set back for later probes of the
same set, and sends through the port, one beat per cycle: the read of an evicted entry, the changed sectors of the set,
and (grouping) the element's number into its entry. Only then does the next probe go on, so that a set is read again
only after its changes were sent. Evicted groups come back in any order and are placed in the output in order.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import COMMAND, GROUP, TAG_EVICTION, TAG_WRITE, request_layout, store_layout, stream_of
from warpsift.hdl.logic import encode, lowest, minimum
from warpsift.hdl.parameters import ADDRESS_BITS, EVICTIONS, TAG_KIND_BITS, ScuParameters, bits_for
from warpsift.hdl.probes import PROBE
from warpsift.hdl.sets import SetDecision

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
        self._actions(m)
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

    def _actions(self, m):
        """The beats of the present probe: eviction, changed sectors, element number; each until it is accepted."""
        p, command, decision = self.p, self.command, self.decision
        groups = command.target == GROUP
        flush = self.now.probe.flush
        self.evicted, self.sent, self.numbered = Signal(), Signal(4), Signal()
        self.element = Signal(32)
        flushed = Signal(16)
        changed = Cat(*(self.changed[8 * s : 8 * s + 8].any() for s in range(4)))
        to_send = Signal(4)
        m.d.comb += [to_send.eq(changed & ~self.sent), decision.flushed.eq(flushed)]
        flushing = flush & decision.flush_left.any()
        evict_now = (decision.evicts & ~flush & ~self.evicted) | flushing
        write_now = ~evict_now & to_send.any() & ~flush
        number_now = ~evict_now & ~write_now & groups & ~flush & ~self.numbered
        request, evict = self.request, self.evict
        entry = Signal(ADDRESS_BITS)  # of the group: 32 bytes for each way
        m.d.comb += entry.eq(command.slots_address + (((self.now.probe.set << command.ways) + decision.way) << 5))
        sector = Signal(2)
        m.d.comb += sector.eq(encode(lowest(to_send, 4), 4))
        first = self.address[5:7] & Mux(self.shift >= 7, 0, Mux(self.shift == 6, 2, 3))
        place = Signal(32)
        words = Signal(8)
        m.d.comb += words.eq(self.changed.word_select(sector, 8))
        evict_tag = Cat(self.evict_number, Const(0, p.tag_bits - TAG_KIND_BITS - len(self.evict_number)))
        m.d.comb += [
            evict.payload.count.eq(decision.evicted_count),
            evict.payload.place.eq(place),
            request.valid.eq(self.valid & (write_now | number_now | (evict_now & evict.ready))),
            evict.valid.eq(self.valid & evict_now & request.ready),
            request.payload.write.eq(~evict_now),
            request.payload.last.eq(number_now | (lowest(to_send, 4) == to_send)),
            request.payload.tag.eq(
                Cat(Mux(evict_now, evict_tag, 0)[: p.tag_bits - 2], Mux(evict_now, TAG_EVICTION, TAG_WRITE)[:2])
            ),
        ]
        with m.If(evict_now):
            m.d.comb += [
                request.payload.sector.eq(Cat(Const(0, 2), entry[7:])),
                request.payload.sectors.eq(1 << entry[5:7]),
            ]
        with m.Elif(write_now):
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
        goes = request.valid & request.ready
        with m.If(goes & evict_now):
            m.d.sync += [self.evicted.eq(1), place.eq(place + decision.evicted_count)]
            with m.If(flush):
                m.d.sync += flushed.eq(flushed | (1 << decision.way))
        with m.If(goes & write_now):
            m.d.sync += self.sent.eq(self.sent | lowest(to_send, 4))
        # Finished when the last of these goes, or when there is none
        last_write = write_now & goes & (lowest(to_send, 4) == to_send) & ~groups
        nothing = ~evict_now & ~write_now & ~number_now
        self.finished = Signal()
        m.d.comb += self.finished.eq(
            self.valid & (last_write | (number_now & goes) | nothing) & (self.bit_ready | ~self._gives_bit())
        )
        m.d.comb += self.busy.eq(self.valid)
        with m.If(self.finished):
            m.d.sync += [self.evicted.eq(0), self.sent.eq(0), self.numbered.eq(0), flushed.eq(0)]
            with m.If(~flush):
                m.d.sync += self.element.eq(self.element + 1)
        with m.If(self.start):
            m.d.sync += [self.element.eq(0), place.eq(0)]

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
