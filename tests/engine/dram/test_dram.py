"""The memory as its users see it: conservation, policies, power-down, errors, plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from warpsift.engine.dram.dram_harness import Memory, load_memory, memory_names, run_pattern
from warpsift.errors import WarpsiftError

replace = msgspec.structs.replace


def random_trace(n, seed=3, span=1 << 26, writes=0.3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, span, n) & ~np.int64(127), rng.random(n) < writes


@pytest.mark.parametrize("name", memory_names())
def test_every_request_is_served_once(name):
    addresses, writes = random_trace(5000)
    c = run_pattern(name, addresses, writes)
    assert c["dram_reads"] + c["dram_forwarded_reads"] == np.sum(~writes)
    assert c["dram_writes"] + c["dram_merged_writes"] == np.sum(writes)
    assert c["dram_busy_clocks"] <= c["cycles"]
    assert 0 <= c["dram_activates"] - c["dram_precharges"] <= 32  # rows still open at the end
    assert c["dram_row_hits"] <= c["dram_reads"] + c["dram_writes"]


PUBLISHED_GB_PER_S = {
    "gddr5-7010-gtx980": 224.4,
    "gddr5-5012-m60": 160.4,
    "gddr5-3696-gtx480": 177.4,
    "lpddr4-3200-tx1": 25.6,
    "hbm2-1754-v100": 898,
    "hbm2e-3186-a100": 2039,
    "gddr6-18000-l40": 864,
}


@pytest.mark.parametrize("name", PUBLISHED_GB_PER_S)
def test_bandwidth_of_the_cards(name):
    spec = load_memory(name)
    peak = spec.channels * spec.burst_bytes * spec.clock_mhz / spec.burst_clocks / 1000
    assert peak == pytest.approx(PUBLISHED_GB_PER_S[name], rel=1e-3)
    stream = np.arange(20000) * spec.request_bytes
    c = run_pattern(spec, stream, np.zeros(20000, bool))
    assert 0.85 < c["dram_busy_clocks"] / c["cycles"] <= 1.0


@pytest.mark.parametrize("name", ["hbm2-1754-v100", "hbm2e-3186-a100", "gddr6-18000-l40"])
def test_random_reads_open_a_row_each_as_fast_as_the_rules_allow(name):
    """Rows of all banks: one activate per tRRD or a quarter of tFAW, less what refresh takes, and never faster."""
    spec = load_memory(name)
    blocks = np.random.default_rng(1).integers(0, 1 << 22, 20000)
    c = run_pattern(spec, blocks * spec.request_bytes, np.zeros(20000, bool))
    bound = max(spec.timing.rrd_s, spec.timing.faw / 4, 3)  # 3: activate, read, precharge, a command per clock
    assert bound <= c["cycles"] / c["dram_activates"] < 1.25 * bound


def test_a_waiting_write_answers_a_read():
    spec = load_memory("gddr5-7010-gtx980")
    c = run_pattern(spec, [0, 0, 0], [True, False, True])
    assert (c["dram_forwarded_reads"], c["dram_merged_writes"], c["dram_writes"], c["dram_reads"]) == (1, 1, 1, 0)


def test_the_hit_cap_bounds_starvation():
    """One request to another row in a flood of hits: without a cap it waits for the end, with one it does not."""
    spec = replace(
        load_memory("gddr5-7010-gtx980"),
        refresh="none",
        starvation_clocks=0,
        bank_hash=False,
        address_map="row14 bank2 group2 col6 burst5",
    )
    addresses = np.zeros(4000, np.int64)
    addresses[5] = 1 << 20
    capped = run_pattern(replace(spec, hit_cap=16), addresses, np.zeros(4000, bool))
    free = run_pattern(replace(spec, hit_cap=0), addresses, np.zeros(4000, bool))
    aged = run_pattern(replace(spec, hit_cap=0, starvation_clocks=200), addresses, np.zeros(4000, bool))
    assert free["dram_activates"] == 2  # the other row was opened last
    assert capped["dram_activates"] == aged["dram_activates"] == 3


def test_refresh_costs_its_share():
    spec = load_memory("ramulator1-gddr5-6000")
    addresses, writes = random_trace(20000, writes=0)
    with_refresh = run_pattern(spec, addresses, writes)
    without = run_pattern(replace(spec, refresh="none"), addresses, writes)
    assert without["dram_refreshes"] == 0
    assert with_refresh["dram_refreshes"] == with_refresh["cycles"] // spec.timing.refi
    share = spec.timing.rfc / spec.timing.refi
    assert without["cycles"] / with_refresh["cycles"] == pytest.approx(1 - share, abs=0.04)


def test_power_down_counts_idle_time_and_costs_exit_latency():
    spec = replace(load_memory("gddr5-7010-gtx980"), refresh="none")
    memory = Memory(spec)
    first = memory.run([0], [False])
    memory.run([0], [False], start=5000)
    t = spec.timing
    assert memory.D.dram_powered_down_clocks == 5000 - first["cycles"] - spec.powerdown_idle_clocks
    assert memory.C.last_done == 5000 + t.xp + t.cl + spec.burst_clocks  # the row was still open


ERRORS = [
    (
        {"arbitration": "best"},
        "dram.arbitration = 'best': write 'column_first', 'oldest' or 'round_robin'",
    ),
    (
        {"request_bytes": 64},
        "dram.request_bytes = 64 is more than dram.burst_bytes = 32, what one column command moves; write at most that",
    ),
    (
        {"banks": 64, "ranks": 2},
        "dram.banks = 64 and dram.ranks = 2 make more than 64 banks per channel; write fewer, or more channels",
    ),
    ({"bank_groups": 32}, "dram.bank_groups = 32 does not divide dram.banks = 16"),
    (
        {"address_map": "row14 bnk4 col7 burst5"},
        "dram.address_map: 'bnk4' is not a field; write a name and a width such as 'row14', with the names "
        "row, rank, group, bank, col, burst, most significant first",
    ),
    (
        {"address_map": "row14 bank3 col7 burst5"},
        "dram.address_map 'row14 bank3 col7 burst5' has 3 bank bits, but the organisation needs 4",
    ),
    (
        {"write_drain_high": 65},
        "dram.write_drain_low = 32 and dram.write_drain_high = 65 must be 0 <= low < high <= "
        "dram.write_queue_entries = 64",
    ),
    (
        {"queue_entries": 0},
        "dram.queue_entries = 0: write 1 to 65536 entries (every entry is a row of the model's memory, and no such "
        "table in hardware has more)",
    ),
]


@pytest.mark.parametrize(("change", "message"), ERRORS)
def test_errors_name_the_key(change, message):
    with pytest.raises(WarpsiftError) as caught:
        Memory(replace(load_memory("gddr5-7010-gtx980"), **change))
    assert str(caught.value) == message


def test_unknown_memory_lists_the_known_ones():
    with pytest.raises(WarpsiftError, match=r"no memory 'ddr9'; known memories: .*gddr5-7010-gtx980"):
        load_memory("ddr9")


def test_plain_python_gives_equal_counters():
    code = (
        "from warpsift.engine.dram.dram_harness import run_pattern, memory_names\n"
        "a = [(i * 2654435761) % (1 << 24) // 128 * 128 for i in range(150)]\n"
        "print([sorted(run_pattern(m, a, [i % 3 == 0 for i in range(150)]).items()) for m in memory_names()])"
    )
    outputs = []
    for extra in ({}, {"NUMBA_DISABLE_JIT": "1"}):
        command = [sys.executable, "-c", code]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **extra})
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]
    assert "dram_reads" in outputs[0]
