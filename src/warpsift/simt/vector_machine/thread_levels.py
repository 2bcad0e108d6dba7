"""Which threads are active: a level for each condition and loop, and a frame that notes the level outside of it.

Also where everything of a batch lies: what the machine's functions are told as `host`.
"""

from __future__ import annotations

from numba import njit

from warpsift.simt.vector_machine import run_records as r
from warpsift.simt.vector_machine.thread_values import OPTIONS, bytes_at, words_at

# Addresses, and what the batch is like
VALUES, MEMORY, SHARED_MEMORY, POOL, POOL_STRIDE, ELEMENTS, MOVED, TRUTH, STRIDE, CTA_THREADS, CTAS, STRETCH_PLACES = (
    range(12)
)


@njit(**OPTIONS)
def level_at(host, level):
    """The address of the active threads of a level."""
    return host[POOL] + level * host[POOL_STRIDE]


@njit(**OPTIONS)
def keep(w, host, outer, inner, truth, wanted):
    """The threads of level `outer` for which the truth is as wanted, at level `inner`; gives how many."""
    n = w[r.THREADS + outer]
    source, target = words_at(level_at(host, outer)), words_at(level_at(host, inner))
    holds = bytes_at(truth)
    kept = 0
    for k in range(n):
        p = source[k]
        target[kept] = p
        kept += (holds[p] != 0) == wanted
    return kept


@njit(**OPTIONS)
def narrow(w, host, truth, wanted):
    """Go one level further in, unless all threads stay active."""
    level = w[r.LEVEL]
    kept = keep(w, host, level, level + 1, truth, wanted)
    if kept < w[r.THREADS + level]:
        r.new_scope(w, level + 1, kept)
        w[r.LEVEL] = level + 1


@njit(**OPTIONS)
def enter(w):
    """Open a condition or loop: its frame notes the level outside of it."""
    w[r.FRAMES + w[r.FRAME]] = w[r.LEVEL]
    w[r.FRAME] += 1


@njit(**OPTIONS)
def leave(w):
    w[r.FRAME] -= 1
    w[r.LEVEL] = w[r.FRAMES + w[r.FRAME]]


@njit(**OPTIONS)
def shrink(w, host, truth):
    """The threads of a loop for which the truth holds; those of the level outside stay as they are."""
    level, outer = w[r.LEVEL], w[r.FRAMES + w[r.FRAME] - 1]
    inner = level + 1 if level == outer else level
    kept = keep(w, host, level, inner, truth, True)
    if kept < w[r.THREADS + level]:
        r.new_scope(w, inner, kept)
        w[r.LEVEL] = inner
