"""The main loop: one pass per core cycle in which something can happen, jumps over those in which nothing can.

`launch_loop.py` while a kernel runs, `operation_loop.py` while the GPU waits for a unit; `machine_cycle.py` has what
happens in a cycle, in a fixed order. One entry point for both, so that they are compiled together.
"""

from __future__ import annotations

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.jit import entry, i64
from warpsift.engine.launch_loop import run_launch
from warpsift.engine.operation_loop import run_operation

NO_UNIT = -1


@entry("the timing engine", i64, S_t, i64, i64, i64)
def run(S, socket, final, pause_at):
    """Simulate a launch (`socket` NO_UNIT), or an operation of the unit in a socket, until it wants something."""
    if socket == NO_UNIT:
        return run_launch(S, final, pause_at)
    return run_operation(S, socket, pause_at)
