"""Address Generator: from the inputs of an operation to the addresses of its elements (SCU paper, section 3.2.1).

Three stages, each up to `width` per cycle:
`InputWalker`  visits the inputs, skips those that the mask drops (up to 32 per cycle; 8 when words come with them);
`Expander`     gives the elements of each input: one, `count` times the same, or `count` neighbours, without those
               that a filter vector drops;
`AddressStage` turns elements into addresses; when an element has a second operand (its cost, or the old value of the
               output) that one's address goes first, as a pass of its own.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import COMMAND, address_layout, element_layout, input_layout, stream_of
from warpsift.hdl.logic import below, encode, lowest, minimum, select_first
from warpsift.hdl.parameters import ADDRESS_BITS, WORDS_PER_SECTOR, ScuParameters
from warpsift.hdl.vectors import WindowSignature

BITS_PER_CYCLE = 32


class BitsSignature(wiring.Signature):
    """The next bits of a vector, as `BitWindow` gives them."""

    def __init__(self) -> None:
        super().__init__({"bits": Out(32), "available": Out(6), "take": In(6)})


class InputWalker(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        super().__init__(
            {
                "command": In(COMMAND),
                "start": In(1),
                "mask": In(BitsSignature()),
                "index": In(WindowSignature()),
                "count": In(WindowSignature()),
                "base": In(WindowSignature()),
                "inputs": Out(stream_of(input_layout(p))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p, command = self.p, self.command
        number = Signal(32)  # of the first input of the window
        left = Signal(32)
        words = (("has_index", self.index), ("has_count", self.count), ("has_base", self.base))
        has_words = command.has_index | command.has_count | command.has_base
        most = Mux(has_words, WORDS_PER_SECTOR, BITS_PER_CYCLE) if p.skip_dropped else min(p.width, WORDS_PER_SECTOR)
        window = Signal(6)
        limit = minimum(left, most)
        limit = Mux(command.has_mask, minimum(limit, self.mask.available), limit)
        for flag, vector in words:
            limit = Mux(getattr(command, flag), minimum(limit, vector.available), limit)
        m.d.comb += window.eq(limit)
        bits = Signal(BITS_PER_CYCLE)
        m.d.comb += bits.eq(Mux(command.has_mask, self.mask.bits, 0xFFFFFFFF) & below(window, BITS_PER_CYCLE))
        picks, rest = select_first(m, bits, BITS_PER_CYCLE, p.width, "input")
        out = self.inputs
        ready = Signal()
        advance = Signal(6)
        chosen = out.payload.as_value()
        valid = Signal()
        following = Signal(6)
        m.d.comb += [
            following.eq(encode(select_first(m, rest, BITS_PER_CYCLE, 1, "next")[0][0], BITS_PER_CYCLE)),
            ready.eq(out.ready | ~valid),
            advance.eq(Mux(ready, Mux(rest.any(), following, window), 0)),
            out.valid.eq(valid),
            self.busy.eq(valid | (left != 0)),
            self.mask.take.eq(Mux(command.has_mask, advance, 0)),
        ]
        for flag, vector in words:
            m.d.comb += vector.take.eq(Mux(getattr(command, flag), advance, 0))
        held = Signal.like(chosen, name="held")
        m.d.comb += chosen.eq(held)
        bundle = out.payload.shape()(held)
        # Where a mask keeps at least half, hardly a sector between its first and last element is not needed
        dense = Signal()
        last = Signal(5)
        m.d.comb += [
            dense.eq(sum((bit for bit in bits), start=0) >= BITS_PER_CYCLE // 2),
            last.eq(BITS_PER_CYCLE - 1 - encode(lowest(bits[::-1], BITS_PER_CYCLE), BITS_PER_CYCLE)),
        ]
        with m.If(self.start):
            m.d.sync += [number.eq(0), left.eq(command.inputs), valid.eq(0)]
        with m.Elif(ready):
            m.d.sync += [
                valid.eq(bits.any()),
                number.eq(number + advance),
                left.eq(left - advance),
                bundle.mask.eq(Cat(*(pick.any() for pick in picks))),
            ]
            for lane, pick in enumerate(picks):
                at = Signal(5, name=f"at{lane}")
                m.d.comb += at.eq(encode(pick, BITS_PER_CYCLE))
                word = at[:3]
                m.d.sync += [
                    bundle.lanes[lane].first.eq(Mux(command.has_index, self.index.words[word], number + at)),
                    bundle.lanes[lane].length.eq(Mux(command.has_count, self.count.words[word], 1)),
                    bundle.lanes[lane].end.eq(number + Mux(dense, last, at)),
                    bundle.lanes[lane].base.eq(self.base.words[word]),
                ]
        return m


class Expander(wiring.Component):
    """Inputs wait in banks of `width`; with more than one lane there are two banks, so that a cycle can take elements
    of the last inputs of one bank and the first of the next."""

    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        self.banks = 1 if p.width == 1 else 2
        super().__init__(
            {
                "command": In(COMMAND),
                "inputs": In(stream_of(input_layout(p))),
                "keep": In(BitsSignature()),
                "order": In(WindowSignature()),
                "elements": Out(stream_of(element_layout(p))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p, command = self.p, self.command
        banks = [Signal(input_layout(p), name=f"bank{b}") for b in range(self.banks)]
        places = [(bank, lane) for bank in banks for lane in range(p.width)]
        starts, lengths = [], []
        total = Const(0, 7)
        for k, (bank, lane) in enumerate(places):
            start, length = Signal(6, name=f"start{k}"), Signal(6, name=f"length{k}")
            room = BITS_PER_CYCLE - total
            here = Mux(bank.mask[lane], minimum(bank.lanes[lane].length, BITS_PER_CYCLE), 0)
            m.d.comb += [start.eq(total), length.eq(minimum(here, room))]
            starts.append(start)
            lengths.append(length)
            total = (start + length)[:7]
        limit, keep = Signal(6), Signal(BITS_PER_CYCLE)
        lanes_open = Mux(command.has_order, p.order_lanes, p.width)
        plain = minimum(total, lanes_open)
        filtered = minimum(total if p.skip_dropped else plain, self.keep.available)
        m.d.comb += [
            limit.eq(Mux(command.has_keep, filtered, plain)),
            keep.eq(Mux(command.has_keep, self.keep.bits, 0xFFFFFFFF) & below(limit, BITS_PER_CYCLE)),
        ]
        picks, rest = select_first(m, keep, BITS_PER_CYCLE, p.width, "element")
        if p.order_lanes < p.width:  # fewer lanes when the order vector is used
            rest = Mux(command.has_order, (picks[p.order_lanes] | self._after(picks)), rest)
        advance = self._flow(m, picks, rest, limit)
        self._move(m, banks, places, starts, lengths, advance)
        self._emit(m, picks, places, starts, lengths)
        return m

    def _after(self, picks):
        value = Const(0)
        for pick in picks[self.p.order_lanes :]:
            value = value | pick
        return value

    def _flow(self, m, picks, rest, limit):
        """How many positions this cycle takes."""
        p, command, out = self.p, self.command, self.elements
        self.found = Signal(p.width)
        lanes = [pick.any() for pick in picks]
        open_lanes = Mux(command.has_order, (1 << p.order_lanes) - 1, (1 << p.width) - 1)
        m.d.comb += self.found.eq(Cat(*lanes) & open_lanes)
        taken = sum((bit for bit in self.found), start=Const(0))
        enough = ~command.has_order | (self.order.available >= taken)
        self.valid, self.step = Signal(), Signal()
        next_position = Signal(6)
        advance = Signal(6)
        m.d.comb += [
            self.step.eq((out.ready | ~self.valid) & enough),
            next_position.eq(encode(select_first(m, rest, BITS_PER_CYCLE, 1, "after")[0][0], BITS_PER_CYCLE)),
            advance.eq(Mux(self.step, Mux(rest.any(), next_position, limit), 0)),
            self.keep.take.eq(Mux(command.has_keep, advance, 0)),
            self.order.take.eq(Mux(command.has_order & self.step, taken, 0)),
            out.valid.eq(self.valid),
        ]
        return advance

    def _move(self, m, banks, places, starts, lengths, advance):
        """Take positions from the inputs; load the next bundle into a bank that is done."""
        command = self.command
        after = [Signal(input_layout(self.p), name=f"after{b}") for b in range(len(banks))]
        for k, (bank, lane) in enumerate(places):
            now, following = bank.lanes[lane], after[k // self.p.width]
            taken = Signal(6, name=f"taken{k}")
            m.d.comb += taken.eq(Mux(advance > starts[k], minimum((advance - starts[k])[:6], lengths[k]), 0))
            length = Signal(32, name=f"left{k}")
            m.d.comb += [
                length.eq(now.length - taken),
                following.lanes[lane].length.eq(length),
                following.lanes[lane].first.eq(Mux(command.repeats, now.first, now.first + taken)),
                following.lanes[lane].end.eq(now.end),
                following.lanes[lane].base.eq(now.base),
                following.mask[lane].eq(bank.mask[lane] & (length != 0)),
            ]
        done = [~value.mask.any() for value in after]
        if len(banks) == 1:
            m.d.comb += self.inputs.ready.eq(done[0])
            m.d.sync += banks[0].eq(after[0])
            with m.If(done[0] & self.inputs.valid):
                m.d.sync += banks[0].eq(self.inputs.payload)
        else:
            fresh = Mux(self.inputs.valid, self.inputs.payload.as_value(), 0)
            m.d.comb += self.inputs.ready.eq(done[0] | done[1])
            m.d.sync += [
                banks[0].eq(Mux(done[0], Mux(done[1], fresh, after[1].as_value()), after[0].as_value())),
                banks[1].eq(Mux(done[0], Mux(done[1], 0, fresh), Mux(done[1], fresh, after[1].as_value()))),
            ]
        full = Cat(*(bank.mask.any() for bank in banks)).any()
        m.d.comb += self.busy.eq(full | self.valid)

    def _emit(self, m, picks, places, starts, lengths):
        p, command = self.p, self.command
        held = Signal(element_layout(p))
        m.d.comb += self.elements.payload.eq(held)
        # Neighbours that will follow: whole lists, or everything when nothing chooses, or what a mask keeps.
        whole = ~command.has_keep & ~command.repeats & command.has_count
        direct = ~command.has_keep & ~command.has_count & ~command.has_index
        with m.If(self.elements.ready):
            m.d.sync += self.valid.eq(0)
        with m.If(self.step):
            m.d.sync += [self.valid.eq(self.found.any()), held.mask.eq(self.found)]
            for lane, pick in enumerate(picks):
                position = Signal(5, name=f"position{lane}")
                m.d.comb += position.eq(encode(pick, BITS_PER_CYCLE))
                source, end, base = Const(0, 32), Const(0, 32), Const(0, 32)
                for k, (bank, place) in enumerate(places):
                    it = bank.lanes[place]
                    here = (position >= starts[k]) & (position < starts[k] + lengths[k])
                    offset = Mux(command.repeats, 0, position - starts[k])
                    source = Mux(here, (it.first + offset)[:32], source)
                    end = Mux(here, Mux(command.has_count, (it.first + it.length - 1)[:32], it.end), end)
                    base = Mux(here, it.base, base)
                m.d.sync += [
                    held.lanes[lane].source.eq(source),
                    held.lanes[lane].end.eq(
                        Mux(direct & ~command.has_mask, command.inputs - 1, Mux(whole | direct, end, source))
                    ),
                    held.lanes[lane].side.eq(Mux(command.has_order, self.order.words[lane % WORDS_PER_SECTOR], base)),
                ]


class AddressStage(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        super().__init__(
            {
                "command": In(COMMAND),
                "start": In(1),
                "elements": In(stream_of(element_layout(p))),
                "addresses": Out(stream_of(address_layout(p))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p, command = self.p, self.command
        incoming, out = self.elements, self.addresses
        second = Signal()  # the operand's addresses have gone, the data's follow
        operand = Signal()
        ready, valid = Signal(), Signal()
        emitted = Signal(32)  # elements of earlier bundles
        held = Signal(address_layout(p))
        m.d.comb += [
            operand.eq((command.has_cost | command.add) & ~second),
            ready.eq(out.ready | ~valid),
            incoming.ready.eq(ready & ~operand),
            out.valid.eq(valid),
            out.payload.eq(held),
            self.busy.eq(valid),
        ]
        count = sum((bit for bit in incoming.payload.mask), start=Const(0))
        with m.If(self.start):
            m.d.sync += [valid.eq(0), second.eq(0), emitted.eq(0)]
        with m.Elif(ready):
            m.d.sync += valid.eq(incoming.valid)
            with m.If(incoming.valid):
                m.d.sync += [second.eq(operand), held.operand.eq(operand), held.bundle.mask.eq(incoming.payload.mask)]
                with m.If(~operand):
                    m.d.sync += emitted.eq(emitted + count)
        adding = operand & command.add
        base, size = Signal(ADDRESS_BITS), Signal(2)
        m.d.comb += [
            base.eq(Mux(operand, Mux(command.add, command.out_address, command.cost_address), command.data_address)),
            size.eq(Mux(operand & ~command.add, 2, command.size)),
        ]
        for lane in range(p.width):
            it, to = incoming.payload.lanes[lane], held.bundle.lanes[lane]
            number = Signal(32, name=f"number{lane}")
            place = Mux(command.has_order, it.side, emitted + lane)
            address, last = Signal(ADDRESS_BITS, name=f"address{lane}"), Signal(ADDRESS_BITS, name=f"last{lane}")
            m.d.comb += [
                number.eq(Mux(adding, place, it.source)),
                address.eq(base + (number << size)),
                last.eq(base + (Mux(adding, number, it.end) << size)),
            ]
            wanted = Array([Const(0b1111, 4), Const(0b1110, 4), Const(0b1100, 4), Const(0b1000, 4)])[
                address[5:7]
            ] & Mux(last[7:] == address[7:], Array([1, 3, 7, 15])[last[5:7]], 15)
            with m.If(ready):
                m.d.sync += [
                    to.address.eq(address),
                    to.wanted.eq(Const(15, 4) if p.whole_lines else wanted),
                    to.side.eq(it.side),
                ]
        return m
