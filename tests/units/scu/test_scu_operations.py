"""The five operations of the SCU, filtering and grouping, against naive oracles; and every refusal, to the letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import naive_scu as naive
from warpsift.simt import Counter, Gpu
from warpsift.units.scu import scu_operation
from warpsift.units.scu.filtering import HashError
from warpsift.units.scu.scu_api import COMPARISONS, Scu, ScuError
from warpsift.units.scu.scu_spec import ScuSpec

DTYPES = [np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.float32, np.int64, np.float64]
LENGTHS = [0, 1, 7, 8, 31, 32, 33, 127, 1000]


def unit(**options) -> Scu:
    return Scu(Gpu(Counter(), memory_bytes=1 << 24), ScuSpec(**options))


def put(scu: Scu, values, dtype=np.int32, name="x"):
    return scu.gpu.memory.array(name, np.asarray(values, dtype))


def put_mask(scu: Scu, flags):
    return scu.gpu.memory.array("mask", naive.pack(list(flags)))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks so small that every operation of a few hundred elements crosses their borders."""
    monkeypatch.setattr(scu_operation, "CHUNK_ELEMENTS", 64)


# ---------------------------------------------------------------------- operations
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_data_compaction(dtype, n):
    scu, rng = unit(), np.random.default_rng(n)
    data = put(scu, rng.integers(0, 100, n), dtype)
    for flags in (np.zeros(n, bool), np.ones(n, bool), rng.random(n) < 0.4):
        out, count = scu.data_compaction(data, put_mask(scu, flags))
        assert count == flags.sum()
        np.testing.assert_array_equal(out.host[:count], data.host[flags])


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("n", LENGTHS)
def test_bitmask(comparison, n):
    scu, rng = unit(), np.random.default_rng(n)
    data = put(scu, rng.integers(-3, 4, n))
    mask, count = scu.bitmask(data, comparison, 1)
    assert count == n
    expected = [COMPARISONS[comparison](int(v), 1) for v in data.host]
    assert [naive.bit(mask.host, i) for i in range(n)] == expected
    assert not mask.host[: -(-n // 32)].size or int(mask.host[-(-n // 32) - 1]) >> ((n - 1) % 32 + 1) == 0


lists = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 10), st.booleans()), max_size=90)


@settings(max_examples=60, deadline=None)
@given(lists=lists, dtype=st.sampled_from(DTYPES), masked=st.booleans(), width=st.sampled_from([1, 3, 4, 16]))
def test_expansion_replication_and_access(lists, dtype, masked, width):
    scu = unit(width=width)
    data = put(scu, np.arange(100), dtype)
    first, counts, flags = (list(column) for column in zip(*lists, strict=True)) if lists else ([], [], [])
    index, count = put(scu, first), put(scu, counts)
    mask = put_mask(scu, flags) if masked else None
    chosen = flags if masked else None
    out, n = scu.access_expansion_compaction(data, index, count, mask=mask)
    assert out.host[:n].tolist() == naive.expand(data.host, first, counts, chosen)
    values = put(scu, np.arange(len(first)), dtype)
    out, n = scu.replication_compaction(values, count, mask=mask)
    assert out.host[:n].tolist() == naive.replicate(values.host, counts, chosen)
    out, n = scu.access_compaction(data, index, mask)
    assert out.host[:n].tolist() == naive.expand(data.host, first, [1] * len(first), chosen)


def test_accumulate_adds_to_what_is_there():
    scu = unit()
    out = put(scu, np.arange(100, 106))
    scu.replication_compaction(put(scu, [1, 2, 3]), put(scu, [3, 0, 2]), out=out, at=1, add=True)
    assert out.host.tolist() == [100, 102, 103, 104, 107, 108]


def test_append_at_a_place():
    scu = unit()
    out = put(scu, np.zeros(8))
    scu.data_compaction(put(scu, [5, 6, 7]), put_mask(scu, [True, False, True]), out=out, at=3)
    assert out.host.tolist() == [0, 0, 0, 5, 7, 0, 0, 0]


# ---------------------------------------------------------------------- filtering
ids = st.lists(st.integers(0, 200), max_size=400)
ways = st.sampled_from([1, 2, 4, 16])


@settings(max_examples=60, deadline=None)
@given(ids=ids, ways=ways, sets=st.integers(1, 13))
def test_unique_filter_is_the_oracle_and_never_drops_a_new_id(ids, ways, sets):
    scu = unit()
    table = scu.filter_table("t", sets * ways * 4, 201, ways=ways, fits=False)
    vector, kept = scu.data_compaction(put(scu, ids), None, filter=table)
    oracle = naive.Filter(sets, ways)
    expected = [oracle.keep(element) for element in ids]
    assert [naive.bit(vector.words.host, i) for i in range(len(ids))] == expected
    assert kept == sum(expected)
    seen: set[int] = set()
    for element, keep in zip(ids, expected, strict=True):
        assert keep or element in seen
        seen.add(element)


costed = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=400)


@settings(max_examples=60, deadline=None)
@given(pairs=costed, ways=ways, sets=st.integers(1, 13), dtype=st.sampled_from([np.int32, np.float32]))
def test_best_cost_filter_is_the_oracle_and_never_drops_a_better_cost(pairs, ways, sets, dtype):
    scu = unit()
    elements = [p[0] for p in pairs]
    costs = put(scu, [p[1] * 0.5 if dtype is np.float32 else p[1] for p in pairs], dtype)
    table = scu.filter_table("t", sets * ways * 8, 61, cost_dtype=np.dtype(dtype), ways=ways, fits=False)
    vector, _ = scu.data_compaction(put(scu, elements), None, filter=table, cost=costs)
    oracle = naive.Filter(sets, ways)
    kept = [naive.bit(vector.words.host, i) for i in range(len(pairs))]
    assert kept == [oracle.keep(e, c) for e, c in zip(elements, costs.host.tolist(), strict=True)]
    best: dict[int, float] = {}
    for element, cost, keep in zip(elements, costs.host.tolist(), kept, strict=True):
        assert keep or cost >= best[element]  # a drop means: the same or better was delivered before
        if keep:
            best[element] = min(cost, best.get(element, cost))


@settings(max_examples=30, deadline=None)
@given(rounds=st.lists(ids, min_size=1, max_size=12), life=st.sampled_from(["persistent", "clear", "epoch"]))
def test_life_times(rounds, life):
    scu = unit()
    table = scu.filter_table("t", 3 * 4 * 4, 201, ways=4, life=life, fits=False)
    table.epoch_bits = min(table.epoch_bits, 3)  # so that 12 operations wrap around
    oracle = naive.Filter(3, 4)
    for elements in rounds:
        if life != "persistent":
            oracle = naive.Filter(3, 4)
        vector, _ = scu.data_compaction(put(scu, elements), None, filter=table)
        expected = [oracle.keep(element) for element in elements]
        assert [naive.bit(vector.words.host, i) for i in range(len(elements))] == expected


def test_epochs_clear_only_when_they_wrap():
    scu = unit()
    table = scu.filter_table("t", 1024, 100, life="epoch")
    table.epoch_bits = 2
    for _ in range(8):
        scu.data_compaction(put(scu, [1, 2]), None, filter=table)
    cleared = [o.counters["scu_cleared_lines"] for o in scu.gpu.sink.operations]
    assert cleared == [0, 0, 0, 8, 0, 0, 0, 8]


def test_cleared_tables_fit_the_elements_when_asked():
    scu = unit()
    table = scu.filter_table("t", 1 << 20, 1000, fits=True)
    scu.data_compaction(put(scu, np.arange(64)), None, filter=table)
    assert table.sets == 8  # twice 64 entries in sets of 16
    assert scu.gpu.sink.operations[-1].counters["scu_cleared_lines"] == 4


# ---------------------------------------------------------------------- grouping
@settings(max_examples=60, deadline=None)
@given(ids=ids, ways=ways, sets=st.integers(1, 5), most=st.integers(1, 8))
def test_grouping_is_the_oracle_a_permutation_and_groups_share_a_block(ids, ways, sets, most):
    scu = unit(group_elements=most)
    table = scu.group_table("g", sets * ways * 32, 201, ways=ways, fits=False)
    order, n = scu.data_compaction(put(scu, ids), None, group=table)
    places = order.places.host[:n].tolist()
    assert sorted(places) == list(range(len(ids)))
    assert places == naive.group(ids, sets, ways, most)
    out, _ = scu.data_compaction(put(scu, ids), None, group=order)
    assert sorted(out.host[:n].tolist()) == sorted(ids)


def test_a_group_lies_side_by_side():
    scu = unit()
    elements = [k * 32 + j for j in range(8) for k in range(5)]  # 5 blocks, dealt out in turn
    table = scu.group_table("g", 4096, 200)
    order, _ = scu.data_compaction(put(scu, elements), None, group=table)
    out, _ = scu.data_compaction(put(scu, elements), None, group=order)
    blocks = (out.host[:40] // 32).reshape(5, 8)
    assert (blocks == blocks[:, :1]).all() and sorted(blocks[:, 0]) == [0, 1, 2, 3, 4]


@settings(max_examples=30, deadline=None)
@given(lists=lists, seed=st.integers(0, 99))
def test_filter_then_group_act_alike_on_edges_and_weights(lists, seed):
    scu, rng = unit(), np.random.default_rng(seed)
    data, weights = put(scu, rng.integers(0, 64, 100)), put(scu, np.arange(100))
    first, counts, _ = (list(column) for column in zip(*lists, strict=True)) if lists else ([], [], [])
    index, count = put(scu, first), put(scu, counts)
    base = put(scu, rng.integers(0, 9, len(first)))
    table = scu.filter_table("t", 512, 64, cost_dtype=np.dtype(np.int32))
    keep, kept = scu.access_expansion_compaction(data, index, count, filter=table, cost=weights, cost_base=base)
    order, n = scu.access_expansion_compaction(data, index, count, filter=keep, group=scu.group_table("g", 512, 64))
    assert n == kept
    steps = {"filter": keep, "group": order}
    nodes, _ = scu.access_expansion_compaction(data, index, count, **steps)
    costs, _ = scu.access_expansion_compaction(weights, index, count, **steps)
    assert (nodes.host[:n] == data.host[costs.host[:n]]).all()  # weight k stands beside edge k
    every = naive.expand(range(100), first, counts)
    survivors = [every[i] for i in range(len(every)) if naive.bit(keep.words.host, i)]
    assert sorted(costs.host[:n].tolist()) == sorted(survivors)


# ---------------------------------------------------------------------- refusals
def refused(message, call, *arguments, **keywords):
    with pytest.raises((ScuError, HashError)) as error:
        call(*arguments, **keywords)
    assert str(error.value) == message


def test_refusals_before_anything_is_written():
    scu = unit()
    data = put(scu, np.arange(10), name="data")
    out = put(scu, np.full(4, -1), name="out")
    ones = put(scu, [1] * 4, name="ones")
    mask = put_mask(scu, [True] * 10)
    op = "data_compaction"
    refused(
        f"{op}: 10 elements from place 0 on do not fit 'out', which has 4", scu.data_compaction, data, mask, out=out
    )
    refused(f"{op}: 11 elements of 'data', which has 10", scu.data_compaction, data, None, 11)
    refused(f"{op}: -1 elements; write 0 or more", scu.data_compaction, data, None, -1)
    refused(
        f"{op}: output 'data' overlaps the input 'data'; write to another array",
        scu.data_compaction, data, mask, out=data,
    )  # fmt: skip
    refused(f"{op}: mask 'out' is int32[4]; 10 elements need uint32[1]", scu.data_compaction, data, out)
    wide = put(scu, np.zeros(10), np.int64, "wide")
    refused(
        f"{op}: elements of 'data' have 4 bytes, those of output 'wide' 8", scu.data_compaction, data, mask, out=wide
    )
    expansion = "access_expansion_compaction"
    index = put(scu, [0, 8, 9, -1], name="index")
    counts = put(scu, [2, 2, 2, 1], name="counts")
    refused(
        f"{expansion}: input 2 takes elements 9 to 10 of 'data', which has 10",
        scu.access_expansion_compaction, data, index, counts, 3, out=out,
    )  # fmt: skip
    refused(
        "access_compaction: input 3 takes elements -1 to -1 of 'data', which has 10",
        scu.access_compaction, data, index, None, out=out,
    )  # fmt: skip
    counts.host[1] = -5
    refused(
        f"{expansion}: count[1] = -5 of 'counts' is negative",
        scu.access_expansion_compaction, data, index, counts, 3, out=out,
    )  # fmt: skip
    refused(
        f"{expansion}: index vector 'wide' is int64; write 4-byte integers",
        scu.access_expansion_compaction, data, wide, counts,
    )  # fmt: skip
    refused(
        f"{expansion}: count vector 'counts' has 4 of 10 entries",
        scu.access_expansion_compaction, data, put(scu, np.zeros(10)), counts,
    )  # fmt: skip
    refused(
        "replication_compaction: add=True needs out=, the array to add to",
        scu.replication_compaction, data, ones, add=True,
    )  # fmt: skip
    refused(f"{op}: at=-1; write the place of the first element, 0 or more", scu.data_compaction, data, mask, at=-1)
    floats = put(scu, np.zeros(10), np.float32, "floats")
    refused(
        f"{op}: 'data' is int32, output 'floats' float32; the unit moves bits, it does not convert",
        scu.data_compaction, data, mask, out=floats,
    )  # fmt: skip
    refused(
        f"{op}: data is a list; write a DeviceArray, such as gpu.memory.array(name, values)",
        scu.data_compaction, [1, 2], None,
    )  # fmt: skip
    refused("bitmask: no comparison '=>'; write one of == != < <= > >=", scu.bitmask, data, "=>", 1)
    refused("bitmask: reference 'x'; write a number", scu.bitmask, data, "<", "x")
    words = put(scu, np.arange(40), np.uint32, "words")
    refused(
        "bitmask: output 'words' overlaps the input 'words'; write to another array",
        scu.bitmask, words, "<", 3, out=words,
    )  # fmt: skip
    assert out.host.tolist() == [-1] * 4 and not scu.gpu.sink.operations


def test_refusals_of_filters_and_groups():
    scu = unit()
    data = put(scu, np.arange(10), name="data")
    table = scu.filter_table("t", 1024, 10)
    small = scu.filter_table("small", 1024, 9)
    costed = scu.filter_table("c", 1024, 10, cost_dtype=np.dtype(np.int32))
    op = "data_compaction"
    refused(
        f"{op}: 'data' holds 9, table 'small' was made for IDs 0 to 8", scu.data_compaction, data, None, filter=small
    )
    refused(f"{op}: filter table 'c' needs cost= or cost_base=", scu.data_compaction, data, None, filter=costed)
    refused(f"{op}: filter table 't' takes no costs", scu.data_compaction, data, None, filter=table, cost=data)
    refused(
        f"{op}: cost 'f' is float32[10]; table 'c' needs int32[10]",
        scu.data_compaction, data, None, filter=costed, cost=put(scu, np.zeros(10), np.float32, "f"),
    )  # fmt: skip
    refused(
        f"{op}: build the filter first, then the order with filter=<the vector> and group=<table>",
        scu.data_compaction, data, None, filter=table, group=scu.group_table("g", 512, 10),
    )  # fmt: skip
    keep, _ = scu.data_compaction(data, None, filter=table)
    refused(
        f"{op}: the filter was made for 10 elements, this operation has 4",
        scu.data_compaction,
        data,
        None,
        4,
        filter=keep,
    )
    order, _ = scu.data_compaction(data, None, 4, group=scu.group_table("g2", 512, 10))
    refused(
        f"{op}: the order was made for 4 elements, this operation keeps 10",
        scu.data_compaction,
        data,
        None,
        group=order,
    )
    scu.data_compaction(data, None, filter=scu.filter_table("t3", 1024, 10))
    refused(
        f"{op}: filter= is a vector that a later call has overwritten; apply a vector before the unit builds the next",
        scu.data_compaction, data, None, filter=keep,
    )  # fmt: skip
    refused(
        f"{op}: group= is a DeviceArray; write a table, or the vector that a call with the table returned",
        scu.data_compaction, data, None, group=data,
    )  # fmt: skip
    floats = put(scu, np.zeros(4), np.float32, "floats")
    refused(
        f"{op}: 'floats' is float32; filtering and grouping work on integers of 4 bytes or less",
        scu.data_compaction, floats, None, filter=table,
    )  # fmt: skip
    refused("table 'x': 0 sets of 16 ways; write 1 or more sets of 1, 2, 4, 8 or 16 ways", scu.filter_table, "x", 8, 10)
    refused("table 'x': 300000000 keys need 29 bits of an entry, which has 28", scu.filter_table, "x", 1024, 300000000)
    refused(
        "table 'x': costs of float64 do not fit an entry's 4 bytes",
        scu.filter_table, "x", 1024, 9, cost_dtype=np.dtype(np.float64),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"width": 17},
            "scu.width = 17: write 1 to 16 elements per cycle (the hardware description is built for up to 16)",
        ),
        ({"hash_ways": 3}, "scu.hash_ways = 3: write 1, 2, 4, 8 or 16 ways (a set is part of a line)"),
        ({"group_elements": 9}, "scu.group_elements = 9: write 1 to 8 elements (a group is a sector of 32 bytes)"),
        (
            {"probe_limit": -2},
            "scu.probe_limit = -2: write -1 to 16384 probes (the model keeps 16384; 0: the buffer's, -1: no limit)",
        ),
        (
            {"fetch_fifo_bytes": 512},
            "scu.fetch_fifo_bytes = 512: write 1024 to 524288 bytes (a ring of 16 sectors at least, of 8192 "
            "requests at most)",
        ),
    ],
)
def test_impossible_units(options, message):
    refused(message, unit, **options)
