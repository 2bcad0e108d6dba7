"""The decision of a probe: what filtering and grouping do with one set (SCU paper, 4.2 and 4.3). No state.

A set is up to 16 words and, with costs, as many costs behind them. Words as in units/filtering.py and
units/grouping.py: key + 1 and epoch in the low 28 bits (24 for grouping, with the number of elements above), and the
set's FIFO pointer in the top 4 bits of way 0.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpsift.hdl.data_store import less_and_equal
from warpsift.hdl.interfaces import COMMAND, GROUP
from warpsift.hdl.logic import encode, lowest
from warpsift.hdl.probes import PROBE

WAYS = 16
WORDS = data.ArrayLayout(32, 2 * WAYS)


class SetDecision(wiring.Component):
    def __init__(self) -> None:
        super().__init__(
            {
                "command": In(COMMAND),
                "probe": In(PROBE),
                "words": In(WORDS),
                "flushed": In(WAYS),  # ways that a flush has evicted
                "keep": Out(1),  # the element survives
                "after": Out(WORDS),
                "changed": Out(2 * WAYS),  # words that differ
                "way": Out(4),  # that the element goes to, or that is flushed
                "count": Out(4),  # elements that were in the group's entry before this one
                "evicts": Out(1),
                "evicted_count": Out(4),
                "flush_left": Out(WAYS),  # occupied ways that a flush has still to evict, oldest first (rotated)
            }
        )

    def elaborate(self, platform):
        m = Module()
        command = self.command
        groups = command.target == GROUP
        ways = Signal(5)
        in_use = Signal(WAYS)
        hits, free = Signal(WAYS), Signal(WAYS)
        low = Mux(groups, 0xFFFFFF, 0xFFFFFFF)
        m.d.comb += [ways.eq(1 << command.ways), in_use.eq((1 << ways) - 1)]
        for way in range(WAYS):
            word = self.words[way] & low
            empty = ((word & command.key_mask) == 0) | ((word & ~command.key_mask & low) != command.epoch)
            m.d.comb += [
                hits[way].eq((word == self.probe.wanted) & in_use[way]),
                free[way].eq(empty & in_use[way]),
            ]
        hit, has_free = Signal(), Signal()
        hit_way, free_way = Signal(4), Signal(4)
        pointer = self.words[0][28:]
        m.d.comb += [
            hit.eq(hits.any()),
            has_free.eq(free.any()),
            hit_way.eq(encode(lowest(hits, WAYS), WAYS)),
            free_way.eq(encode(lowest(free, WAYS), WAYS)),
        ]
        next_pointer, way = Signal(4), Signal(4)
        m.d.comb += [
            way.eq(Mux(hit, hit_way, Mux(has_free, free_way, pointer))),
            next_pointer.eq(
                Mux(
                    hit,
                    pointer,
                    Mux(has_free, Mux(free_way == 0, 0, pointer), (pointer + 1) & (ways - 1)[:4]),
                )
            ),
        ]
        better = self._cost(m, ways, way)
        full = Signal()
        count = Signal(4)
        old_count = Signal(4)
        m.d.comb += [
            old_count.eq(Array(self.words)[self.way][24:28]),
            full.eq(hit & (old_count >= command.group)),
            count.eq(Mux(hit & ~full, old_count, 0)),
            self.count.eq(count),
            self.evicts.eq(groups & (full | (~hit & ~has_free))),
            self.evicted_count.eq(old_count),
            self.keep.eq(~hit | (command.best & better)),
        ]
        self._update(m, groups, hit, way, next_pointer, count, ways, better)
        self._flush(m, pointer, in_use & ~free, way)
        return m

    def _cost(self, m, ways, way):
        """Is the probe's cost better than the stored one?"""
        stored = Signal(32)
        m.d.comb += stored.eq(Array(self.words)[(ways + way)[:5]])
        less, _, _ = less_and_equal(self.probe.cost, stored, self.command.cost_kind, 32)
        return less

    def _update(self, m, groups, hit, way, next_pointer, count, ways, better):
        command, probe = self.command, self.probe
        inserts = ~probe.flush & (groups | ~hit)
        entry = Signal(32)
        m.d.comb += entry.eq(probe.wanted | Mux(groups, (count + 1) << 24, 0))
        new_cost = ~probe.flush & command.best & (~hit | better)
        cost_at = (ways + way)[:5]
        for k in range(2 * WAYS):
            here = inserts & (way == k) if k < WAYS else Const(0, 1)
            cost_here = new_cost & (cost_at == k)
            word = Mux(cost_here, probe.cost, Mux(here, entry, self.words[k]))
            moved = Const(0, 1)
            if k == 0:
                word = Mux(inserts, Cat(word[:28], next_pointer), word)
                moved = inserts & (next_pointer != self.words[0][28:])
            m.d.comb += [self.after[k].eq(word), self.changed[k].eq(here | cost_here | moved)]

    def _flush(self, m, pointer, occupied, way):
        """The occupied ways in the order in which they are evicted: from the FIFO pointer on."""
        left = Signal(WAYS)
        m.d.comb += left.eq(occupied & ~self.flushed)
        from_pointer = (left >> pointer) << pointer
        chosen = Signal(WAYS)
        m.d.comb += [
            chosen.eq(lowest(Mux(from_pointer[:WAYS].any(), from_pointer[:WAYS], left), WAYS)),
            self.flush_left.eq(left),
            self.way.eq(Mux(self.probe.flush, encode(chosen, WAYS), way)),
        ]
