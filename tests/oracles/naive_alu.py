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


def run_cycles_of_pipes(program, latency, initiation, pipes) -> tuple[int, int]:
    """The same where each instruction takes one of its pipes, the one that is free first, and the port is free again.

    The port's cycles are those of the program without dependences.
    """
    independent = [(which,) for which, *_ in program]
    return _step(independent, latency, initiation, pipes)[0], _step(program, latency, initiation, pipes)[1]


def _step(program, latency, initiation, pipes) -> tuple[int, int]:
    busy = [0] * (1 + max(max(choice) for choice in pipes))  # cycles for which each pipe takes nothing
    result_at: dict[int, int] = {}
    waiting, cycle, last = list(enumerate(program)), 0, 0
    while waiting:
        place, (which, *needs) = waiting[0]
        ready = BESIDE in needs or all(result_at[need] <= cycle for need in needs)
        pipe = min(pipes[which], key=lambda k: busy[k])
        if ready and busy[pipe] == 0:
            waiting.pop(0)
            result_at[place] = 0 if BESIDE in needs else cycle + latency[which]
            busy[pipe] = initiation[which]
            last = cycle
        busy = [max(left - 1, 0) for left in busy]
        cycle += 1
    return last + 1, max(result_at.values(), default=0)
