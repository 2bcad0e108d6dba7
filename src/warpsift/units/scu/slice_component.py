"""The SCU with stations at the L2 slices, on Python's side of the engine: two components, the unit and its stations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpsift.engine.core.arena import Arena
from warpsift.engine.unit_socket import UnitComponent
from warpsift.hardware import SECTOR_BYTES
from warpsift.machines.spec import Machine
from warpsift.units.scu import slice_state as state
from warpsift.units.scu.scu_buffers import Resources
from warpsift.units.scu.scu_component import ScuComponent
from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.scu.scu_state import MOST_PROBES
from warpsift.units.scu.scu_trace import BY_EVICTED, ScuSetup

# A row of the hash request buffer, which holds answers here: a decision and whether it has come; or an evicted group
# with its number of elements and state.
DECISION_BYTES = 1
GROUP_ROW_BYTES = SECTOR_BYTES + 4


def answer_rows(spec: ScuSpec, setup: ScuSetup) -> int:
    """Probes without an answer for which the SCU's buffer has room."""
    row_bytes = GROUP_ROW_BYTES if setup.follows == BY_EVICTED else DECISION_BYTES
    resources = Resources.of(spec)
    rows = max(1, min(MOST_PROBES, resources.hash_bytes // row_bytes))
    return min(rows, resources.probe_limit) if resources.probe_limit > 0 else rows


class ScuOfStations(ScuComponent):
    """The unit itself: as the SCU, but its probes go to the slices."""

    leaps = False  # its trace counts more than Holes closes up

    def allocate(self, arena: Arena, machine: Machine) -> None:
        super().allocate(arena, machine)
        self._noc = machine.noc
        arena.arrays["scu"][0].stations = not self.spec.ideal_hash

    def configure(self, arrays: dict[str, np.ndarray], setup: ScuSetup) -> None:
        super().configure(arrays, setup)
        U, B = arrays["scu"][0], arrays["scu_slice"][0]
        U.probe_rate = self.spec.width  # each lane hashes its element and sends its probe
        B.probe_bytes = setup.probe_bytes
        room = self._noc.flit_bytes - self._noc.header_bytes
        B.packet_probes = max(1, room // setup.probe_bytes) if setup.probe_bytes else 1
        B.answer_rows, B.rows_held, B.decided = answer_rows(self.spec, setup), 0, 0

    def operation_balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        B, spec = arrays["scu_slice"][0], self.spec
        probes = 0 if spec.ideal_hash else counters["scu_hash_probes"]
        return {
            **super().operation_balances(arrays, counters),
            **_at_rest(arrays),
            "probes sent = probes decided": (counters["scu_slice_probes"], probes),
            "packets of probes answered": (counters["scu_slice_answers"], counters["scu_slice_packets"]),
            "rows of the answer buffer free": (int(B.rows_held), 0),
        }


class StationComponent(UnitComponent):
    """The stations."""

    name = "scu_slice"
    socket = state.SOCKET
    counters = state.COUNTERS

    def calls(self) -> Any:
        from warpsift.units.scu.slice_socket import slice_calls

        return slice_calls

    def allocate(self, arena: Arena, machine: Machine) -> None:
        state.allocate(arena, machine)

    def balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        return _at_rest(arrays)

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        B = arrays["scu_slice"][0]
        return (int(B.scu_slice_probes) + int(B.scu_slice_set_reads) + int(B.scu_slice_answers),)

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        waiting = int((arrays["scu_slice.stations"]["queue_tail"] - arrays["scu_slice.stations"]["queue_head"]).sum())
        held = int(arrays["scu_slice"][0].held)
        return [f"stations at the L2 slices: {waiting} probes wait, {held} sets are held"] if waiting or held else []


def _at_rest(arrays: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    B, stations = arrays["scu_slice"][0], arrays["scu_slice.stations"]
    return {
        "sets held at the slices": (int(B.held), 0),
        "probes waiting at the slices": (int((stations["queue_tail"] - stations["queue_head"]).sum()), 0),
        "credits returned": (int(arrays["scu_slice.credits"].min()), int(B.probes_per_slice)),
    }
