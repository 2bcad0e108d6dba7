"""One warp and one issue port, cycle after cycle: the slow way to time a run of ALU instructions."""

from __future__ import annotations

BESIDE = -1  # nothing waits for the result


def run_cycles(program: list[tuple[int, ...]], latency: list[int], initiation: list[int]) -> tuple[int, int]:
    """(cycles in which the port is occupied, cycle in which the last result is there)."""
    waiting = list(enumerate(program))
    result_at: dict[int, int] = {}
    port_left = occupied = cycle = 0
    while waiting or port_left:
        if port_left == 0 and waiting:
            place, (which, *needs) = waiting[0]
            if BESIDE in needs or all(result_at[need] <= cycle for need in needs):
                waiting.pop(0)
                result_at[place] = 0 if BESIDE in needs else cycle + latency[which]
                port_left = initiation[which]
        if port_left:
            port_left -= 1
            occupied += 1
        cycle += 1
    return occupied, max(result_at.values(), default=0)
