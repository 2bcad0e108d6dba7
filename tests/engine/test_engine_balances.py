"""Conservation checks of the engine: they hold on real runs, and each of them notices what it is there for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.engine_streams import alu, load_sectors, simulate, store, transaction
from support.fast_forward import Setup
from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine
from warpsift.graph import load_graph
from warpsift.machines import load_machine
from warpsift.simt import Gpu
from warpsift.simt.stream import COMMAND
from warpsift.units import resolve

LATER = alu(5000, 5000)  # a pause: stores and fills before it are over


def counted(unit: str, algorithm: str, graph_name: str, **overrides):
    """Total counters of a checked run on a GTX 480."""
    machine = load_machine("gtx480", overrides)
    chosen = ALGORITHMS[algorithm]
    graph, options = chosen.prepare(load_graph(graph_name), chosen.options(max_iterations=3))
    plugged = resolve(unit)
    engine = Engine(machine, plugged.components() if plugged else (), checks=True)
    driver = chosen.styles["frontier"] if plugged is None else plugged.driver(algorithm, machine)
    driver(Gpu(engine), graph, options)
    return engine.total


# ------------------------------------------------------------------------------------- reads of the L2
@pytest.mark.parametrize("graph", ["kron-6", "grid-9x7", "delaunay-8", "rmat-9"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_l2_reads_balance_where_a_dram_request_is_wider_than_a_sector(algorithm, graph):
    total = counted("none", algorithm, graph)
    assert total.l2_read_hits + total.l2_read_misses + total.l2_read_pending == total.l2_read_accesses
    assert min(total.l2_read_hits, total.l2_read_misses, total.l2_read_pending) >= 0


@pytest.mark.parametrize(
    ("request_bytes", "fills"),
    [(32, 3), (64, 4), (128, 4)],
)
def test_a_sector_that_a_store_left_valid_is_a_hit_though_dram_brings_it_again(request_bytes, fills):
    overrides = {"l1.cached_loads": False, "l2.fill_bytes": 32, "dram.request_bytes": request_bytes}
    if request_bytes == 128:
        overrides |= {"dram.burst_bytes": 128, "dram.address_map": "row12 bank4 col5 burst7"}
    warp = [store([0], sectors=1), LATER, load_sectors(0, [transaction(0, 15)]), alu(1, 1, wait=1)]
    c = simulate([warp], load_machine("gtx480", overrides))
    assert (c.l2_read_accesses, c.l2_read_hits, c.l2_read_misses, c.l2_read_pending) == (4, 1, 3, 0)
    assert c.l2_fills == fills


def test_a_read_behind_a_fill_is_pending_and_neither_hit_nor_miss():
    overrides = {"l1.cached_loads": False, "l2.fill_bytes": 32, "sm.count": 1}
    warp = [load_sectors(0, [transaction(0, 1)]), load_sectors(1, [transaction(0, 3)]), alu(1, 1, wait=3)]
    c = simulate([warp], load_machine("gtx480", overrides))
    assert (c.l2_read_accesses, c.l2_read_hits, c.l2_read_misses, c.l2_read_pending) == (3, 0, 1, 2)


def test_a_negative_counter_is_noticed():
    engine = Engine(load_machine("gtx480"), checks=True)
    gpu = Gpu(engine)
    graph, options = ALGORITHMS["bfs"].prepare(load_graph("grid-3x3"), ALGORITHMS["bfs"].options())
    begin = engine.begin

    def begin_with_a_fault(launch):
        begin(launch)
        engine._record("l2").l2_read_pending -= 1000

    engine.begin = begin_with_a_fault
    with pytest.raises(AssertionError, match=r"l2_read_pending: -\d+, not 0 or more"):
        ALGORITHMS["bfs"].styles["frontier"](gpu, graph, options)


# ------------------------------------------------------------------------------------- words of the fast-forward unit
def gather_tape():
    lists = [[(7 * v + k) % 64 for k in range(5)] for v in range(64)]
    return Setup(lists, 64).gather()


def replayed(tape, before_end=lambda engine: None, change=lambda chunk: chunk):
    """Replay a stream with checks; `change` alters what the engine gets, but not what the checks expect of it."""
    engine = Engine(load_machine("gtx480"), resolve("mff").components(), checks=True)
    for launch, chunks in tape.launches:
        engine.begin(launch)
        for chunk in chunks:
            engine._checks = False
            engine._expected.add(chunk)
            engine.units["mff"].expect(chunk)
            engine.chunk(change(chunk))
            engine._checks = True
        engine._run(final=True)
        before_end(engine)
        engine.end()
    return engine.total


def test_words_and_messages_balance():
    total = replayed(gather_tape())
    assert total.mff_words_sent == 64 * 5
    assert total.mff_completion_messages == total.mff_gather_commands == 2


def test_a_word_that_never_reaches_the_unit_is_noticed():
    def drop_a_word(chunk):
        commands = np.array(chunk.commands)
        commands[chunk.ops["first"][chunk.ops["kind"] == COMMAND][0]] -= 1  # its first thread wants one word less
        return replace(chunk, commands=commands)

    with pytest.raises(AssertionError, match="fast-forward words asked for: 319, not 320"):
        replayed(gather_tape(), change=drop_a_word)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("words_received", "fast-forward words received: 319, not 320"),
        ("messages_received", "fast-forward completion messages received: 1, not 2"),
        ("mff_words_sent", "fast-forward words sent: 319, not 320"),
        ("mff_completion_messages", "fast-forward completion messages sent: 1, not 2"),
    ],
)
def test_a_word_or_message_that_is_lost_on_the_way_is_noticed(field, message):
    def lose_one(engine):
        engine._record("mff")[field] -= 1

    with pytest.raises(AssertionError, match=message):
        replayed(gather_tape(), before_end=lose_one)


def test_a_lost_bit_is_noticed():
    lists = [[(5 * v) % 64] for v in range(64)]

    def lose_one(engine):
        engine._record("mff").mff_scatter_bits -= 1

    with pytest.raises(AssertionError, match="fast-forward bits set: 63, not 64"):
        replayed(Setup(lists, 64).scatter(), before_end=lose_one)
