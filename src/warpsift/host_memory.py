"""What the host's C library keeps of memory that nobody uses any more."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Return free memory to the system.

    The logs of a large launch are many small pieces. When they are gone glibc keeps their heap, since a few pieces in
    it live on: 7 GB after a matrix of 21 million entries, which the next run may not fit into.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # glibc has it
        trim(0)
