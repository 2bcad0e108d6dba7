"""Timelines: parsed again by Perfetto's own messages and compared with the engine's counters."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackDescriptor, TrackEvent

import warpsift
from warpsift.engine import Engine
from warpsift.machines import load_machine
from warpsift.report import timeline
from warpsift.report.timeline import TimelineError, rates, write_timeline


@pytest.fixture(scope="module")
def run():
    return warpsift.simulate("bfs", "kron-9", gpu="gtx980", sample_interval_cycles=128, check=False)


@pytest.fixture(scope="module")
def parsed(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("timeline") / "run.pftrace"
    write_timeline(path, run.engine, "bfs on kron-9")
    assert [p.name for p in path.parent.iterdir()] == ["run.pftrace"]
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


def tracks(trace):
    return {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}


def events(trace):
    """Track name: its events with their times, in file order."""
    names = {uuid: track.name for uuid, track in tracks(trace).items()}
    found = defaultdict(list)
    for packet in trace.packet:
        if packet.HasField("track_event"):
            found[names[packet.track_event.track_uuid]].append((packet.timestamp, packet.track_event))
    return found


def nanoseconds(run, cycle):
    return round(cycle * 1e3 / run.engine.machine.clocks.core_mhz)


def test_every_packet_belongs_to_a_sequence_and_every_event_to_a_track(parsed):
    known = tracks(parsed)
    assert all(packet.trusted_packet_sequence_id == 1 for packet in parsed.packet)
    assert all(p.track_event.track_uuid in known for p in parsed.packet if p.HasField("track_event"))
    assert len(known) == sum(p.HasField("track_descriptor") for p in parsed.packet)
    roots = [track for track in known.values() if not track.parent_uuid]
    assert [root.process.process_name for root in roots] == ["bfs on kron-9, gtx980"]
    assert all(track.parent_uuid in known for track in known.values() if track.parent_uuid)


def test_launches_are_slices_with_their_counters(run, parsed):
    slices = events(parsed)["launches"]
    launches = run.engine.launches
    assert len(slices) == 2 * len(launches)
    for number, timed in enumerate(launches):
        (begin, first), (end, last) = slices[2 * number : 2 * number + 2]
        assert (first.type, last.type) == (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END)
        assert begin == nanoseconds(run, timed.start_cycle)
        assert end == nanoseconds(run, timed.start_cycle + timed.counters.cycles)
        assert first.name == timed.launch.kernel
        notes = {note.name: note for note in first.debug_annotations}
        assert notes["phase"].string_value == timed.launch.phase
        assert notes["cycles"].int_value == timed.counters.cycles
        assert notes["dram_reads"].int_value == timed.counters.dram_reads
        shares = [note.double_value for name, note in notes.items() if name.startswith("stalled: ")]
        assert sum(shares) == pytest.approx(1, abs=0.01)


def test_counter_tracks_add_up_to_the_counters(run, parsed):
    found = events(parsed)
    samples = run.engine.samples()
    last = int(samples["cycle"][-1])
    mhz = run.engine.machine.clocks.core_mhz
    for name, counter, scale in (
        ("instructions per cycle", "warp_instructions", 1.0),
        ("DRAM reads", "dram_reads", run.engine.machine.dram.burst_bytes * mhz * 1e6 / 1e9),
    ):
        times = np.array([time for time, _ in found[name]]) * mhz / 1e3
        values = np.array([event.double_counter_value for _, event in found[name]])
        assert all(event.type == TrackEvent.TYPE_COUNTER for _, event in found[name])
        assert (np.diff(times) > 0).all() and values[-1] == 0
        ends = np.append(times[1:-1], last)
        area = (values[:-1] * (ends - times[:-1])).sum() / scale
        assert area == pytest.approx(samples[counter][-1], rel=0.01)


def test_rates_are_within_their_bounds(run):
    samples = run.engine.samples()
    begins, found = rates(samples, run.engine)
    machine = run.engine.machine
    assert len(begins) == len(samples["cycle"])
    for name, (unit, values) in found.items():
        assert len(values) == len(begins) and (values >= 0).all(), name
        if unit == "%":
            assert (values <= 100).all(), name
    moved = found["DRAM reads"][1] + found["DRAM writes"][1]
    assert moved.mean() * 1e9 <= machine.peak_dram_bytes_per_second


def test_occupancy_of_every_sm(run, parsed):
    known = tracks(parsed)
    parent = next(uuid for uuid, track in known.items() if track.name == "warps resident on each SM")
    names = [track.name for track in known.values() if track.parent_uuid == parent]
    machine = run.engine.machine
    assert names == [f"SM{i}" for i in range(machine.sm.count)]
    found = events(parsed)
    highest = max(event.double_counter_value for name in names for _, event in found[name])
    assert 0 < highest <= machine.sm.warps
    samples = run.engine.samples()
    resident = sum(samples[f"sm{i}_resident_warps"] for i in range(machine.sm.count)).mean()
    mean = run.engine.total["resident_warp_cycles"] / run.engine.total["cycles"]
    assert resident == pytest.approx(mean, rel=0.1)


def test_sampling_changes_nothing(run):
    plain = warpsift.simulate("bfs", "kron-9", gpu="gtx980", check=False)
    assert dict(plain.engine.total) == dict(run.engine.total)


def test_counter_tracks_have_units_and_order(parsed):
    counters = [track for track in tracks(parsed).values() if track.HasField("counter")]
    assert all(track.counter.unit_name for track in counters)
    root = next(track for track in tracks(parsed).values() if not track.parent_uuid)
    assert root.child_ordering == TrackDescriptor.EXPLICIT


def test_a_full_table_stays_below_20_megabytes(tmp_path, monkeypatch):
    """28 SMs, all samples of the sampler, all different; and as many launches as carry counters."""
    engine = Engine(load_machine("titanx"), sample_interval_cycles=128)
    rng = np.random.default_rng(1)
    names = engine.samples()
    full = {name: np.cumsum(rng.integers(1, 99, 4096)) for name in names}
    monkeypatch.setattr(engine, "samples", lambda: full)
    done = warpsift.simulate("bfs", "kron-7", gpu="titanx", sample_interval_cycles=128, check=False).engine.launches
    engine.launches = (done * 10_000)[:10_000]
    write_timeline(tmp_path / "x.pftrace", engine, "full")
    assert 1 << 20 < (tmp_path / "x.pftrace").stat().st_size < 20 << 20


def test_nothing_is_left_after_an_interruption(run, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(timeline, "rates", interrupted)
    (tmp_path / "old.pftrace").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_timeline(tmp_path / "old.pftrace", run.engine, "x")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("old.pftrace", "old")]


def test_where_it_cannot_be_written(run, tmp_path):
    with pytest.raises(TimelineError, match="there is no folder"):
        write_timeline(tmp_path / "no" / "x.pftrace", run.engine, "x")
    with pytest.raises(TimelineError, match=r"this is a folder; name a file, such as run\.pftrace"):
        write_timeline(tmp_path, run.engine, "x")
