"""How many cores of this computer we may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Those of this process: a container or `taskset` may give it fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
