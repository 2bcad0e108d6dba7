"""Data Fetch: a FIFO of elements whose data is under way, strictly in order (SCU paper, section 3.2.2).

The FIFO's bytes are two memories: rows of elements (which sector, where in it, side value), and a ring of sectors that
replies fill in any order; a bit beside each sector is the parity of the ring's round in which it was written, so that
nothing needs to be cleared. At the head, two sectors are held in registers and one more is read per cycle, so that
neighbours which cross from one sector into the next leave at full width.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from warpsift.hdl.interfaces import COMMAND, fetched_layout, row_layout, stream_of
from warpsift.hdl.logic import encode, lowest
from warpsift.hdl.parameters import ScuParameters


class DataFetch(wiring.Component):
    def __init__(self, p: ScuParameters) -> None:
        self.p = p
        fill = data.StructLayout({"slot": p.slot_bits, "data": 256})
        super().__init__(
            {
                "command": In(COMMAND),
                "rows": In(stream_of(row_layout(p))),
                "fill": In(fill),
                "fill_valid": In(1),
                "ring_free": Out(p.slot_bits),
                "fetched": Out(stream_of(fetched_layout(p))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        p = self.p
        layout = row_layout(p)
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=layout.as_shape().width, depth=p.rows)
        m.d.comb += [
            fifo.w_data.eq(self.rows.payload.as_value()),
            fifo.w_en.eq(self.rows.valid),
            self.rows.ready.eq(fifo.w_rdy),
        ]
        m.submodules.ring = ring = memory.Memory(shape=257, depth=p.ring_sectors, init=[])
        write, self.read = ring.write_port(), ring.read_port()
        m.d.comb += [
            write.addr.eq(self.fill.slot[:-1]),
            write.data.eq(Cat(self.fill.data, ~self.fill.slot[-1])),
            write.en.eq(self.fill_valid),
        ]
        head = layout(fifo.r_data)
        self._choose(m, fifo, head)
        self._finish(m)
        m.d.comb += self.busy.eq((fifo.level != 0) | self.valid | self.out_valid)
        return m

    def _choose(self, m, fifo, head):
        """First stage: which lanes of the first row can go together, and the one new sector that they need."""
        p = self.p
        self.current, self.previous = Signal(p.slot_bits), Signal(p.slot_bits)
        self.held = Signal(2)  # are they valid
        gone = Signal(p.width)
        waiting, here, before = Signal(p.width), Signal(p.width), Signal(p.width)
        m.d.comb += waiting.eq(Mux(fifo.r_rdy, head.bundle.mask & ~gone, 0))
        for lane in range(p.width):
            slot = head.bundle.lanes[lane].slot
            m.d.comb += [
                here[lane].eq(self.held[0] & (slot == self.current)),
                before[lane].eq(self.held[1] & (slot == self.previous)),
            ]
        missing = Signal(p.width)
        first = Signal(p.width)
        load = Signal()
        m.d.comb += [missing.eq(waiting & ~here & ~before), first.eq(lowest(missing, p.width))]
        # Loading drops the older sector, so not while lanes in front still want it
        m.d.comb += load.eq(missing.any() & ~(waiting & before & ~here & (first - 1)[: p.width]).any())
        number = encode(first, p.width)
        wanted = Array(lane.slot for lane in head.bundle.lanes)[number] if p.width > 1 else head.bundle.lanes[0].slot
        going = Signal(p.width)
        open_ = Const(1, 1)
        for lane in range(p.width):
            fresh = load & (head.bundle.lanes[lane].slot == wanted)
            served = here[lane] | fresh | (before[lane] & ~load)
            open_ = open_ & (served | ~waiting[lane])
            m.d.comb += going[lane].eq(open_ & waiting[lane])
        self.valid, self.loads, self.slot = Signal(), Signal(), Signal(p.slot_bits)
        self.row = Signal(row_layout(p), name="row")
        self.older = Signal(p.width)  # lanes that take the older of the two sectors
        self.ends = Signal()  # the row is done
        self.step = Signal()
        ends = going == waiting
        m.d.comb += fifo.r_en.eq(self.step & fifo.r_rdy & ends)
        with m.If(self.step):
            m.d.sync += [
                self.valid.eq(fifo.r_rdy),
                self.loads.eq(load),
                self.slot.eq(wanted),
                self.row.eq(head),
                self.row.bundle.mask.eq(going),
                self.older.eq(Mux(load, here, before & ~here)),
                self.ends.eq(ends),
                gone.eq(Mux(fifo.r_rdy & ~ends, gone | going, 0)),
            ]
            with m.If(load):
                m.d.sync += [
                    self.current.eq(wanted),
                    self.previous.eq(self.current),
                    self.held.eq(Cat(Const(1, 1), self.held[0])),
                ]
        m.d.comb += self.read.addr.eq(Mux(self.step, wanted, self.slot)[:-1])

    def _finish(self, m):
        """Second stage: wait for the sector, cut the elements out, join them with their operands."""
        p, command = self.p, self.command
        newer, older = Signal(256), Signal(256)
        arrived = ~self.loads | (self.read.data[256] == ~self.slot[-1])
        out = self.fetched
        self.out_valid = Signal()
        result = Signal(fetched_layout(p))
        operands = [Signal(64, name=f"operand{lane}") for lane in range(p.width)]
        goes = Signal()
        m.d.comb += [
            goes.eq(self.valid & arrived & (out.ready | ~self.out_valid)),
            self.step.eq(goes | ~self.valid),
            out.valid.eq(self.out_valid),
            out.payload.eq(result),
        ]
        fresh = Mux(self.loads, self.read.data[:256], newer)
        left = Mux(self.loads, newer, older)
        free = Signal(p.slot_bits)
        m.d.comb += self.ring_free.eq(free)
        with m.If(goes):
            m.d.sync += [newer.eq(fresh), older.eq(left)]
            with m.If(self.ends):
                m.d.sync += free.eq(self.row.free)
        with m.If(out.ready | ~self.out_valid):
            m.d.sync += [self.out_valid.eq(goes & ~self.row.operand), result.mask.eq(self.row.bundle.mask)]
        size = Mux(self.row.operand & ~command.add, 2, command.size)
        for lane in range(p.width):
            it = self.row.bundle.lanes[lane]
            sector = Mux(self.older[lane], left, fresh)
            word = (sector.word_select(it.offset[3:], 64) >> (it.offset[:3] << 3))[:64]
            value = Array([word & 0xFF, word & 0xFFFF, word & 0xFFFFFFFF, word])[size]
            with m.If(goes):
                with m.If(self.row.operand & self.row.bundle.mask[lane]):
                    m.d.sync += operands[lane].eq(value)
                with m.If(~self.row.operand):
                    m.d.sync += [
                        result.lanes[lane].value.eq(value),
                        result.lanes[lane].operand.eq(operands[lane]),
                        result.lanes[lane].side.eq(it.side),
                    ]
