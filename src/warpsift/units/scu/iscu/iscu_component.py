"""The IRU-enhanced SCU on Python's side of the engine: two components, the unit and its parts at the slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpsift.engine.core.arena import Arena
from warpsift.engine.unit_socket import UnitComponent
from warpsift.machines.spec import Machine
from warpsift.units.scu.iscu import iscu_state as state
from warpsift.units.scu.iscu.iscu_operation import IscuChunk, IscuSetup
from warpsift.units.scu.iscu.iscu_spec import landing_elements
from warpsift.units.scu.scu_component import ScuComponent, copy_rows
from warpsift.units.scu.scu_trace import ScuSetup


class ScuWithParts(ScuComponent):
    """The unit itself: as the SCU, with operations whose elements pass the parts."""

    leaps = False  # its trace counts more than Holes closes up

    def allocate(self, arena: Arena, machine: Machine) -> None:
        super().allocate(arena, machine)
        self._arena, self._parts = arena, machine.l2.slices
        self._flit_room = machine.noc.flit_bytes - machine.noc.header_bytes

    def configure(self, arrays: dict[str, np.ndarray], setup: ScuSetup) -> None:
        super().configure(arrays, setup)
        self._expected = (0, 0)
        if isinstance(setup, IscuSetup):
            arrays["scu"][0].probe_rate = self.spec.width  # each lane finds its element's part
            share = landing_elements(self.spec, self._parts, setup.probe_bytes)
            state.begin(arrays, self._flit_room, setup.probe_bytes, share)
            arrays["iscu"][0].filters = setup.filters

    def push(self, arrays: dict[str, np.ndarray], chunk: Any) -> None:
        super().push(arrays, chunk)
        if not isinstance(chunk, IscuChunk):
            return
        U, B = arrays["scu"][0], arrays["iscu"][0]
        U.probe_tail = copy_rows(arrays["iscu.trace"], int(U.probe_tail), int(U.probes_issued), chunk.passed)
        passed, kept = self._expected
        self._expected = (passed + chunk.elements, kept + chunk.kept)
        if chunk.flushed is not None:
            if "iscu.flush" in arrays:
                self._arena.release("iscu.flush")
            B.p_flush = self._arena.adopt("iscu.flush", chunk.flushed.trace)
            first = chunk.flushed.first
            assert first is not None
            arrays["iscu.parts"]["flush_at"], arrays["iscu.parts"]["flush_end"] = first[:-1], first[1:]

    def operation_balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        passed, kept = self._expected
        return {
            **super().operation_balances(arrays, counters),
            **_at_rest(arrays),
            "elements sent to parts = taken": (counters["iscu_elements"], passed),
            "elements that parts hand back": (counters["iscu_returned"], kept),
            "elements dropped, merged or handed back": (
                counters["iscu_filtered"] + counters["iscu_merged"] + counters["iscu_returned"],
                passed,
            ),
        }


class PartComponent(UnitComponent):
    """The parts."""

    name = "iscu"
    socket = state.SOCKET
    counters = state.COUNTERS
    skips = True  # between operations it holds nothing that time depends on

    def calls(self) -> Any:
        from warpsift.units.scu.iscu_socket import iscu_calls

        return iscu_calls

    def allocate(self, arena: Arena, machine: Machine) -> None:
        state.allocate(arena, machine)

    def balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        return _at_rest(arrays)

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        B = arrays["iscu"][0]
        return (int(B.iscu_elements) + int(B.iscu_groups) + int(B.iscu_returned) + int(B.stored),)

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        B, parts = arrays["iscu"][0], arrays["iscu.parts"]
        if not B.active and B.stored == B.returned:
            return []
        waiting = int((parts["sent"] - parts["taken"]).sum())
        groups = int((parts["ready_tail"] - parts["ready_head"]).sum())
        return [
            f"parts at the L2 slices: {waiting} elements and {groups} groups wait, {int(B.active)} parts are active"
        ]


def _at_rest(arrays: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    B, parts = arrays["iscu"][0], arrays["iscu.parts"]
    return {
        "parts active": (int(B.active), 0),
        "elements waiting at the parts": (int((parts["sent"] - parts["taken"]).sum()), 0),
        "groups waiting at the parts": (int((parts["ready_tail"] - parts["ready_head"]).sum()), 0),
        "elements that landed are stored": (int(B.stored), int(B.returned)),
    }
