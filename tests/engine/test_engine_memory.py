"""The memory system: laws that any machine must obey, each tested on small streams with conservation checks on."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engine_streams import alu, atomic, load, load_sectors, simulate, store, transaction
from warpsift.machines import load_machine

RNG = np.random.default_rng(11)
GATHER_LINES = RNG.integers(0, 1 << 14, (256, 32)).tolist()


def stream_warps(warps: int, lines_per_warp: int = 8, base: int = 0):
    rows = []
    for w in range(warps):
        first = base + w * lines_per_warp
        rows.append([load(i, [first + i]) for i in range(lines_per_warp)] + [alu(1, 1, wait=(1 << lines_per_warp) - 1)])
    return rows


def gather_warps(warps: int = 256):
    return [
        [load_sectors(0, [transaction(line, 1 << (line & 3)) for line in GATHER_LINES[w]]), alu(1, 1, wait=1)]
        for w in range(warps)
    ]


def chase_warp(hops: int = 200, lines: int = 4096):
    at, rows = 0, []
    for _ in range(hops):
        at = (at * 5 + 1237) % lines
        rows += [load(0, [at], wait=1), alu(1, 1, wait=1)]
    return [rows]


WORK = {"chase": chase_warp(), "stream": stream_warps(8192), "gather": gather_warps()}


@pytest.mark.parametrize("name", ["gtx980", "tx1", "gtx480"])
def test_streaming_reads_come_near_the_peak_and_never_exceed_it(name):
    machine = load_machine(name)
    c = simulate(stream_warps(2048 if machine.sm.count > 2 else 1024), machine, warps_per_cta=8)
    bytes_moved = c.dram_reads * machine.dram.request_bytes
    seconds = c.cycles / (machine.clocks.core_mhz * 1e6)
    share = bytes_moved / seconds / machine.peak_dram_bytes_per_second
    # gtx480: 32 MSHRs x 15 SMs x 128 B over a latency of about 400 ns are 85 % of its bandwidth at best.
    assert 0.7 <= share <= 0.96


def test_halving_the_bandwidth_doubles_a_bandwidth_bound_kernel():
    work = stream_warps(2048)
    full = simulate(work, warps_per_cta=8).cycles
    half = simulate(work, warps_per_cta=8, dram__burst_clocks=4).cycles
    assert half / full == pytest.approx(2, rel=0.15)


def test_mshrs_are_never_exceeded_and_littles_law_holds():
    for mshrs in (4, 16, 64):
        c = simulate(gather_warps(), warps_per_cta=8, sm__count=1, l1__mshrs=mshrs)
        assert c.l1_mshr_peak == mshrs
        latency = 120 + 100  # the least that a line in flight takes: L2 pipeline and DRAM front end
        assert c.cycles >= c.l1_read_misses * latency / mshrs


def test_in_flight_equals_rate_times_latency():
    c = simulate(gather_warps(), warps_per_cta=8, sm__count=1, l1__mshrs=16)
    busy = c.l1_read_misses / c.cycles  # misses per cycle
    request = c.request_latency_cycles / c.request_packets_sent
    assert busy * (request + 120 + 100) <= 16


@pytest.mark.parametrize("name", list(WORK))
@pytest.mark.parametrize(
    ("key", "values"),
    [("l1.mshrs", (8, 32, 128)), ("l2.mshrs", (16, 64, 256)), ("l2.size_bytes", (1 << 19, 1 << 20, 1 << 21))],
)
def test_more_of_a_resource_never_makes_it_slower(name, key, values):
    # A stream may lose up to 2 %: with more lines in flight than the banks' open rows hold, rows are opened more often.
    slack = 1.02
    cycles = [simulate(WORK[name], load_machine("gtx980", {key: value})).cycles for value in values]
    assert all(b <= a * slack for a, b in pairwise(cycles)), cycles


@pytest.mark.parametrize("name", ["chase", "gather"])
def test_a_bigger_fully_associative_cache_never_hits_less(name):
    hits, cycles = [], []
    for lines in (64, 256, 1024):
        machine = load_machine("gtx980", {"l1.size_bytes": lines * 128, "l1.ways": lines, "sm.count": 1})
        c = simulate(WORK[name] if name == "chase" else WORK[name][:64], machine)
        hits.append(c.l1_read_hits + c.l1_read_merged)
        cycles.append(c.cycles)
    assert hits == sorted(hits)
    assert all(b <= a * 1.001 for a, b in pairwise(cycles)), cycles


def test_more_channels_never_make_it_slower():
    for work in WORK.values():
        cycles = [
            simulate(work, load_machine("gtx980", {"dram.channels": n, "l2.slices": 2 * n})).cycles for n in (2, 4, 8)
        ]
        assert all(b <= a * 1.02 for a, b in pairwise(cycles)), cycles


def test_atomics_on_one_address_are_served_one_per_clock_and_random_ones_on_all_slices():
    same = simulate([[atomic(0, repeat=32)] for _ in range(256)], warps_per_cta=8)
    assert same.l2_atomic_operations == 256 * 32
    assert same.cycles == pytest.approx(256 * 32, rel=0.1)
    lines = RNG.integers(0, 256, (512, 32)).tolist()  # few lines, so that DRAM does not matter
    spread = simulate([[atomic(x) for x in row] for row in lines], warps_per_cta=8)
    rate_per_slice = spread.l2_atomic_operations / spread.cycles / 16
    assert 0.3 < rate_per_slice <= 1  # 16 slices share the work; the network's blocking keeps them below one
    slow = simulate([[atomic(0, repeat=32)] for _ in range(256)], warps_per_cta=8, l2__atomic_cycles=4)
    assert slow.cycles == pytest.approx(4 * 256 * 32, rel=0.1)


def test_repeats_as_packets_send_one_packet_per_operation():
    one = simulate([[atomic(0, repeat=8)]])
    many = simulate([[atomic(0, repeat=8)]], l2__atomic_repeats_as_packets=True)
    assert (one.request_packets_sent, many.request_packets_sent) == (1, 8)
    assert one.l2_atomic_operations == many.l2_atomic_operations == 8


def test_fill_granularity_decides_what_a_miss_fetches():
    work = [[load_sectors(0, [transaction(line, 1)]), alu(1, 1, wait=1)] for line in range(0, 6400, 100)]
    sector = simulate(work)
    line = simulate(work, l1__fill_bytes=128, l2__fill_bytes=128)
    assert sector.dram_reads == 64
    assert line.dram_reads == 256
    assert simulate(work, l2__fill_bytes=128).dram_reads == 256


def test_written_sectors_are_not_fetched_and_leave_as_evictions():
    lines = list(range(0, 1 << 15))  # 4 MB through an L2 of 2 MB
    c = simulate([[store(lines[i : i + 16])] for i in range(0, len(lines), 16)], warps_per_cta=8)
    assert c.dram_reads == 0
    assert c.l2_write_accesses == 4 << 15
    assert c.l2_writebacks == pytest.approx(4 << 14, rel=0.02)
    again = simulate([[store([5])], [load(0, [5]), alu(1, 1, wait=1)]], sm__count=1)
    assert again.dram_reads <= 4


def test_a_store_updates_or_evicts_the_l1_line():
    work = [[load(0, [1]), alu(1, 1, wait=1), store([1]), load(0, [1]), alu(1, 1, wait=1)]]
    assert simulate(work).l1_read_hits == 1
    assert simulate(work, l1__write_hit="evict").l1_read_hits == 0


def test_loads_to_a_line_in_flight_merge_up_to_the_limit():
    work = [[load(0, [1]), alu(1, 1, wait=1)] for _ in range(16)]
    c = simulate(work, sm__count=1, l1__mshr_merges=4)
    assert c.l1_read_misses == 1
    assert c.l1_read_merged <= 3
    assert c.l1_reservation_fails > 100


def test_bypassing_loads_leave_l1_alone():
    c = simulate([[load(0, [1]), alu(1, 1, wait=1), load(0, [1]), alu(1, 1, wait=1)]], l1__cached_loads=False)
    assert (c.l1_read_accesses, c.l1_bypassed_accesses, c.l2_read_hits) == (0, 2, 4)


@pytest.mark.parametrize("part", ["l2", "dram", "noc"])
def test_an_ideal_part_never_makes_it_slower(part):
    for work in WORK.values():
        assert simulate(work, load_machine("gtx980", {f"ideal.{part}": True})).cycles <= simulate(work).cycles * 1.02


def test_clock_domains_scale_what_they_clock():
    hot = [[load_sectors(0, [transaction(line % 64, 15) for line in range(k, k + 16)])] for k in range(512)]
    full = simulate(hot, warps_per_cta=8, l1__cached_loads=False).cycles
    slow_l2 = simulate(hot, warps_per_cta=8, l1__cached_loads=False, clocks__l2_mhz=317.5).cycles
    slow_noc = simulate(hot, warps_per_cta=8, l1__cached_loads=False, clocks__noc_mhz=317.5).cycles
    fast_noc = simulate(hot, warps_per_cta=8, l1__cached_loads=False, clocks__noc_mhz=2540).cycles
    assert slow_l2 > 1.6 * full
    assert slow_noc > 2 * full
    assert fast_noc < full


def test_head_of_line_blocking_limits_an_input_queued_crossbar():
    """Uniform traffic through single input queues: about 0.6 of the ports (Karol et al. 1987), not all of them."""
    lines = RNG.integers(0, 4096, (512, 32)).tolist()
    work = [[load_sectors(0, [transaction(x, 1) for x in row])] for row in lines]
    warm = {"l1__cached_loads": False, "ideal__l2": True, "sm__lsu_queue_entries": 8}

    def rate(lanes):
        c = simulate(work, warps_per_cta=8, noc__virtual_outputs=lanes, **warm)
        return c.reply_flits_sent / c.cycles / 16

    assert 0.4 < rate(False) < 0.75
    assert rate(True) > 1.2 * rate(False)  # with a queue per output in both directions


def test_a_buffer_behind_an_output_keeps_a_slow_slice_from_holding_back_the_others():
    """Half of an SM's warps send atomics of 32 operations to one slice, half chase through the other slices."""
    machine = {"sm__count": 1, "l2__mapping": "modulo", "l2__queue_entries": 4, "ideal__dram": True}
    chunk = load_machine("gtx980").l2.interleave_bytes // 128
    slow = [[atomic(0, 32) for _ in range(12)] for _ in range(16)]
    quick = [[load(0, [chunk * (1 + 16 * (16 * w + i))], wait=1) for i in range(16)] for w in range(16)]
    work = [row for pair in zip(slow, quick, strict=True) for row in pair]

    def latency(**changes):
        c = simulate(work, **machine, **changes)
        return c.load_latency_cycles / c.loads_completed

    assert latency() > 1.5 * latency(noc__output_buffer_flits=1024)
    roomy = {"noc__buffer_flits": 1024}  # lanes share their input's room: the slow ones may fill it
    assert latency(**roomy) > 1.5 * latency(**roomy, noc__virtual_outputs=True)


def test_sms_that_read_one_block_in_step_use_many_slices_if_inputs_have_a_queue_per_output():
    """80 SMs, seven loads of a warp under way, pairs of lines of a slice: behind one queue all wait for the same."""
    warps = [
        [load(k % 7, [16 * k + 2 * w, 16 * k + 2 * w + 1], wait=1 << k % 7) for k in range(64)] for w in range(8)
    ] * 80

    def cycles(lanes):
        machine = load_machine("v100", {"noc.virtual_outputs": lanes, "ideal.dram": True})
        return simulate(warps, machine, warps_per_cta=8).cycles

    assert cycles(False) > 2 * cycles(True)


def test_an_input_sends_one_flit_per_cycle_also_with_a_queue_per_output():
    work = [[store([32 * w + i for i in range(32)]) for _ in range(4)] for w in range(32)]
    machine = {"sm__count": 1, "ideal__l2": True, "noc__virtual_outputs": True}
    c = simulate(work, **machine)
    assert c.request_flits_sent <= c.cycles < 1.2 * c.request_flits_sent


def test_stores_take_the_time_of_the_pipeline_where_the_machine_says_so():
    latency = load_machine("gtx980").l1.latency_cycles
    past, through = (
        simulate([[store([3])]], sm__cta_waits_for_stores=True, l1__stores_take_pipeline=takes).cycles
        for takes in (False, True)
    )
    assert through - past == latency


def test_a_faster_switch_takes_long_packets_out_of_an_input_sooner():
    """One SM stores whole lines to all slices: its input is the limit, one flit per cycle or two."""
    work = [[store([32 * w + i for i in range(32)]) for _ in range(4)] for w in range(32)]
    machine = {"sm__count": 1, "ideal__l2": True, "noc__output_buffer_flits": 64, "noc__reply_sectors_per_packet": 4}
    once, twice = (simulate(work, **machine, noc__speedup=speedup) for speedup in (1, 2))
    assert once.request_flits_sent == twice.request_flits_sent
    assert once.cycles > 1.7 * twice.cycles


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    mshrs=st.sampled_from([1, 3, 16]),
    buffer=st.sampled_from([4, 9, 73]),
    fill=st.sampled_from([32, 128]),
    cached=st.booleans(),
    queue=st.sampled_from([4, 32]),
    output=st.sampled_from([(0, 1), (1, 1), (5, 2), (80, 2)]),
    lanes=st.booleans(),
    volta=st.booleans(),
)
def test_everything_sent_comes_back_whatever_the_machine(
    seed, mshrs, buffer, fill, cached, queue, output, lanes, volta
):
    rng = np.random.default_rng(seed)
    machine = load_machine(
        "gtx980",
        {
            "sm.count": 2,
            "l1.mshrs": mshrs,
            "l1.mshr_merges": 2,
            "l1.size_bytes": 2048,
            "l1.fill_bytes": fill,
            "l1.cached_loads": cached,
            "l1.allocate": "fill" if volta else "miss",
            "l2.fills_take_port": not volta,
            "noc.buffer_flits": buffer,
            "noc.output_buffer_flits": output[0],
            "noc.speedup": output[1],
            "noc.virtual_outputs": lanes,
            "l2.size_bytes": 65536,
            "l2.ways": 4,
            "l2.mshrs": 4,
            "l2.mshr_merges": 2,
            "l2.queue_entries": queue,
            "l2.reply_queue_entries": 4,
            "l2.dram_queue_entries": 8,
        },
    )
    warps = []
    for _ in range(16):
        rows = []
        for _ in range(int(rng.integers(1, 12))):
            lines = rng.integers(0, 4000, int(rng.integers(1, 33))).tolist()
            slot = int(rng.integers(0, 4))
            kind = rng.integers(0, 4)
            if kind == 0:
                rows.append(load_sectors(slot, [transaction(x, int(rng.integers(1, 16))) for x in lines]))
            elif kind == 1:
                rows.append(store(lines, sectors=int(rng.integers(1, 16))))
            elif kind == 2:
                rows.append(atomic(lines[0], int(rng.integers(1, 33)), wait=1 << slot))
            else:
                rows.append(alu(int(rng.integers(1, 9)), 1, wait=1 << slot))
        warps.append(rows)
    simulate(warps, machine, warps_per_cta=2)


def test_an_ideal_network_may_deliver_any_number_of_packets_at_once():
    """16 SMs send a packet per cycle to one slice that takes one: thousands wait in its pipeline, none is lost."""
    machine = load_machine("gtx980", {"ideal.noc": True, "l1.cached_loads": False, "l2.mapping": "modulo"})
    stride = machine.l2.slices * machine.l2.interleave_bytes // 128
    work = [
        [load_sectors(0, [transaction(stride * (8 * w + i), 1) for i in range(8)]), alu(1, 1, wait=1)]
        for w in range(512)
    ]
    c = simulate(work, machine)
    assert c.l2_read_accesses == 512 * 8
    assert c.cycles >= 512 * 8  # one slice, one packet per clock
