"""The event-driven memory against the naive one that steps every clock: equal to the last clock."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from oracles import naive_dram
from warpsift.engine.dram.dram_harness import load_memory, memory_names, run_pattern
from warpsift.machines.dram_rules import dram_problems
from warpsift.machines.dram_spec import Dram, DramTiming

small = st.integers


@st.composite
def timings(draw):
    rp, ras = draw(small(1, 12)), draw(small(2, 20))
    return DramTiming(
        cl=draw(small(2, 12)),
        cwl=draw(small(1, 8)),
        rcd_rd=draw(small(1, 10)),
        rcd_wr=draw(small(1, 10)),
        rp=rp,
        ras=ras,
        rc=ras + rp + draw(small(0, 3)),
        rrd_s=draw(small(1, 6)),
        rrd_l=draw(small(1, 8)),
        faw=draw(small(0, 30)),
        aw32=draw(st.sampled_from([0, 200])),
        ccd_s=draw(small(1, 4)),
        ccd_l=draw(small(1, 6)),
        wtr_s=draw(small(1, 6)),
        wtr_l=draw(small(1, 8)),
        wr=draw(small(1, 10)),
        rtp=draw(small(1, 6)),
        rtw=draw(small(0, 9)),
        rtrs=draw(small(0, 2)),
        ppd=draw(small(0, 3)),
        rp_ab=draw(st.sampled_from([0, 14])),
        refi=draw(st.sampled_from([0, 64, 130])),
        rfc=20,
        rfc_pb=9,
    )


@st.composite
def memories(draw):
    groups, ranks = draw(st.sampled_from([1, 2])), draw(st.sampled_from([1, 2]))
    bank_queue = draw(st.sampled_from([0, 0, 1, 3]))
    split = draw(st.booleans())
    row_hit = bank_queue > 0 and not split and draw(st.booleans())
    high = draw(small(2, 6))
    rank = "rank1 " if ranks == 2 else ""
    group = "group1 " if groups == 2 else ""
    spec = Dram(
        kind="test",
        channels=1,
        clock_mhz=1000.0,
        burst_clocks=draw(st.sampled_from([1, 2, 4])),
        burst_bytes=32,
        bank_groups=groups,
        banks=4,
        ranks=ranks,
        address_map=f"row4 {rank}bank{1 if groups == 2 else 2} {group}col2 burst5",
        bank_hash=draw(st.booleans()),
        timing=draw(timings()),
        queue_entries=draw(small(2, 8)),
        write_queue_entries=high + draw(small(0, 2)) if split else 0,
        write_drain_high=high,
        write_drain_low=draw(small(0, high - 1)),
        write_drain_idle=draw(small(1, 3)),
        write_drain_batch=draw(st.booleans()),
        inflight_entries=draw(st.sampled_from([0, 3, 12])),
        write_way="own" if split and draw(st.booleans()) else "shared",
        bank_queue_entries=bank_queue,
        bank_queue_fill="row_hit" if row_hit else "oldest",
        arbitration=draw(st.sampled_from(["column_first", "oldest", "round_robin"])),
        activated_first=bank_queue == 0 and draw(st.booleans()),
        precharge=draw(st.sampled_from(["after_hits", "any"])),
        hit_cap=draw(small(0, 4)),
        starvation_clocks=0 if bank_queue else draw(st.sampled_from([0, 40])),
        page_policy=draw(st.sampled_from(["open", "closed"])),
        refresh=draw(st.sampled_from(["none", "all_bank", "per_bank"])),
        refresh_precharge=draw(st.sampled_from(["all", "each"])),
    )
    # refreshes as often as the memory's other rules allow
    often = [spec.timing.refi, 130, 200, 260, 330, 400, 450, 600]
    tried = (replace(spec, timing=replace(spec.timing, refi=interval)) for interval in often)
    return next(spec for spec in tried if not any(dram_problems(spec)))


def assert_equal(spec, addresses, writes):
    ours = run_pattern(spec, addresses, writes)
    naive = naive_dram.simulate(spec, addresses, writes)
    assert {key: ours[key] for key in naive} == naive


@settings(max_examples=60, deadline=None)
@given(memories(), st.lists(st.tuples(small(0, 2047), st.booleans()), min_size=1, max_size=50))
def test_equal_to_the_naive_memory(spec, trace):
    assert_equal(spec, [32 * a for a, _ in trace], [w for _, w in trace])


@pytest.mark.parametrize("name", memory_names())
def test_real_memories_equal_the_naive_one(name):
    """120 requests, half of them to few rows, on every memory that comes with the package."""
    spec = msgspec.structs.replace(load_memory(name), channels=1, inflight_entries=0, front_latency_core_cycles=0)
    rng = np.random.default_rng(7)
    rows = np.where(rng.random(120) < 0.5, rng.integers(0, 4, 120), rng.integers(0, 4096, 120))
    addresses = (rows << 16 | rng.integers(0, 1 << 14, 120) & ~31).tolist()
    assert_equal(spec, addresses, (rng.random(120) < 0.3).tolist())
