"""The reorder unit on Python's side of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warpsift.engine.core.arena import Arena
from warpsift.engine.unit_socket import UnitComponent
from warpsift.machines.spec import Machine
from warpsift.simt.stream import COMMAND, COMMAND_UNIT_SHIFT, Chunk, LaunchInfo
from warpsift.units.iru import iru_state as state
from warpsift.units.iru.iru_command import ERROR_NO_STREAM


class IruComponent(UnitComponent):
    name = "iru"
    socket = state.SOCKET
    counters = state.COUNTERS
    drains = True

    def calls(self) -> Any:
        from warpsift.units.iru.iru_socket import iru_calls

        return iru_calls

    def allocate(self, arena: Arena, machine: Machine) -> None:
        self._machine = machine
        state.allocate(arena, machine)

    def begin(self, arena: Arena, launch: LaunchInfo) -> None:
        self._stream: Any = launch.bindings.get(self.name)
        self._loads = 0
        state.begin_stream(arena, self._stream, self._machine)
        if self._stream is not None and self._stream.count:
            arena.arrays["sockets"][0].awake |= 1 << state.SOCKET

    def expect(self, chunk: Chunk) -> None:
        ops = chunk.ops
        mine = (ops["kind"] == COMMAND) & (ops["detail"] >> COMMAND_UNIT_SHIFT == state.SOCKET)
        self._loads += int(np.count_nonzero(mine))

    def balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        stream, U = self._stream, arrays["iru"][0]
        asked = stream is not None and self._loads > 0
        kept, merged = (stream.kept, stream.count - stream.kept) if asked else (0, 0)
        return {
            "warps that asked the reorder unit": (counters["iru_loads"], self._loads),
            "commands to the reorder unit answered": (int(U.waiting), 0),
            "elements that the reorder unit handed out": (counters["iru_lanes"], kept),
            "elements that the reorder unit merged": (counters["iru_merged"], merged),
            "sectors read ahead have come": (int(U.reads), 0),
        }

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        U = arrays["iru"][0]
        return (int(U.iru_elements) + int(U.iru_line_reads) + int(U.iru_reply_flits),)

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        U = arrays["iru"][0]
        if not U.waiting and U.inserted == U.elements:
            return []
        return [
            f"reorder unit: {int(U.waiting)} warps wait, {int(U.inserted)} of {int(U.elements)} elements have come to "
            "the hash (a launch must have as many threads as its stream has elements)"
        ]

    def explain(self, code: int) -> str | None:
        if code == ERROR_NO_STREAM:
            return (
                "the stream holds a command to the reorder unit, but no index array is configured: use iru_stream(...)"
            )
        return None
