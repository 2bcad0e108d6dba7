"""Front of the Filtering/Grouping unit: from elements to sets of the hash table that are under way (SCU paper, 4.1).

Elements come one per cycle: a probe needs at least one sector through a port that brings one per cycle. The key (the
ID, or the block of 32 IDs for grouping) is hashed in two multiplications. The request buffer holds sets; a probe whose
set is already there, under way or waiting, uses that copy (its coalescing: an associative search over all sets in the
buffer), so an earlier probe's change is seen by a later one. Otherwise a set is read. Probes then wait in order.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, ResetInserter, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import COMMAND, GROUP, fetched_layout, read_layout, stream_of
from warpsift.hdl.logic import encode, lowest
from warpsift.hdl.parameters import ADDRESS_BITS, SET_BITS, ScuParameters, bits_for
from warpsift.units.scu.filtering import MULTIPLIER

PROBE = data.StructLayout({"set": SET_BITS, "wanted": 28, "cost": 32, "flush": 1})


class Serialiser(wiring.Component):
    """One element per cycle, with its key, its entry's word and its cost."""

    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        out = data.StructLayout({"key": 32, "wanted": 28, "cost": 32})
        super().__init__(
            {"command": In(COMMAND), "fetched": In(stream_of(fetched_layout(p))), "keys": Out(stream_of(out))}
        )

    def elaborate(self, platform):
        m = Module()
        p, command, bundle = self.p, self.command, self.fetched.payload
        gone = Signal(p.width)
        waiting = Signal(p.width)
        now = Signal(p.width)
        m.d.comb += [waiting.eq(bundle.mask & ~gone), now.eq(lowest(waiting, p.width))]
        number = encode(now, p.width)
        fields = [Signal(n) for n in (32, 32, 32)]
        for signal, name in zip(fields, ("value", "operand", "side"), strict=True):
            choices = [getattr(lane, name)[:32] for lane in bundle.lanes]
            m.d.comb += signal.eq(Array(choices)[number] if p.width > 1 else choices[0])
        value, operand, side = fields
        key = Signal(32)
        last = waiting == now
        goes = self.keys.valid & self.keys.ready
        m.d.comb += [
            key.eq(Mux(command.target == GROUP, value >> 5, value)),
            self.keys.valid.eq(self.fetched.valid),
            self.keys.payload.key.eq(key),
            self.keys.payload.wanted.eq((key + 1)[:28] | command.epoch),
            self.keys.payload.cost.eq(Mux(command.has_cost, operand, 0) + Mux(command.has_base, side, 0)),
            self.fetched.ready.eq(self.keys.ready & last),
        ]
        with m.If(goes):
            m.d.sync += gone.eq(Mux(last, 0, gone | now))
        return m


class Hasher(wiring.Component):
    """set = ((key * MULTIPLIER mod 2^32) * sets) / 2^32, in two stages; then, told to, all sets one after the other."""

    def __init__(self, p: ScuParameters) -> None:
        keys = data.StructLayout({"key": 32, "wanted": 28, "cost": 32})
        super().__init__(
            {
                "command": In(COMMAND),
                "start": In(1),
                "keys": In(stream_of(keys)),
                "probes": Out(stream_of(PROBE)),
                "flush": In(1),  # elements are done: evict every set
                "flushed": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        command = self.command
        first = Signal(data.StructLayout({"product": 32, "wanted": 28, "cost": 32}))
        second = Signal(PROBE)
        first_valid, second_valid = Signal(), Signal()
        flushed = Signal(SET_BITS + 1)
        step_second = Signal()
        step_first = Signal()
        flushing = self.flush & ~first_valid & (flushed < command.sets)
        m.d.comb += [
            step_second.eq(self.probes.ready | ~second_valid),
            step_first.eq(step_second | ~first_valid),
            self.keys.ready.eq(step_first),
            self.probes.valid.eq(second_valid),
            self.probes.payload.eq(second),
            self.flushed.eq((flushed >= command.sets) & ~second_valid),
            self.busy.eq(first_valid | second_valid),
        ]
        with m.If(step_first):
            m.d.sync += [
                first_valid.eq(self.keys.valid),
                first.product.eq((self.keys.payload.key * Const(MULTIPLIER, 32))[:32]),
                first.wanted.eq(self.keys.payload.wanted),
                first.cost.eq(self.keys.payload.cost),
            ]
        with m.If(step_second):
            m.d.sync += [
                second_valid.eq(first_valid | flushing),
                second.set.eq(Mux(flushing, flushed, (first.product * command.sets)[32:])),
                second.wanted.eq(first.wanted),
                second.cost.eq(first.cost),
                second.flush.eq(flushing),
                flushed.eq(flushed + flushing),
            ]
        with m.If(self.start):
            m.d.sync += [flushed.eq(0), first_valid.eq(0), second_valid.eq(0)]
        return m


class RequestBuffer(wiring.Component):
    """Sets under way or waiting, and the probes that wait for them in order."""

    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        self.slot_bits = bits_for(p.probes)
        queued = data.StructLayout({"slot": self.slot_bits, "number": self.slot_bits + 1, "probe": PROBE})
        super().__init__(
            {
                "command": In(COMMAND),
                "start": In(1),
                "enabled": In(1),  # the table has been cleared
                "probes": In(stream_of(PROBE)),
                "request": Out(stream_of(read_layout(p))),
                "queue": Out(stream_of(queued)),
                "ready_slot": In(self.slot_bits),  # is this slot's set complete?
                "is_ready": Out(1),
                "fill_slot": In(self.slot_bits),
                "fill_sector": In(2),
                "fill_valid": In(1),
                "done": In(1),  # the probe `done_number` of slot `done_slot` is being finished
                "done_slot": In(self.slot_bits),
                "done_number": In(self.slot_bits + 1),
                "look_slot": In(self.slot_bits),  # whose newest probe is looked up for the next cycle
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p, command = self.p, self.command
        n = p.probes
        sets = [Signal(SET_BITS, name=f"set{k}") for k in range(n)]
        live, pending = Signal(n), Signal(4 * n)
        probe = self.probes.payload
        match = Signal(n)
        m.d.comb += match.eq(Cat(*(live[k] & (sets[k] == probe.set) for k in range(n))))
        found = match.any()
        matched = Signal(self.slot_bits)
        m.d.comb += matched.eq(encode(match, n))
        slot, free = self._allocate(m, found, matched)
        layout = self.queue.payload.shape()
        m.submodules.queue = queue = SyncFIFOBuffered(width=layout.as_shape().width, depth=n)
        number = Signal(self.slot_bits + 1)
        # Bytes of a set: 4 or 8 for each way
        shift = Signal(4)
        address = Signal(ADDRESS_BITS)
        sectors = Signal(4)
        m.d.comb += [
            shift.eq(2 + command.ways + command.best),
            address.eq(command.table_address + (probe.set << shift)),
            sectors.eq(Mux(shift >= 7, 15, Mux(shift == 6, 3 << (address[6] << 1), 1 << address[5:7]))),
        ]
        leaving = self.done & found & (matched == self.done_slot)  # its copy goes this very cycle: look again
        under_way = Signal(range(n + 1))
        may = free & (under_way < p.probe_limit)
        ok = self.enabled & queue.w_rdy & ~leaving & (found | (may & self.request.ready))
        takes = self.probes.valid & ok
        entry = Signal(layout, name="entry")
        m.d.comb += [
            self.request.valid.eq(self.probes.valid & self.enabled & queue.w_rdy & ~found & may),
            self.request.payload.line.eq(address[7:]),
            self.request.payload.sectors.eq(sectors),
            self.request.payload.tag.eq(slot),
            self.probes.ready.eq(ok),
            entry.slot.eq(Mux(found, matched, slot)),
            entry.number.eq(number),
            entry.probe.eq(probe),
            queue.w_data.eq(entry),
            queue.w_en.eq(takes),
            self.queue.valid.eq(queue.r_rdy),
            self.queue.payload.eq(queue.r_data),
            queue.r_en.eq(self.queue.ready),
            self.busy.eq(queue.level != 0),
            self.is_ready.eq(pending.word_select(self.ready_slot, 4) == 0),
        ]
        opens = takes & ~found
        for k in range(n):
            with m.If(opens & (slot == k)):
                m.d.sync += sets[k].eq(probe.set)
        m.d.sync += number.eq(number + takes)
        filled = Mux(self.fill_valid, 1 << Cat(self.fill_sector, self.fill_slot), 0)
        asked = Mux(opens, sectors << (slot << 2), 0)
        m.d.sync += pending.eq((pending & ~filled[: 4 * n]) | asked[: 4 * n])
        completes = self.fill_valid & (pending.word_select(self.fill_slot, 4) == 1 << self.fill_sector)
        m.d.sync += under_way.eq(under_way + opens - completes)
        self._retire(m, live, takes, opens, entry, slot)
        return m

    def _allocate(self, m, found, matched):
        """A free slot: first those never used in this operation, then those that came back."""
        n = self.p.probes
        most = Mux(self._large(), self.p.large_slots, n)
        self.freed = SyncFIFOBuffered(width=self.slot_bits, depth=n)
        m.submodules.freed = ResetInserter(self.start)(self.freed)
        fresh = Signal(range(n + 1))
        is_fresh = fresh < most
        slot = Signal(self.slot_bits)
        m.d.comb += slot.eq(Mux(is_fresh, fresh, self.freed.r_data))
        self.fresh, self.is_fresh = fresh, is_fresh
        return slot, is_fresh | self.freed.r_rdy

    def _large(self):
        """Sets of 128 bytes."""
        return (self.command.ways == 4) & self.command.best

    def _retire(self, m, live, takes, opens, entry, slot):
        """A slot is free when its newest probe is finished."""
        n = self.p.probes
        m.submodules.newest = newest = memory.Memory(shape=self.slot_bits + 1, depth=n, init=[])
        write = newest.write_port()
        read = newest.read_port(transparent_for=(write,))
        m.d.comb += [
            write.addr.eq(entry.slot),
            write.data.eq(entry.number),
            write.en.eq(takes),
            read.addr.eq(self.look_slot),
        ]
        frees = self.done & (read.data == self.done_number)
        m.d.comb += [self.freed.w_data.eq(self.done_slot), self.freed.w_en.eq(frees)]
        set_ = Mux(opens, 1 << slot, 0)
        clear = Mux(frees, 1 << self.done_slot, 0)
        m.d.sync += live.eq((live & ~clear[:n]) | set_[:n])
        with m.If(opens & self.is_fresh):
            m.d.sync += self.fresh.eq(self.fresh + 1)
        m.d.comb += self.freed.r_en.eq(opens & ~self.is_fresh)
        with m.If(self.start):
            m.d.sync += self.fresh.eq(0)
