"""A run over simulated time, as a trace for the Perfetto viewer (https://ui.perfetto.dev).

One row of slices holds the launches (with the counters of each as arguments), one the operations of a special unit.
Below are counter tracks: instructions per cycle, DRAM bandwidth, hit rates, row activations, network traffic, and the
warps that each SM holds. Values are means over a sampling interval, except resident warps, which are counted at its
start. The sampler keeps at most 4096 samples, doubling its interval when full, so a file stays at a few megabytes
however long the run is.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from warpsift.errors import WarpsiftError
from warpsift.paths import is_folder
from warpsift.run.timing import timing_of

if TYPE_CHECKING:  # the engine's code takes a while to load; a wrong path is known before
    from warpsift.engine import Engine

SAMPLE_INTERVAL_CYCLES = 128  # to begin with; see above
MOST_SLICES_WITH_COUNTERS = 10_000  # about 0.6 KB each; further slices have their name and phase only
_SEQUENCE = 1  # trusted_packet_sequence_id: whatever a writer likes, but not 0
_PROCESS, _LAUNCHES, _UNIT, _SMS, _FIRST_COUNTER = 1, 2, 3, 4, 10  # uuids of tracks
_ARGUMENTS = [
    "cycles",
    "instructions_per_cycle",
    "l1_hit_rate",
    "l2_hit_rate",
    "dram_reads",
    "dram_writes",
    "dram_row_hit_rate",
    "bandwidth_utilisation",
    "mean_load_latency_cycles",
    "resident_warps_per_sm",
]


class TimelineError(WarpsiftError):
    """A timeline cannot be written."""


def check_path(path: str | Path) -> Path:
    """The file to write, if its folder is there: better known before a long run than after it."""
    path = Path(path)
    if not is_folder(path.parent):
        raise TimelineError(f"--timeline {path}: there is no folder {path.parent}")
    if is_folder(path):
        raise TimelineError(f"--timeline {path}: this is a folder; name a file, such as run.pftrace")
    return path


def write_timeline(path: str | Path, engine: Engine, title: str) -> None:
    """Write a finished run. The file appears when it is complete, or not at all."""
    path = check_path(path)
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise TimelineError(f"--timeline {path}: cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            _Writer(file, engine).write(title)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def rates(samples: Mapping[str, np.ndarray], engine: Engine) -> tuple[np.ndarray, dict[str, tuple[str, np.ndarray]]]:
    """From cumulative samples: the cycles at which intervals begin, and (unit, mean in each interval) by name."""
    machine = engine.machine
    cycle = np.concatenate([[0], samples["cycle"]])
    length = np.diff(cycle)
    moved = {name: np.diff(np.concatenate([[0], column])) for name, column in samples.items()}

    def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
        return 100 * part / np.maximum(whole, 1)

    to_gb_per_s = machine.dram.burst_bytes * machine.clocks.core_mhz * 1e6 / 1e9 / length
    flits = moved["request_flits_sent"] + moved["reply_flits_sent"]
    tracks = {
        "instructions per cycle": ("warp instructions", moved["warp_instructions"] / length),
        "DRAM reads": ("GB/s", moved["dram_reads"] * to_gb_per_s),
        "DRAM writes": ("GB/s", moved["dram_writes"] * to_gb_per_s),
        "DRAM activates per 100 accesses": (
            "rows",
            share(moved["dram_activates"], moved["dram_reads"] + moved["dram_writes"]),
        ),
        "L1 hit rate": ("%", share(moved["l1_read_hits"], moved["l1_read_accesses"])),
        "L2 hit rate": ("%", share(moved["l2_read_hits"], moved["l2_read_accesses"])),
        "network flits per cycle": ("flits", flits / length),
    }
    return cycle[:-1], tracks


class _Writer:
    """One timeline on its way to a file."""

    def __init__(self, file: IO[bytes], engine: Engine) -> None:
        from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

        self._builder = StreamingTraceProtoBuilder(file)
        self._engine = engine

    def write(self, title: str) -> None:
        self._tracks(title)
        self._slices()
        samples = self._engine.samples()
        if not len(samples["cycle"]):
            return
        begins, tracks = rates(samples, self._engine)
        for uuid, (name, (unit, values)) in enumerate(tracks.items(), _FIRST_COUNTER):
            self._counter_track(uuid, _PROCESS, name, unit)
            self._counter(uuid, begins, values)
        uuid = _FIRST_COUNTER + len(tracks)
        for name in samples:
            if name.endswith("_resident_warps"):
                self._counter_track(uuid, _SMS, name.removesuffix("_resident_warps").upper(), "warps")
                self._counter(uuid, samples["cycle"], samples[name].astype(float))
                uuid += 1

    def _nanoseconds(self, cycle: int) -> int:
        return round(cycle * 1e3 / self._engine.machine.clocks.core_mhz)

    # ---- tracks ---------------------------------------------------------------------------------------------

    def _descriptor(self, uuid: int, parent: int, name: str) -> Any:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        track = packet.track_descriptor
        track.uuid, track.name = uuid, name
        if parent:
            track.parent_uuid, track.sibling_order_rank = parent, uuid
        return packet

    def _tracks(self, title: str) -> None:
        machine = self._engine.machine
        packet = self._descriptor(_PROCESS, 0, title)
        packet.track_descriptor.process.pid = 1
        packet.track_descriptor.process.process_name = f"{title}, {machine.name}"
        packet.track_descriptor.child_ordering = packet.track_descriptor.EXPLICIT
        self._builder.write_packet(packet)
        self._builder.write_packet(self._descriptor(_LAUNCHES, _PROCESS, "launches"))
        if self._engine.operations:
            self._builder.write_packet(self._descriptor(_UNIT, _PROCESS, "unit operations"))
        packet = self._descriptor(_SMS, _PROCESS, "warps resident on each SM")
        packet.track_descriptor.sibling_order_rank = 1000  # below the other counters
        packet.track_descriptor.child_ordering = packet.track_descriptor.EXPLICIT
        self._builder.write_packet(packet)

    def _counter_track(self, uuid: int, parent: int, name: str, unit: str) -> None:
        packet = self._descriptor(uuid, parent, name)
        packet.track_descriptor.counter.unit_name = unit
        packet.track_descriptor.counter.y_axis_share_key = f"{parent} {unit}"  # equal units, equal scales
        self._builder.write_packet(packet)

    # ---- events ---------------------------------------------------------------------------------------------

    def _event(self, cycle: int, uuid: int) -> Any:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.timestamp = self._nanoseconds(cycle)
        packet.track_event.track_uuid = uuid
        return packet

    def _all_slices(self) -> Iterator[tuple[int, str, str, Any, Any]]:
        for launch in self._engine.launches:
            yield _LAUNCHES, launch.launch.kernel, launch.launch.phase, launch, launch.launch.ctas
        for operation in self._engine.operations:
            yield _UNIT, operation.info.operation, operation.info.phase, operation, None

    def _slices(self) -> None:
        for number, (uuid, name, phase, timed, ctas) in enumerate(self._all_slices()):
            packet = self._event(timed.start_cycle, uuid)
            event = packet.track_event
            event.type, event.name = event.TYPE_SLICE_BEGIN, name
            arguments: dict[str, Any] = {"phase": phase}
            if ctas is not None:
                arguments["ctas"] = ctas
            if number < MOST_SLICES_WITH_COUNTERS:
                figures = timing_of(timed.counters, self._engine.machine)
                arguments |= {key: figures[key] for key in _ARGUMENTS}
                arguments |= {f"stalled: {key}": value for key, value in figures["stall_stack"].items()}
            _annotate(event, arguments)
            self._builder.write_packet(packet)
            packet = self._event(timed.start_cycle + timed.counters.cycles, uuid)
            packet.track_event.type = packet.track_event.TYPE_SLICE_END
            self._builder.write_packet(packet)

    def _counter(self, uuid: int, begins: np.ndarray, values: np.ndarray) -> None:
        """Values that hold from the given cycles on; repeated ones are left out, and the last falls to 0."""
        changed = np.concatenate([[True], values[1:] != values[:-1]])
        points = [*zip(begins[changed].tolist(), values[changed].tolist(), strict=True), (self._engine.cycle, 0.0)]
        for cycle, value in points:
            packet = self._event(cycle, uuid)
            packet.track_event.type = packet.track_event.TYPE_COUNTER
            packet.track_event.double_counter_value = round(value, 4)
            self._builder.write_packet(packet)


def _annotate(event: Any, arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        note = event.debug_annotations.add()
        note.name = name
        if isinstance(value, str):
            note.string_value = value
        elif isinstance(value, (int, np.integer)):
            note.int_value = int(value)
        else:
            note.double_value = float(value)
