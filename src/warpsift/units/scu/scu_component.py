"""The SCU on Python's side of the engine: its memory, and operations, whose trace is fed chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from warpsift.engine.core.arena import Arena
from warpsift.engine.core.cache_sets import ALL_SECTORS
from warpsift.engine.leap.touch import WRITES
from warpsift.engine.machine_cycle import DONE
from warpsift.engine.unit_socket import UnitComponent
from warpsift.hardware import LINE_BYTES
from warpsift.machines.spec import Machine
from warpsift.simt.stream import UnitOperation
from warpsift.units.scu import scu_state as state
from warpsift.units.scu.scu_buffers import Resources, elements_ahead, inputs_ahead, vector_share_lines
from warpsift.units.scu.scu_holes import Holes
from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.scu.scu_trace import BUFFER_ROW_BYTES, BY_INPUT, ScuSetup, Vector


class ScuComponent(UnitComponent):
    name = "scu"
    socket = state.SOCKET
    counters = state.COUNTERS
    skips = True
    leaps = True

    def calls(self) -> Any:
        from warpsift.units.scu.scu_socket import scu_calls

        return scu_calls

    def ports(self, machine: Machine) -> int:
        return 1 + Resources.of(machine.unit("scu")).hash_ports

    def allocate(self, arena: Arena, machine: Machine) -> None:
        self.spec: ScuSpec = machine.unit("scu")
        state.allocate(arena, machine, self.first_port)

    def operate(self, arena: Arena, operation: UnitOperation, advance: Callable[[], int]) -> None:
        S, arrays, spec = arena.root, arena.arrays, self.spec
        U = arrays["scu"][0]
        counted = int(S.now)
        S.now += spec.call_overhead_cycles
        for name in state.PER_OPERATION:
            setattr(U, name, 0)
        pieces = iter(operation.chunks())
        upcoming: Any = next(pieces)
        self.configure(arrays, upcoming.setup)
        self._holes = Holes(int(U.follows), operation_vectors(upcoming.setup))
        while True:
            while upcoming is not None and U.run_tail - U.address_run <= U.width:
                self.push(arrays, self._holes.close(upcoming))
                upcoming = next(pieces, None)  # here a sampled run leaves some out
                if upcoming is None:
                    self._holes.shorten(arrays["scu.vectors"][: int(U.vectors)])
            U.final = upcoming is None
            U.awake = 1
            status = advance()
            U.scu_cycles += int(S.now) - counted
            counted = int(S.now)
            if status == DONE:
                break
        U.scu_operations += 1

    def configure(self, arrays: dict[str, np.ndarray], setup: ScuSetup) -> None:
        """Set the unit's registers for an operation."""
        U, spec = arrays["scu"][0], self.spec
        U.follows, U.compares = setup.follows, setup.compares
        U.probe_rows, U.probe_entries = request_buffer(spec, setup)
        U.probe_rate = Resources.of(spec).probes_per_cycle
        if not spec.ideal_hash:
            U.clear_line, U.clear_lines = setup.clear_address // LINE_BYTES, setup.clear_lines
        vectors = operation_vectors(setup)
        U.vectors = len(vectors)
        U.vector_share = min(state.VECTOR_RING, vector_share_lines(spec, max(1, len(vectors))))
        U.first_request = arrays["scu.coalescers"][state.DATA].issued
        for index, vector in enumerate(vectors):
            row = arrays["scu.vectors"][index]
            _set_vector(row, vector)
            row.ahead = inputs_ahead(spec) if vector.by == BY_INPUT else elements_ahead(spec)

    def push(self, arrays: dict[str, np.ndarray], chunk: Any) -> None:
        """Append a chunk of the trace to the rings."""
        U = arrays["scu"][0]
        U.run_tail = copy_rows(arrays["scu.runs"], int(U.run_tail), int(U.head_run), chunk.runs)
        U.write_tail = copy_rows(arrays["scu.writes"], int(U.write_tail), int(U.write_head), chunk.writes)
        U.probe_tail = copy_rows(arrays["scu.probes"], int(U.probe_tail), int(U.probes_evaluated), chunk.probes)

    def leave_out(self, piece: Any) -> tuple[np.ndarray, np.ndarray]:
        lines, accesses = self.touched(piece)
        of_vectors = self._holes.leave_out(piece)
        whole = np.full(len(of_vectors), ALL_SECTORS)
        return np.concatenate([of_vectors, lines]), np.concatenate([whole, accesses])

    def touched(self, piece: Any) -> tuple[np.ndarray, np.ndarray]:
        """Vectors, elements, hash sets and what is stored; reads of a piece before its writes."""
        runs, probes, writes = piece.runs, piece.probes, piece.writes
        parts = [_vector_lines(piece.setup), (runs["line"], runs["sectors"])]
        parts.append((runs["second_line"], runs["second_sectors"]))
        if not self.spec.ideal_hash:
            parts += [(probes["line"], probes["sectors"]), (probes["line"], probes["write_sectors"] | WRITES)]
            parts.append((probes["second_line"], probes["second_sectors"] | WRITES))
            parts.append((probes["evict_line"], probes["evict_sectors"]))
        parts.append((writes["line"], writes["sectors"] | WRITES))
        lines = np.concatenate([lines for lines, _ in parts])
        accesses = np.concatenate([accesses for _, accesses in parts])
        real = (accesses & ALL_SECTORS) != 0
        return lines[real], accesses[real]

    def operation_balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        return {
            "SCU elements fetched = addresses": (counters["scu_elements_fetched"], counters["scu_addresses"]),
            "SCU requests answered": (int(arrays["scu.coalescers"]["in_flight"].sum()), 0),
            "SCU writes acknowledged": (int(arrays["scu"][0].writes_pending), 0),
        }

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        U = arrays["scu"][0]
        moved = int(U.scu_addresses) + int(U.scu_elements) + int(U.scu_cleared_lines)
        return (moved, int(U.scu_address_busy_cycles))  # the latter: elements that are dropped take their time too

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        U = arrays["scu"][0]
        if U.done:
            return []
        asks = [f"{int(row.in_flight)} requests" for row in arrays["scu.coalescers"] if row.in_flight]
        return [f"stream compaction unit: an operation is not complete, {', '.join(asks) or 'nothing'} in flight"]


def operation_vectors(setup: ScuSetup) -> list[Vector]:
    """Those of an operation that hold anything."""
    return [v for v in setup.vectors if v.lines]


def _vector_lines(setup: ScuSetup | None) -> tuple[np.ndarray, np.ndarray]:
    """The lines of an operation's vectors; its first piece has them."""
    lines = [np.arange(v.lines) + v.address // LINE_BYTES for v in (setup.vectors if setup else ())]
    found = np.concatenate([np.empty(0, np.int64), *lines])
    return found, np.full(len(found), ALL_SECTORS)


def request_buffer(spec: ScuSpec, setup: ScuSetup) -> tuple[int, int]:
    """How many probes wait in the request buffer at most, and how many sets it holds."""
    if setup.entry_bytes == 0 or spec.probe_limit == -1:
        return state.MOST_PROBES, state.MOST_PROBES
    rows = max(2, min(state.MOST_PROBES, Resources.of(spec).hash_bytes // BUFFER_ROW_BYTES))
    return rows, rows if setup.entry_bytes <= BUFFER_ROW_BYTES else rows // 2


def _set_vector(row: Any, vector: Vector) -> None:
    row.first_line, row.lines = vector.address // LINE_BYTES, vector.lines
    row.bits, row.by = vector.bits, vector.by
    row.bit_offset = (vector.address % LINE_BYTES) * 8
    row.end_bit = row.bit_offset + vector.length * vector.bits
    row.requested = row.arrived = row.consumed = 0


def copy_rows(ring: np.ndarray, tail: int, head: int, rows: np.ndarray) -> int:
    """Append rows to a ring; gives its new end."""
    size, n = len(ring), len(rows)
    assert tail + n - head <= size, "a chunk of an SCU trace does not fit its ring"
    at = tail % size
    first = min(n, size - at)
    plain = ring.view(np.ndarray)
    plain[at : at + first] = rows[:first]
    plain[: n - first] = rows[first:]
    return tail + n
