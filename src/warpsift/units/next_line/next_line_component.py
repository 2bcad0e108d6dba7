"""The next-line prefetcher on Python's side of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.engine.core.arena import Arena
from warpsift.engine.unit_socket import UnitComponent
from warpsift.machines.spec import Machine
from warpsift.units.next_line import next_line_state as state


class NextLineComponent(UnitComponent):
    name = "next_line"
    socket = state.SOCKET
    counters = state.COUNTERS
    watches_l2 = True
    drains = True

    def calls(self) -> Any:
        from warpsift.units.next_line.next_line_socket import next_line_calls

        return next_line_calls

    def allocate(self, arena: Arena, machine: Machine) -> None:
        state.allocate(arena, machine)

    def balances(self, arrays: Mapping[str, Any], counters: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        U = arrays["next_line"][0]
        queued = sum(int(row.tail - row.head) for row in arrays["next_line.slices"])
        return {
            "prefetched sectors answered": (int(U.in_flight), 0),
            "prefetch queues empty": (queued, 0),
            "prefetch queues known to be empty": (int(arrays["next_line.waiting"].any()), 0),
        }

    def progress_marks(self, arrays: Mapping[str, Any]) -> tuple[int, ...]:
        return (int(arrays["next_line"][0].next_line_prefetches),)

    def stuck(self, arrays: Mapping[str, Any]) -> list[str]:
        waiting = sum(int(row.tail - row.head) for row in arrays["next_line.slices"])
        return [f"next-line prefetcher: {waiting} lines wait for their slice"] if waiting else []
