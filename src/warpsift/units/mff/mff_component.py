"""The memory fast-forward unit on Python's side of the engine: its memory, what it chases, how it explains itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.engine.core.arena import Arena
from warpsift.engine.unit_socket import UnitComponent
from warpsift.machines.spec import Machine
from warpsift.simt.stream import Chunk, LaunchInfo
from warpsift.units.mff import mff_state
from warpsift.units.mff.mff_balances import Expected, balances
from warpsift.units.mff.mff_command import ERROR_COMMANDS_EXHAUSTED, ERROR_NOTHING_BOUND


class MffComponent(UnitComponent):
    name = "mff"
    socket = mff_state.SOCKET
    counters = mff_state.COUNTERS
    drains = True  # lines of active bits
    skips = True

    def calls(self) -> Any:
        from warpsift.units.mff.mff_socket import mff_calls

        return mff_calls

    def allocate(self, arena: Arena, machine: Machine) -> None:
        mff_state.allocate(arena, machine)

    def begin(self, arena: Arena, launch: LaunchInfo) -> None:
        mff_state.bind(arena, launch.bindings.get(self.name))
        self._expected = Expected()

    def expect(self, chunk: Chunk) -> None:
        self._expected.add(chunk)

    def balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        return balances(counters, arrays["mff"][0], self._expected)

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        M = arrays["mff"][0]
        return (int(M.mff_register_accesses) + int(M.mff_jobs) + int(M.mff_lines_written),)

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        return mff_state.stuck_parts(arrays)

    def explain(self, code: int) -> str | None:
        if code == ERROR_NOTHING_BOUND:
            return (
                "the stream holds a command to the memory fast-forward unit, but its edges, values or active list are "
                "not bound: call bind_fast_forward(gpu, ...) before the launch"
            )
        if code == ERROR_COMMANDS_EXHAUSTED:
            return "more commands to the memory fast-forward unit are under way than the model holds"
        return None
