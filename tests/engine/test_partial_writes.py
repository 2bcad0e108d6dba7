"""Sectors that stores cover in part: what is recorded, and what a later read costs."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.naive_simt import covered_words, line_transactions
from warpsift.engine import Engine
from warpsift.errors import WarpsiftError
from warpsift.machines import load_machine
from warpsift.simt import Gpu, kernel
from warpsift.simt.coalesce import store_scratch, warp_stores
from warpsift.simt.stream import LINE_SHIFT, REPEAT_SHIFT, SECTOR_MASK

WORDS = 1 << 13  # 32 KB, in the L2 of every machine


@kernel
def put(t, out, stride):
    t.store(out, t.id * stride, t.id)


@kernel
def put_at(t, out, stride, offset):
    t.store(out, t.id * stride + offset, t.id)


@kernel
def read_all(t, data, total):
    t.store(total, t.id, t.load(data, t.id))


def counters_of(stores, written: str, machine: str = "gtx480-gpgpusim4", dtype=np.int32, size: int = WORDS, **keys):
    """Counters of reading an array back, after these stores on it."""
    overrides = {"l2.written_sectors": written, **{key.replace("__", "."): value for key, value in keys.items()}}
    engine = Engine(load_machine(machine, overrides), checks=True)
    gpu = Gpu(engine)
    data = gpu.memory.empty("data", size, dtype)
    total = gpu.memory.empty("total", size, dtype)
    for threads, text, *arguments in stores:
        gpu.launch(text, threads, data, *arguments, phase="put")
    gpu.launch(read_all, size, data, total, phase="read")
    return engine.launches


EVERY_EIGHTH = [(WORDS // 8, put, 8)]


def test_every_eighth_word_and_then_all():
    """One word of each of the 1,024 sectors is written: GPGPU-Sim 4 fetches them all when they are read."""
    sectors = WORDS * 4 // 32
    assert sectors == 1024
    assert counters_of(EVERY_EIGHTH, "whole")[-1].counters["l2_read_misses"] == 0
    last = counters_of(EVERY_EIGHTH, "masked")[-1].counters
    assert last["l2_read_misses"] == last["l2_fills"] == sectors
    assert last["dram_reads"] * 64 >= 32 * sectors / 2  # the machine's memory brings two sectors at a time


@pytest.mark.parametrize("last", [False, True])
def test_a_sector_is_whole_with_its_last_word_and_not_before(last):
    stores = [(WORDS // 8, put_at, 8, offset) for offset in range(8 if last else 7)]
    misses = counters_of(stores, "masked")[-1].counters["l2_read_misses"]
    assert misses == (0 if last else 1024)


def test_neighbouring_bytes_of_one_warp_make_words():
    assert counters_of([(WORDS, put, 1)], "masked", dtype=np.uint8)[-1].counters["l2_read_misses"] == 0
    scattered = counters_of([(WORDS // 32, put, 32)], "masked", dtype=np.uint8)[-1].counters
    assert scattered["l2_read_misses"] == WORDS // 32


def test_a_line_that_is_replaced_forgets_its_words():
    """Half of each sector, then so much else that the lines are replaced, then the other half: nothing is complete."""
    keys = {"l2__size_bytes": 12 * 8 * 128 * 4}
    half = [(WORDS // 8, put_at, 8, offset) for offset in range(4)]
    rest = [(WORDS // 8, put_at, 8, offset) for offset in range(4, 8)]
    size = WORDS * 64
    flush = [(WORDS * 62 // 8, put_at, 8, 2 * WORDS)]
    whole = counters_of([*half, *rest], "masked", size=WORDS)[-1].counters["l2_read_misses"]
    assert whole == 0
    apart = counters_of([*half, *flush, *rest], "masked", size=size, **keys)
    kept = counters_of([*half, *rest, *flush], "masked", size=size, **keys)
    assert apart[-1].counters["l2_read_misses"] == pytest.approx(kept[-1].counters["l2_read_misses"], rel=0.01)


def test_a_fetched_line_is_read_when_it_is_written():
    """GPGPU-Sim 3: the store goes on to DRAM and its line is fetched; the read then hits."""
    keys = {"l2__fill_bytes": 128}
    write, read = counters_of(EVERY_EIGHTH, "fetched", **keys)
    assert write.counters["l2_fills"] >= 1024
    assert write.counters["l2_write_misses"] == 1024
    assert read.counters["l2_read_misses"] == 0
    again = counters_of([*EVERY_EIGHTH, *EVERY_EIGHTH], "fetched", **keys)[1].counters
    assert (again["l2_write_hits"], again["l2_fills"]) == (1024, 0)


def test_the_queue_towards_dram_must_hold_a_written_miss():
    with pytest.raises(WarpsiftError, match="cannot hold the 12 requests of a write that misses"):
        load_machine("gtx980", {"l2.written_sectors": "fetched", "l2.dram_queue_entries": 8})


def test_word_masks_agree_with_the_naive_ones():
    rng = np.random.default_rng(3)
    for itemsize in (1, 2, 4, 8, 16):
        for spread in (40, 300, 4000):
            address = np.sort(rng.integers(0, spread, 32)) * itemsize + 4096
            lines, masks = recorded(address, itemsize)
            wanted = covered_words(address.tolist(), itemsize)
            assert [line >> LINE_SHIFT for line in lines] == list(wanted)
            for line, mask in zip(lines, masks, strict=True):
                words = wanted[line >> LINE_SHIFT]
                partial = sum(1 << s for s in range(4) if line >> s & 1 and words >> 8 * s & 255 != 255)
                assert (line >> REPEAT_SHIFT) & SECTOR_MASK == partial
                assert mask == (words if masks_follow(lines) else 0)


@pytest.mark.parametrize("itemsize", [4, 8])
def test_stores_of_elements_in_a_row_agree_with_the_naive_ones(itemsize):
    """They are coalesced without a table: every alignment within a line, every number of lanes."""
    for place in range(32):
        for lanes in range(1, 33):
            address = (np.arange(lanes) + place) * itemsize + 4096
            lines, masks = recorded(address, itemsize)
            wanted = covered_words(address.tolist(), itemsize)
            sectors = dict(line_transactions(address.tolist()))
            assert [(line >> LINE_SHIFT, line & SECTOR_MASK) for line in lines] == list(sectors.items())
            assert masks == (list(wanted.values()) if masks_follow(lines) else [0] * len(lines))


def masks_follow(lines: list[int]) -> bool:
    return any((line >> REPEAT_SHIFT) & SECTOR_MASK for line in lines)


def recorded(address: np.ndarray, itemsize: int) -> tuple[list[int], list[int]]:
    """Lines and word masks of one warp's store, as the stream holds them."""
    tx = np.zeros(256, np.int64)
    used, count = warp_stores(tx, 0, address.astype(np.int64), (0, address.size), itemsize, store_scratch())
    lines = tx[:count].tolist()
    if not masks_follow(lines):
        assert used == count
        return lines, [0] * count
    masks = [(int(tx[count + (back >> 1)]) >> 32 * (back & 1)) & 0xFFFFFFFF for back in range(count)]
    assert used == count + -(-count // 2)
    return lines, masks[::-1]
